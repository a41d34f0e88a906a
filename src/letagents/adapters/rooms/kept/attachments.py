"""The files of messages, as rooms keep them: what is told of each, and apart from that its content.

How a message takes its files is asked of whatever says messages, in the transaction that says it.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import attrs

from letagents.adapters.rooms.book import Book, Keeping, Kind, Where
from letagents.adapters.rooms.kept.attachment_records import ATTACHED, CONTENTS, UPLOADS
from letagents.domain import attachments
from letagents.domain.attachments import Attached, Content, Fetched, File, Upload
from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.messages import Attachment

_WAITING = Where(is_open=True)
_SWEPT = 50
"""So many files that have waited for too long are let go at once."""

Get = Callable[[str], Upload | None]
Put = Callable[[Kind[Any], object], None]


@attrs.frozen
class KeptAttachments:
    """The files of rooms that are kept in books."""

    _rooms: Keeping

    async def upload(self, room_id: RoomId, file: File, fence: Fence) -> Upload:
        """Let a file wait for a message."""

        def upload(book: Book) -> Upload:
            assert book.caller is not None  # noqa: S101  # a fence was shown
            by = book.caller.agent_key
            _sweep(book)
            attachments.check_room_for_more(book.find(UPLOADS, Where(is_open=True, by=by)))
            made = Upload(
                upload_id=f"upl_{book.ids.uuid().replace('-', '')}",
                number=book.next_number(UPLOADS),
                name=file.name,
                content_type=file.content_type,
                size=len(file.content),
                by=by,
                uploaded_at=book.now,
            )
            book.put(UPLOADS, made)
            book.put(CONTENTS, Content(made.upload_id, b64encode(file.content).decode()))
            return made

        return await self._rooms.change(room_id, upload, fence)

    async def fetch(
        self, room_id: RoomId, message_id: MessageId, place: int, viewer: Fence | None = None
    ) -> Fetched:
        """Return a file of a message."""

        def fetch(book: Book) -> Fetched:
            kept = book.get(ATTACHED, str(message_id.number))
            if kept is None or not 1 <= place <= len(kept.files):
                raise attachments.missing(f"att_{place}")
            one = kept.files[place - 1]
            content = book.get(CONTENTS, one.upload_id)
            assert content is not None  # noqa: S101  # what a message has is never let go
            return Fetched(one, b64decode(content.base64))

        return await self._rooms.look(room_id, fetch, viewer)


def _sweep(book: Book) -> None:
    """Let go what has waited for too long (R49)."""
    over = (one for one in book.find(UPLOADS, _WAITING) if attachments.is_over(one, book.now))
    for one, _ in zip(over, range(_SWEPT), strict=False):
        book.put(UPLOADS, attrs.evolve(one, is_waiting=False, by=""))
        book.put(CONTENTS, Content(one.upload_id, ""))


def take(
    named: Sequence[str], get: Get, put: Put, *, by: str, number: int, now: datetime
) -> tuple[Attachment, ...]:
    """Let the message of that number have the files that are named; refuse before any is put.

    Raises:
        UnknownUpload: one of them does not wait for it.
    """
    found = [attachments.taken(one, get(one), by=by, now=now) for one in dict.fromkeys(named)]
    files = tuple(one.attachment for one in found)
    for one in found:
        put(UPLOADS, one)
    put(ATTACHED, Attached(number, files))
    return files
