"""Of which events of its repository a room on a server wants to hear; the fields are our own."""

from typing import Any

from letagents.domain import event_filters
from letagents.domain.event_filters import EventFilter, EventKind
from letagents.domain.ids import RoomId
from letagents.wire import moments
from letagents.wire.http.reading import Fields, Unreadable

Plain = dict[str, Any]


def plain(kept: EventFilter, room_id: RoomId, *, can_manage: bool) -> Plain:
    """Return the form of a filter."""
    return {
        "room_id": str(room_id),
        "kinds": [one.value for one in kept.kinds],
        "available_kinds": [one.value for one in event_filters.ALL],
        "updated_by": kept.updated_by and kept.updated_by.label,
        "updated_at": kept.updated_at and moments.to_text(kept.updated_at),
        "can_manage": can_manage,
    }


def chosen(fields: Fields) -> tuple[EventKind, ...]:
    """Return the kinds that a request names. Raises Malformed, Unreadable."""
    if "kinds" not in fields.document:
        raise Unreadable("kinds is missing")  # none of them would silence the room
    return event_filters.chosen(fields.list("kinds"))
