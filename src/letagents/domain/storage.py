"""Whether a room is on this machine or on a server. (Source: state-and-rules 4.)

K110  What the environment says of all rooms decides.
K111  Else what the file says of a room by its id decides; other words than the two say nothing.
K112  Else the default of the file decides, which is `defaultMode` or, without that, `mode`.
K113  Else rooms are on a server where one is set, and on this machine where none is.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:  # settings are read before rooms are, and by what needs no room
    from letagents.domain.ids import RoomId

LOCAL, CLOUD = "local", "cloud"


@attrs.frozen
class ChatStorage:
    """What a file says of where rooms are: of all of them, and of some by their ids."""

    default: str | None = None
    rooms: "Mapping[RoomId, str]" = attrs.field(factory=dict)


def chosen(document: Mapping[str, object]) -> ChatStorage:
    """Return what `document`, the content of such a file, says (K111, K112)."""
    default = document.get("defaultMode")
    overrides = document.get("roomOverrides")
    told = overrides if isinstance(overrides, Mapping) else {}
    return ChatStorage(
        _word(document.get("mode") if default is None else default),
        {
            room_id: word
            for name, value in told.items()
            if (room_id := _room(name)) is not None and (word := _word(value)) is not None
        },
    )


def is_hosted(
    room_id: "RoomId | None", *, said: str | None, chosen: ChatStorage, has_server: bool
) -> bool:
    """Whether a room, or without one any that nothing is said of, is on a server.

    `said` is what the environment says.
    """
    word = said or (chosen.rooms.get(room_id) if room_id is not None else None) or chosen.default
    return has_server if word is None else word == CLOUD


def _word(value: object) -> str | None:
    return value if value in (LOCAL, CLOUD) and isinstance(value, str) else None


def _room(name: object) -> "RoomId | None":
    from letagents.domain import rooms
    from letagents.domain.errors import Malformed

    try:
        return rooms.canonical(str(name))
    except Malformed:
        return None
