"""Rooms as older servers know them: as projects. (Source: mcp-tools 4.2, 4.3, 6.1.)

A server without the newer route of a room says that it has no such route, and so nothing happened:
the same is then asked of the project, where its id is known.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import attrs

from letagents.domain.errors import UnknownRoom
from letagents.domain.ids import RoomId
from letagents.wire.http import projects as wire
from letagents.wire.http import rooms

T = TypeVar("T")


class Absent(UnknownRoom):
    """What the path names is not there, and it is not said to be the room that is missing."""


class NoRoute(Absent):
    """The server has nothing at such a path, or does not tell that apart from a missing thing."""


@attrs.define
class Projects:
    """The projects of one server, as far as their rooms were entered in this process."""

    _ids: dict[RoomId, str] = attrs.field(factory=dict)

    def __contains__(self, room_id: RoomId) -> bool:
        """Whether the project of that room is known."""
        return room_id in self._ids

    def note(self, room_id: RoomId, project_id: str | None) -> None:
        """Remember which project a room is, if it is said to be one."""
        if project_id is not None:
            self._ids[room_id] = project_id

    async def either(self, room_id: RoomId, ask: Callable[[str], Awaitable[T]]) -> T:
        """Return what `ask` brings from the path of the room or, without that, of its project."""
        try:
            return await ask(rooms.path(room_id))
        except NoRoute:
            project_id = self._ids.get(room_id)
            if project_id is None:
                raise
        return await ask(wire.path(project_id))
