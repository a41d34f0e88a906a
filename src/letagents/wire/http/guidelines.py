"""What people wish from a hosted room's agents, and back. (Source: hosted-api 3.13.)

Of our own are the `version`, the `agent_reply_order` beside them, and the `author` of whom that
page shows the name alone.
"""

from datetime import UTC, datetime
from typing import Any

from letagents.domain.errors import LetAgentsError, Malformed
from letagents.domain.guidelines import (
    MAX_BYTES,
    Guidelines,
    GuidelinesTooLong,
    InForce,
    ReplyOrder,
)
from letagents.domain.ids import RoomId
from letagents.wire import memory
from letagents.wire.http.authors import author
from letagents.wire.http.problems import Form, Forms
from letagents.wire.http.reading import Fields

Plain = dict[str, Any]

UNTOLD = datetime(1970, 1, 1, tzinfo=UTC)
"""When it was, where a server tells no moment."""


def _bytes(error: LetAgentsError) -> Plain:
    assert isinstance(error, GuidelinesTooLong)  # noqa: S101  # it is the form of no other
    return {"bytes": error.size, "max_bytes": MAX_BYTES}


SETTING: Forms = {GuidelinesTooLong: Form(413, more=_bytes)}


def plain(found: InForce, room_id: RoomId, *, can_manage: bool) -> Plain:
    """Return the form of what counts in a room."""
    kept = found.guidelines
    return memory.guidelines(found, room_id, can_manage=can_manage) | {
        "author": kept and memory.author(kept.updated_by),
        "version": kept and kept.version,
    }


def in_force(document: object) -> InForce:
    """Return what counts, as `document` spells it.

    Raises:
        Unreadable: it spells nothing.
    """
    fields = Fields(document)
    text, by = fields.text_or_none("guidelines"), _told_author(fields)
    order = fields.parsed_or_none("agent_reply_order", ReplyOrder) or ReplyOrder.PARALLEL
    if text is None and by is None:
        return InForce(None, reply_order=order)
    who = author(fields, by) if by else author(Fields({"by": "unknown"}), "by")
    kept = Guidelines(
        text,
        who,
        fields.moment_or_none("updated_at") or UNTOLD,
        fields.integer_or_none("version") or 1,
    )
    return InForce(kept, fields.parsed_or_none("inherited_from_room_id", RoomId), order)


def ordered(document: object) -> InForce:
    """Return what counts where it is told in which order agents reply. Raises Unreadable."""
    Fields(document).parsed("agent_reply_order", ReplyOrder)
    return in_force(document)


def plain_order(found: InForce, room_id: RoomId, *, can_manage: bool) -> Plain:
    """Return the form of how agents answer in a room that are called together."""
    return {
        "room_id": str(room_id),
        "agent_reply_order": found.reply_order.value,
        "can_manage": can_manage,
    }


def order(fields: Fields) -> ReplyOrder:
    """Return the order of replies that is asked for. Raises Malformed."""
    word = fields.text_or_none("agent_reply_order")
    try:
        return ReplyOrder(word)
    except ValueError:
        known = ", ".join(sorted(one.value for one in ReplyOrder))
        raise Malformed(
            f"agent_reply_order must be one of: {known}.", remedy="Pass one of them."
        ) from None


def _told_author(fields: Fields) -> str | None:
    names = ("author", "updated_by")
    return next((name for name in names if fields.document.get(name) is not None), None)
