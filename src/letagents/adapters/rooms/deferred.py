"""Rooms that are opened when somebody first asks for them.

What opens them loads a database library; a process that only lists its tools never needs it.
"""

from collections.abc import Callable
from datetime import timedelta

import anyio
import attrs
from anyio import to_thread

from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.messages import After, Draft, Message, Page, Window
from letagents.domain.rooms import Room
from letagents.domain.sessions import Arrival, Connection, Session
from letagents.ports.rooms import RoomTransport


@attrs.define
class DeferredRooms:
    """Hands every call to what `open` gives; `open` runs once, in a worker thread."""

    open: Callable[[], RoomTransport]
    opened: RoomTransport | None = None
    _turn: anyio.Lock = attrs.field(factory=anyio.Lock)

    async def create(self) -> Room:
        return await (await self._rooms()).create()

    async def join(self, room_id: RoomId, *, create: bool = True) -> Room:
        return await (await self._rooms()).join(room_id, create=create)

    async def known(self) -> tuple[Room, ...]:
        return await (await self._rooms()).known()

    async def connect(self, room_id: RoomId, arrival: Arrival) -> Connection:
        return await (await self._rooms()).connect(room_id, arrival)

    async def disconnect(self, room_id: RoomId, fence: Fence) -> Session:
        return await (await self._rooms()).disconnect(room_id, fence)

    async def post(self, room_id: RoomId, draft: Draft, fence: Fence) -> Message:
        return await (await self._rooms()).post(room_id, draft, fence)

    async def read(self, room_id: RoomId, window: Window, viewer: Fence | None = None) -> Page:
        return await (await self._rooms()).read(room_id, window, viewer)

    async def wait(
        self, room_id: RoomId, window: After, *, timeout: timedelta, viewer: Fence | None = None
    ) -> Page:
        return await (await self._rooms()).wait(room_id, window, timeout=timeout, viewer=viewer)

    async def message(self, room_id: RoomId, message_id: MessageId) -> Message | None:
        return await (await self._rooms()).message(room_id, message_id)

    async def _rooms(self) -> RoomTransport:
        if self.opened is None:
            async with self._turn:
                if self.opened is None:
                    self.opened = await to_thread.run_sync(self.open)
        return self.opened
