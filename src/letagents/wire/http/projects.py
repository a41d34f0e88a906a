"""Rooms as older servers and clients know them: as projects. (Source: hosted-api 3.2.)"""

from typing import Any

from letagents.domain.ids import RoomId
from letagents.domain.rooms import Room
from letagents.wire.http.places import part
from letagents.wire.http.reading import Fields
from letagents.wire.http.rooms import LONG_AGO

Plain = dict[str, Any]


def path(project_id: str) -> str:
    """Return the place of a project among the server's paths."""
    return f"/projects/{part(project_id)}"


def by_code(code: RoomId) -> str:
    """Return where the project of an invite code is found."""
    return f"/projects/join/{part(str(code))}"


def by_name(room_id: RoomId) -> str:
    """Return where a named project is found, or made."""
    return f"/projects/room/{part(str(room_id))}"


def id_of(document: object) -> str | None:
    """Return the id of the project that an answer tells of, if it tells of one."""
    fields = Fields(document).document
    told = fields.get("project_id") or fields.get("id")
    is_id = isinstance(told, str | int) and not isinstance(told, bool)
    return str(told) if is_id else None


def room(document: object, asked: RoomId) -> Room:
    """Return the room that a project is, which was asked for as `asked`.

    Raises:
        Unreadable: `document` spells none.
    """
    fields = Fields(document)
    code = fields.text_or_none("code")
    room_id = fields.text_or_none("name") or code or str(asked)
    return Room(
        RoomId(room_id),
        fields.text_or_none("display_name") or room_id,
        fields.moment_or_none("created_at") or LONG_AGO,
        code,
        is_local=False,
    )


def listed(document: object) -> tuple[Room, ...]:
    """Return the rooms that a list of projects names.

    Raises:
        Unreadable: `document` spells none.
    """
    found = Fields(document).parts("projects")
    return tuple(room(one.document, one.parsed("id", RoomId)) for one in found)


def plain(entered: Room) -> Plain:
    """Return the form of a room as a project."""
    return {
        "id": str(entered.room_id),
        "code": entered.code,
        "name": None if entered.code else str(entered.room_id),
        "display_name": entered.display_name,
    }
