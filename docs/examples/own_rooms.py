"""An orchestrator that passes in rooms of its own: here one that counts what is said, and where."""

import tempfile
from collections import Counter
from datetime import timedelta
from pathlib import Path

import anyio
import attrs

from letagents import (
    After,
    Arrival,
    Connection,
    Draft,
    Fence,
    MemoryRooms,
    Message,
    MessageId,
    Page,
    RegistrationKey,
    Room,
    RoomId,
    RoomTransport,
    Session,
    Settings,
    Window,
    Wish,
    open_letagents,
)


@attrs.define
class CountedRooms:
    """Hands every call on. A transport may as well speak to a server, or keep rooms itself."""

    inner: RoomTransport
    said: Counter[RoomId] = attrs.field(factory=Counter)

    async def create(self) -> Room:
        return await self.inner.create()

    async def join(self, room_id: RoomId, *, create: bool = True) -> Room:
        return await self.inner.join(room_id, create=create)

    async def known(self) -> tuple[Room, ...]:
        return await self.inner.known()

    async def connect(self, room_id: RoomId, arrival: Arrival) -> Connection:
        return await self.inner.connect(room_id, arrival)

    async def disconnect(self, room_id: RoomId, fence: Fence) -> Session:
        return await self.inner.disconnect(room_id, fence)

    async def post(self, room_id: RoomId, draft: Draft, fence: Fence) -> Message:
        message = await self.inner.post(room_id, draft, fence)
        self.said[room_id] += 1
        return message

    async def read(self, room_id: RoomId, window: Window, viewer: Fence | None = None) -> Page:
        return await self.inner.read(room_id, window, viewer)

    async def wait(
        self, room_id: RoomId, window: After, *, timeout: timedelta, viewer: Fence | None = None
    ) -> Page:
        return await self.inner.wait(room_id, window, timeout=timeout, viewer=viewer)

    async def message(self, room_id: RoomId, message_id: MessageId) -> Message | None:
        return await self.inner.message(room_id, message_id)


async def main() -> None:
    rooms = CountedRooms(MemoryRooms())
    with tempfile.TemporaryDirectory() as home:
        async with (
            open_letagents(Settings(home=Path(home)), rooms=rooms) as letagents,
            letagents.client() as client,
        ):
            room = (await client.places.join(RoomId("the workshop"))).room.room_id
            key = RegistrationKey("a random key of this chat")
            ada = await client.registration.register(key, Wish(room, display_name="Ada"))
            for text in ("good morning", "the build is green"):
                await client.messages.send(ada.connection, text)
    print(f"said in {room}: {rooms.said[room]}")


if __name__ == "__main__":
    anyio.run(main)
