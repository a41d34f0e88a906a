"""Rooms and their canonical names. (Source: mcp-tools 5.)

K1  An invite code is groups of four letters or digits, at least two, and is upper-cased.
K2  A repository room is spelled as its remote is (G3, G5); any other name keeps its case.
K3  A name is trimmed, and a blank, too long or unprintable one is refused.
K4  A room with the form of an invite code is not made by joining it, and no focus room is (R20).
K5  In the locator of a focus room its parent is spelled as any room is, and the key stays as it is.
K6  A name with a part that is empty, `.` or `..`, or with a sign that stands for what could not be
    read, is refused: as a path it would lead elsewhere, or be the name of more than one room. The
    room of a folder begins with a slash.
"""

import re
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import quote

import attrs

from letagents.domain import git_rooms, locators
from letagents.domain.errors import Malformed, UnknownRoom
from letagents.domain.ids import RoomId, quoted
from letagents.domain.names import DISPLAY_NAME_LIMIT, collapse, is_blank

if TYPE_CHECKING:  # most rooms are no focus rooms
    from letagents.domain.focus_rooms import Focus

_CODE = re.compile(r"[A-Z0-9]{4}(?:-[A-Z0-9]{4})+")
_UNESCAPED = "-_.!~*'()"
_LEADING_ELSEWHERE = {"", ".", ".."}
_UNREADABLE = "\N{REPLACEMENT CHARACTER}"

KNOWN_LIMIT = 1_000
"""So many rooms are listed at most."""


@attrs.frozen
class Room:
    """A place in which workers talk. `code` is set where the room is entered by an invite code."""

    room_id: RoomId
    display_name: str
    created_at: datetime
    code: str | None = None
    is_local: bool = True
    focus: "Focus | None" = None
    """What makes it a focus room, if it is one."""

    @property
    def access_id(self) -> RoomId:
        """The room that says who may come in, and who is admin: that beside which it is, or it."""
        return self.focus.parent if self.focus is not None else self.room_id

    @property
    def path(self) -> str:
        """The room's place on a server: `/in/` and the id, each part percent-encoded."""
        return path_of(self.room_id)


def path_of(room_id: RoomId) -> str:
    """Return the place that the room has on a server."""
    return "/in/" + "/".join(quote(part, safe=_UNESCAPED) for part in str(room_id).split("/"))


def looks_like_code(text: str) -> bool:
    """Whether `text` has the form of an invite code, in any case."""
    return _CODE.fullmatch(text.strip().upper()) is not None


def canonical(text: str) -> RoomId:
    """Return the id of the room that `text` names.

    Raises:
        Malformed: it is blank, longer than 200 characters, holds control characters, or could be
            taken for a path to another place (K6).
    """
    room_id = _located(text) or _canonical(text)
    parts = str(room_id).removeprefix("/").split("/")
    if not _LEADING_ELSEWHERE.isdisjoint(parts) or _UNREADABLE in str(room_id):
        raise Malformed(
            f"{quoted(str(room_id))} is no room's name: a part of it is empty, '.' or '..', or "
            "could not be read.",
            remedy="Leave such parts out, or choose another name for the room.",
        )
    return room_id


def _canonical(text: str) -> RoomId:
    if looks_like_code(text):
        return RoomId(text.strip().upper())
    name = git_rooms.canonical_name("" if is_blank(text) else text)
    return RoomId(name.upper() if looks_like_code(name) else name)


def checked_display_name(name: str) -> str:
    """Return what a room is to be called (K124).

    Raises:
        Malformed: no room is called so.
    """
    plain = collapse(name)
    if not plain or is_blank(plain):
        raise Malformed("display_name is required", remedy="Pass display_name.")
    if not 2 <= len(plain) <= DISPLAY_NAME_LIMIT:
        raise Malformed(
            f"display_name must be between 2 and {DISPLAY_NAME_LIMIT} characters",
            remedy="Choose a name of such a length.",
        )
    if not plain.isprintable():
        raise Malformed("display_name cannot be shown", remedy="Use printable characters.")
    return plain


def _located(text: str) -> RoomId | None:
    """Return the locator of a focus room that `text` spells; None for all else."""
    spelt, found, key = text.strip().rstrip("/").rpartition("/focus/")
    if not found or not key or "/" in key or key.startswith("git:") or is_blank(spelt):
        return None
    parent = str(_canonical(spelt))
    if parent.startswith("github.com/") and parent.count("/") > 2:
        return None  # a path within a repository, which no room is beside
    return RoomId(f"{parent}/focus/{key}")


def invite_code(text: str) -> RoomId:
    """Return the id of the room that the invite code `text` opens, or that of a focus room.

    Raises:
        Malformed: it does not have the form of a code.
    """
    if not is_blank(text) and locators.is_named(named := canonical(text)):
        return named
    if not looks_like_code(text):
        raise Malformed(
            "code: this is not an invite code.",
            remedy="Pass the code that create_room showed, such as AB12-CD34-EF56; "
            "to join by name, call join_room(name=...).",
        )
    return RoomId(text.strip().upper())


def missing(room_id: RoomId) -> UnknownRoom:
    """Return the error for a room that is not there."""
    if looks_like_code(str(room_id)):
        other = str(room_id).lower().replace("-", "_")
        return UnknownRoom(
            f"No room here has the invite code {room_id}.",
            remedy="Check the code with whoever gave it. Groups of four letters or digits always "
            f"read as a code: to name a room so, write join_room(name={other!r}).",
        )
    if locators.is_named(room_id):
        return UnknownRoom(
            f"There is no focus room {room_id} here.",
            remedy="Join the room beside which it is; `letagents focus list ROOM` shows those that "
            "there are.",
        )
    return UnknownRoom(
        f"There is no room {room_id} here.",
        remedy="Call join_room(name=...) to open it, or create_room() for a new one.",
    )


def missing_beside(parent: RoomId, key: str) -> UnknownRoom:
    """Return the error for a focus room that is not there."""
    return UnknownRoom(
        f"There is no focus room {quoted(key)} beside {parent}.",
        remedy=f"`letagents focus list {parent}` shows those that there are.",
    )


def check_may_be_made(room_id: RoomId) -> None:
    """Allow a room that is joined and not there to be made.

    Raises:
        UnknownRoom: its name has the form of an invite code, or is one of focus rooms alone.
    """
    if looks_like_code(str(room_id)) or locators.is_named(room_id):
        raise missing(room_id)
