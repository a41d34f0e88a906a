"""How rooms beside other rooms are named; most rooms are none. (Source: hosted-api 3.11, 7.1.)

R20  A focus room is `focus_<n>`; its parent's id, `/focus/` and its key are its locator, which
     means the same room. No joining makes either.
"""

import re

import attrs

from letagents.domain.ids import RoomId

FOCUS_ROOM = "focus_room"
"""What a focus room is among all that its parent keeps."""

_ID = re.compile(r"focus_([0-9]+)", re.ASCII)
_SEGMENT = "/focus/"


@attrs.frozen
class Locator:
    """Where a focus room is."""

    parent: RoomId
    key: str


def number_of(room_id: RoomId) -> int | None:
    """Return the number in the id of a focus room; None for every other room's."""
    found = _ID.fullmatch(room_id.value)
    return int(found[1]) if found else None


def located(room_id: RoomId) -> Locator | None:
    """Return what a locator names; None for what is none."""
    parent, found, key = str(room_id).rpartition(_SEGMENT)
    if not found or not key or "/" in key or not RoomId.fits(parent):
        return None
    return Locator(RoomId(parent), key)


def is_named(room_id: RoomId) -> bool:
    """Whether a room's id is one that only a focus room has (R20)."""
    spelt = f"/{room_id.value}"
    return number_of(room_id) is not None or _SEGMENT in spelt
