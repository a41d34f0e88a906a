"""Entering rooms, and remembering where one was."""

from datetime import timedelta

import attrs

from letagents.domain.errors import UnknownRoom
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.local_state import LocalState, RoomSession, save_room, touch_room
from letagents.domain.rooms import Room
from letagents.ports.clock import Clock
from letagents.ports.rooms import RoomTransport
from letagents.ports.state import StateStore

REMEMBER_EVERY = timedelta(seconds=30)
"""How far a room was read is written down no more often than this, and when a client leaves."""


@attrs.frozen
class Entered:
    """A room that was entered, and through which door."""

    room: Room
    joined_via: str


@attrs.define
class Places:
    """The rooms of one client. `current` is the one that a call means which names none."""

    state: StateStore
    rooms: RoomTransport
    clock: Clock
    current: Entered | None = None
    _read_to: dict[RoomId, MessageId] = attrs.field(factory=dict)
    _remembered_at: float | None = None

    @property
    def current_id(self) -> RoomId | None:
        """The current room's id."""
        return self.current.room.room_id if self.current is not None else None

    async def create(self) -> Entered:
        """Make a room with an invite code, and enter it. Raises: as RoomTransport.create."""
        return await self._entered(await self.rooms.create(), "join_code")

    async def join(
        self, room_id: RoomId, *, via: str = "join_room", create: bool = True
    ) -> Entered:
        """Enter a room. Raises: as RoomTransport.join."""
        return await self._entered(await self.rooms.join(room_id, create=create), via)

    async def resume(self, room_id: RoomId | None = None) -> tuple[Entered, str | None]:
        """Enter a room that this machine was in before: that one, or the last.

        Also returns the last message that was seen there.

        Raises:
            UnknownRoom: this machine remembers no such room.
        """
        state = await self.state.read()
        saved = state.rooms.get(str(room_id)) if room_id else state.current_room
        if saved is None:
            raise UnknownRoom(
                f"This machine remembers no room {room_id}."
                if room_id
                else "This machine remembers no room.",
                remedy="Call join_room(name=...) or join_code(code=...).",
            )
        entered = await self.join(RoomId(saved.room_id), via=saved.joined_via or "join_room")
        return entered, saved.last_message_id

    async def saw(self, room_id: RoomId, message_id: MessageId | None) -> None:
        """Note that the room was read up to a message; it is written down now and then."""
        if message_id is None or self._read_to.get(room_id, MessageId(0)) >= message_id:
            return
        self._read_to[room_id] = message_id
        now = self.clock.now().timestamp()
        if self._remembered_at is None:
            self._remembered_at = now
        if now - self._remembered_at >= REMEMBER_EVERY.total_seconds():
            await self.remember()

    async def remember(self) -> None:
        """Write down how far each room was read."""
        if not self._read_to:
            return
        read_to, self._read_to = self._read_to, {}
        now = self.clock.now()
        self._remembered_at = now.timestamp()

        def touched(state: LocalState) -> tuple[LocalState, None]:
            for room_id, seen in read_to.items():
                state, _ = touch_room(state, room_id, now=now, last_message_id=str(seen))
            return state, None

        await self.state.transact(touched)

    async def _entered(self, room: Room, via: str) -> Entered:
        now = self.clock.now()

        def saved(state: LocalState) -> tuple[LocalState, RoomSession]:
            return save_room(
                state,
                room.room_id,
                joined_via=via,
                now=now,
                code=room.code,
                display_name=room.display_name,
            )

        await self.state.transact(saved)
        self.current = Entered(room, via)
        return self.current
