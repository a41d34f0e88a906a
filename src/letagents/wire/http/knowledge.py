"""Facts and requests of a hosted room, and back. (Source: hosted-api 3.13.)

Of our own are a record's `number` and the session that asked, whether a page `has_more`, and the
place `after` which one is asked for: other servers give out one page.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from letagents.domain import knowledge
from letagents.domain.ids import MessageId, RoomId, SessionId
from letagents.domain.knowledge import Entry, Section
from letagents.domain.records import Record, Response
from letagents.wire import memory
from letagents.wire.http.authors import author
from letagents.wire.http.reading import Fields

Plain = dict[str, Any]

_SAID = ("category", "title", "body", "recommendation", "unblocks", "source_url")
_ENTRY = (*_SAID, "source_message_id")


def plain(kept: Record, room_id: RoomId) -> Plain:
    """Return the form of a record."""
    return memory.record(kept, room_id) | {
        "number": kept.number,
        "agent_session_id": kept.session_id and str(kept.session_id),
    }


def record(document: object) -> Record:
    """Return the record that `document` spells.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    by = author(fields, "author")
    is_changed = fields.document.get("updated_by") is not None
    answer = fields.part("response")
    return Record(
        record_id=fields.text("id"),
        number=fields.integer_or_none("number") or 0,
        section=fields.parsed("type", Section),
        entry=_entry(fields),
        author=by,
        updated_by=author(fields, "updated_by") if is_changed else by,
        created_at=fields.moment("created_at"),
        updated_at=fields.moment("updated_at"),
        version=fields.integer("version"),
        archived=fields.flag("archived"),
        response=_response(answer) if answer else None,
        session_id=fields.parsed_or_none("agent_session_id", SessionId),
    )


def _entry(fields: Fields) -> Entry:
    return Entry(
        category=fields.text("category"),
        title=fields.text("title"),
        body=fields.text("body"),
        recommendation=fields.text_or_none("recommendation"),
        unblocks=fields.text_or_none("unblocks"),
        source_url=fields.text_or_none("source_url"),
        source_message=fields.parsed_or_none("source_message_id", MessageId.parse),
    )


def _response(fields: Fields) -> Response:
    return Response(fields.text("body"), author(fields, "actor"), fields.moment("at"))


def plain_page(found: Iterable[Record], room_id: RoomId, *, more: bool) -> Plain:
    """Return the form of a page."""
    return {
        "room_id": str(room_id),
        "records": [plain(one, room_id) for one in found],
        "truncated": more,
        "has_more": more,
    }


def page(document: object) -> tuple[tuple[Record, ...], bool]:
    """Return the records of the page that `document` spells, and whether there are more.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    more = fields.flag("truncated") or fields.flag("has_more")
    return tuple(map(record, fields.list("records"))), more


def goes_on(document: object) -> bool:
    """Whether a page comes from a server that can be asked for what comes after a record."""
    return "has_more" in Fields(document).document


def plain_entry(said: Entry) -> Plain:
    """Return the form of what a record is to say."""
    source = said.source_message
    return {name: getattr(said, name) for name in _SAID} | {
        "source_message_id": None if source is None else str(source)
    }


def entry(section: Section, given: Mapping[str, object]) -> Entry:
    """Return what a record is to say. Raises: as `knowledge.entry`."""
    said: Plain = {name: given.get(name) for name in _ENTRY}
    return knowledge.entry(section, **said)


def revised(before: Record, given: Mapping[str, object]) -> Entry:
    """Return what a record is to say: what it says, but for what is given.

    Raises: as `knowledge.entry`.
    """
    return entry(before.section, {**plain_entry(before.entry), **given})
