"""Which room the people of a folder have chosen for it, in `.letagents.json`. (Source: 5.3.)

G9   The file's `room`, trimmed, is the room of its folder and of all below it.
G10  A file that names no room is no choice, and says why; no file further up is asked instead.
G11  What is shown of a file is small, and a password inside a URL is not in it; a link is not
     followed, for it could lead to a file full of secrets.
"""

import re
from collections.abc import Mapping

import attrs

from letagents.domain import rooms
from letagents.domain.errors import Malformed
from letagents.domain.ids import RoomId

FILE = ".letagents.json"
LARGEST = 16_384
"""Bytes; a larger file is not read."""
LEVELS = 50
"""So many folders upwards are looked into."""
UNREADABLE = "<parse error>"
"""Is shown in place of what cannot be read."""

_DEEPEST = 8
_USERINFO = re.compile(r"(://)[^/\s]*@")


@attrs.frozen
class RoomConfig:
    """A file that was found. Without a `room`, `wrong` says why it names none."""

    path: str
    contents: object = attrs.field(repr=False)
    room: RoomId | None = None
    wrong: str | None = None


def unreadable(path: str, why: str) -> RoomConfig:
    """Return what is known of a file that cannot be read."""
    return RoomConfig(path, UNREADABLE, wrong=why)


def read(path: str, contents: object) -> RoomConfig:
    """Return what the file at `path` says whose JSON is `contents` (G9, G10)."""
    shown = _shown(contents, _DEEPEST)
    room = contents.get("room") if isinstance(contents, Mapping) else None
    if not isinstance(room, str) or not room.strip():
        return RoomConfig(path, shown, wrong="it has no text under `room`")
    try:
        return RoomConfig(path, shown, rooms.canonical(room))
    except Malformed:
        return RoomConfig(path, shown, wrong="what stands under `room` cannot name a room")


def _shown(value: object, depth: int) -> object:
    """Return `value` as it may be seen (G11)."""
    if isinstance(value, str):
        return _USERINFO.sub(r"\1…@", value)
    if depth == 0 and isinstance(value, Mapping | list):
        return "…"
    if isinstance(value, Mapping):
        pairs = value.items()
        return {str(_shown(key, depth)): _shown(one, depth - 1) for key, one in pairs}
    if isinstance(value, list):
        return [_shown(one, depth - 1) for one in value]
    return value
