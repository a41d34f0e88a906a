"""Rooms of which some are on this machine and others on a server: each call goes where its room is.

Every verb of the ports of rooms names its room first; so one class routes all of them.
"""

import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import attrs

from letagents.domain.accounts import NotSignedIn
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.rooms import KNOWN_LIMIT, Room
from letagents.ports.attendance import Attendance, Attended, Over
from letagents.ports.rooms import RoomTransport

IsHosted = Callable[[RoomId | None], bool]
"""Whether a room is on the server, or without one any of which nothing is said."""


@attrs.frozen
class ByRoom:
    """Two adapters of one port, as one: the verb is asked of the one that has the room."""

    here: Any
    there: Any
    is_hosted: IsHosted

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        if verb.startswith("_") or not hasattr(self.here, verb):
            raise AttributeError(verb)

        def asked(room_id: RoomId, *arguments: Any, **named: Any) -> Any:
            where = self.there if self.is_hosted(room_id) else self.here
            return getattr(where, verb)(room_id, *arguments, **named)

        return asked


@attrs.frozen
class RoutedRooms(ByRoom):
    """The rooms of both places. Those that are made by a code are where nothing else is said."""

    async def create(self) -> Room:
        """Make a room that is entered by a new invite code."""
        rooms: RoomTransport = self.there if self.is_hosted(None) else self.here
        return await rooms.create()

    async def known(self) -> tuple[Room, ...]:
        """Return the rooms, those of this machine first, the latest active first of each."""
        here = [one for one in await self.here.known() if not self.is_hosted(one.room_id)]
        try:
            there = [one for one in await self.there.known() if self.is_hosted(one.room_id)]
        except NotSignedIn:  # who nobody is there has entered no room there
            there = []
        return tuple([*here, *there][:KNOWN_LIMIT])


@attrs.frozen
class RoutedAttendance:
    """Tells the rooms of the server that this process is there; the others see it themselves."""

    there: Attendance
    is_hosted: IsHosted

    @asynccontextmanager
    async def attend(self, room_id: RoomId, fence: Fence) -> AsyncIterator[Attended]:
        """Hold a connection open for as long as the context lasts."""
        if not self.is_hosted(room_id):
            yield _Seen()
            return
        async with self.there.attend(room_id, fence) as attended:
            yield attended

    async def exited(self, room_id: RoomId, fence: Fence, connection_id: str | None) -> bool:
        """Say that the process exits; return whether that is kept."""
        if not self.is_hosted(room_id):
            return False
        return await self.there.exited(room_id, fence, connection_id)


class _Seen:
    """The attendance of a process that the rooms see by themselves; it is over when that is."""

    connection_id = ""

    async def over(self) -> Over:
        """Wait for as long as somebody does."""
        await anyio.sleep(math.inf)
        return Over.CLOSED
