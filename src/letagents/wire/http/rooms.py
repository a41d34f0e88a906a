"""Rooms as a hosted room's server answers with them, and back. (Source: hosted-api 4.2.)"""

from datetime import UTC, datetime
from typing import Any

from letagents.domain.ids import RoomId
from letagents.domain.rooms import Room
from letagents.wire import moments
from letagents.wire.http import focus_rooms, git_rooms
from letagents.wire.http.places import part
from letagents.wire.http.reading import Fields

Plain = dict[str, Any]

LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
"""When a room was made of which an older server does not say it."""


def path(room_id: RoomId) -> str:
    """Return the room's place among the server's paths: each part of its id percent-encoded."""
    return "/rooms/" + "/".join(part(one) for one in str(room_id).split("/"))


def plain(entered: Room) -> Plain:
    """Return the form of a room."""
    return {
        "room_id": str(entered.room_id),
        "name": None if entered.code else str(entered.room_id),
        "display_name": entered.display_name,
        "code": entered.code,
        "attachments_enabled": True,
        "created_at": moments.to_text(entered.created_at),
        "git_room": git_rooms.plain(entered),
        **focus_rooms.plain(entered.focus),
    }


def room(document: object) -> Room:
    """Return the room that `document` spells.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    room_id = RoomId(fields.text_or_none("room_id") or fields.text("id"))
    display_name = fields.text_or_none("display_name") or str(room_id)
    return Room(
        room_id,
        display_name,
        fields.moment_or_none("created_at") or LONG_AGO,
        fields.text_or_none("code"),
        is_local=False,
        focus=focus_rooms.focus(fields, room_id, display_name),
    )
