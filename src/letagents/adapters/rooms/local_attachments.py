"""How a message in a database takes its files, in the transaction that says it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from letagents.adapters.rooms import local_things as things
from letagents.adapters.rooms.book import Kind
from letagents.adapters.rooms.kept import attachments as kept_attachments
from letagents.adapters.rooms.kept.attachment_records import UPLOADS
from letagents.adapters.sql.database import Unit
from letagents.domain.attachments import Upload
from letagents.domain.ids import RoomId
from letagents.domain.messages import Attachment
from letagents.wire import kept


def taken(
    unit: Unit, room_id: RoomId, named: Sequence[str], *, by: str, number: int, now: datetime
) -> tuple[Attachment, ...]:
    """Let a message have the files that are named. Raises UnknownUpload before any is."""

    def get(upload_id: str) -> Upload | None:
        row = unit.row(things.getting(UPLOADS.name), room_id=room_id.value, name=upload_id)
        return None if row is None else kept.read(row[0], UPLOADS.of)

    def put(kind: Kind[Any], value: object) -> None:
        facts: dict[str, object] = {
            "room_id": room_id.value,
            "kind": kind.name,
            "key": kind.key(value),
        }
        facts |= things.facts_of(kind, value) | {"value": kept.written(value)}
        unit.change(things.PUT, facts)

    return kept_attachments.take(named, get, put, by=by, number=number, now=now)
