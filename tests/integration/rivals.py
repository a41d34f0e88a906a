"""Who takes a connection over between two transactions, and what its owner does meanwhile."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import attrs

from letagents.adapters.rooms.local import LocalRooms
from letagents.domain.messages import Latest
from letagents.domain.sessions import Connection
from letagents.testing.contracts.room_callers import ADA, ROOM, arrival, draft


@attrs.define
class Rival:
    """Takes over a connection just before the transaction with that number begins."""

    rooms: LocalRooms
    before: Connection
    boundary: int
    begun: int = 0
    connected: Connection | None = None

    def let_in(self) -> None:
        self.begun += 1
        if self.begun == self.boundary:
            self.connected = asyncio.run(self.rooms.connect(ROOM, arrival(ADA, 11, self.before)))


Act = Callable[[LocalRooms, Connection], Coroutine[Any, Any, object]]


async def say_hello(rooms: LocalRooms, ada: Connection) -> object:
    return await rooms.post(ROOM, draft("hello"), ada.fence)


async def leave(rooms: LocalRooms, ada: Connection) -> object:
    return await rooms.disconnect(ROOM, ada.fence)


async def look(rooms: LocalRooms, ada: Connection) -> object:
    return await rooms.read(ROOM, Latest(), ada.fence)
