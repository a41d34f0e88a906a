"""Rooms of which some are on this machine and others on a server: each call goes where its room is.

Every verb of the ports of rooms names its room first; so one class routes all of them.
"""

import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import attrs

from letagents.domain import locators
from letagents.domain.errors import NotSignedIn, UnknownRoom
from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.rooms import KNOWN_LIMIT, Room
from letagents.domain.whereabouts import Said
from letagents.ports.attendance import Attendance, Attended, Over
from letagents.ports.rooms import RoomTransport

IsHosted = Callable[[RoomId | None], bool]
"""Whether a room is on the server, or without one any of which nothing is said."""


@attrs.define
class Routes:
    """Where rooms are: as is said, but for focus rooms, which are where those beside them are."""

    _said: IsHosted
    _entered: dict[RoomId, bool] = attrs.field(factory=dict)

    def __call__(self, room_id: RoomId | None) -> bool:
        """Whether a room is on the server."""
        if room_id is None:
            return self._said(None)
        if (known := self._entered.get(room_id)) is not None:
            return known
        locator = locators.located(room_id)
        return self._said(locator.parent if locator is not None else room_id)

    def note(self, room_id: RoomId, *, is_hosted: bool) -> None:
        """Remember where a focus room was found, whose id does not tell."""
        if locators.number_of(room_id) is not None:
            self._entered[room_id] = is_hosted


@attrs.frozen
class ByRoom:
    """Two adapters of one port, as one: the verb is asked of the one that has the room."""

    here: Any
    there: Any
    is_hosted: Routes

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
        return await self._at(self.is_hosted(None)).create()

    async def join(self, room_id: RoomId, *, create: bool = True) -> Room:
        """Return the room; a focus room is looked for in both places."""
        is_hosted = self.is_hosted(room_id)
        try:
            room = await self._at(is_hosted).join(room_id, create=create)
        except UnknownRoom:
            if locators.number_of(room_id) is None:
                raise
            is_hosted = not is_hosted
            room = await self._at(is_hosted).join(room_id, create=False)
        self.is_hosted.note(room.room_id, is_hosted=is_hosted)
        return room

    def _at(self, is_hosted: bool) -> RoomTransport:
        rooms: RoomTransport = self.there if is_hosted else self.here
        return rooms

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
    is_hosted: Routes

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


class Unasked:
    """Where the rooms of this machine ask what agents do: nowhere."""

    async def note(self, room_id: RoomId, said: Said, fence: Fence) -> None:
        """Do nothing."""

    async def observed(
        self, room_id: RoomId, first: MessageId, last: MessageId, fence: Fence
    ) -> None:
        """Do nothing."""


class _Seen:
    """The attendance of a process that the rooms see by themselves; it is over when that is."""

    connection_id = ""

    async def over(self) -> Over:
        """Wait for as long as somebody does."""
        await anyio.sleep(math.inf)
        return Over.CLOSED
