"""Entering rooms, and remembering where one was."""

from contextlib import suppress
from datetime import datetime, timedelta

import anyio
import attrs
import structlog

from letagents.domain import git_rooms, rooms
from letagents.domain.errors import (
    LetAgentsError,
    NoRoom,
    NotAvailable,
    RoomsUnavailable,
    StateUnavailable,
    UnknownRoom,
)
from letagents.domain.git_rooms import GitRoom
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.local_state import LocalState, RoomSession, save_room, touch_room
from letagents.domain.rooms import Room
from letagents.ports.clock import Clock
from letagents.ports.rooms import RoomTransport
from letagents.ports.state import StateStore

log = structlog.get_logger()

REMEMBER_EVERY = timedelta(seconds=30)
"""How far a room was read is written down no more often than this, and when a client leaves."""

PATIENCE = 0.8
"""Seconds that such a note may take. It is worth little, and whoever called waits for it."""


SUPERVISED, BEARER = "daemon_supervised", "worker_bearer"
"""How one is in a room through a supervisor, and by a worker's bearer."""


@attrs.frozen
class Entered:
    """A room that was entered, and through which door."""

    room: Room
    joined_via: str

    @property
    def is_supervised(self) -> bool:
        """Whether a supervisor put the chat there, which enters no other room by itself."""
        return self.joined_via == SUPERVISED


@attrs.define
class Places:
    """The rooms of one client. `current` is the one that a call means which names none."""

    state: StateStore
    rooms: RoomTransport
    clock: Clock
    current: Entered | None = None
    _read_to: dict[RoomId, MessageId] = attrs.field(factory=dict)
    _unwritten: set[RoomId] = attrs.field(factory=set)
    _written_at: datetime | None = None

    @property
    def current_id(self) -> RoomId | None:
        """The current room's id."""
        return self.current.room.room_id if self.current is not None else None

    async def create(self) -> Entered:
        """Make a room with an invite code, and enter it.

        Raises: as RoomTransport.create, and NotAvailable or StateDamaged before anything was done.
        """
        self._check_may_leave()
        await self.state.read()
        return await self._entered(await self.rooms.create(), "join_code")

    async def join(
        self, room_id: RoomId, *, via: str = "join_room", create: bool = True
    ) -> Entered:
        """Enter a room. Raises: as RoomTransport.join, and NotAvailable before it is asked."""
        self._check_may_leave()
        await self.state.read()
        return await self._entered(await self.rooms.join(room_id, create=create), via)

    async def enter(self, room: GitRoom, *, via: str) -> Entered:
        """Enter the branch's room if there is one, else the repository's, made if it is not there.

        Raises: as RoomTransport.join.
        """
        self._check_may_leave()
        await self.state.read()
        return await self._entered(await self._opened(room), via)

    def _check_may_leave(self) -> None:
        """Let a chat enter another room which its supervisor keeps in none.

        Raises:
            NotAvailable: it does, and nobody is asked.
        """
        if self.current is not None and self.current.is_supervised:
            raise NotAvailable(
                "Room joins and creation are disabled during a daemon-supervised bounded turn.",
                remedy="Stay in your room; your user moves you with `letagents agents move`.",
            )

    async def check(self, room_id: RoomId) -> None:
        """Refuse an invite code that no room has; what cannot be told now is let through.

        Raises:
            UnknownRoom: nobody could ever enter.
        """
        stays = self.current is not None and self.current.is_supervised
        if rooms.looks_like_code(str(room_id)) and not stays:
            with suppress(RoomsUnavailable):
                await self.rooms.join(room_id, create=False)

    async def settle(self, room: GitRoom, *, via: str) -> Entered | None:
        """Do as `enter`, unless this chat has entered a room by itself by then.

        Raises: as RoomTransport.join.
        """
        await self.state.read()
        opened = await self._opened(room) if self.current is None else None
        if opened is None or self.current is not None:
            return None
        return await self._entered(opened, via)

    async def come_back(self) -> Entered | None:
        """Settle in the room that this machine was in last; None if it remembers none.

        Raises: as RoomTransport.join.
        """
        saved = (await self.state.read()).current_room
        if saved is None:
            return None
        room = git_rooms.behind(RoomId(saved.room_id))
        return await self.settle(room, via=saved.joined_via or "join_room")

    async def resume(self, room_id: RoomId | None = None) -> tuple[Entered, str | None]:
        """Enter a room that this machine was in before: that one, or the last.

        Also returns the last message that was seen there.

        Raises:
            UnknownRoom: this machine remembers no such room.
        """
        await self.remember()
        state = await self.state.read()
        saved = state.rooms.get(str(room_id)) if room_id else state.current_room
        if saved is None:
            raise UnknownRoom(
                f"This machine remembers no room {room_id}."
                if room_id
                else "This machine remembers no room.",
                remedy="Call join_room(name=...) or join_code(code=...).",
            )
        room = git_rooms.behind(RoomId(saved.room_id))
        entered = await self.enter(room, via=saved.joined_via or "join_room")
        return entered, saved.last_message_id

    async def saw(self, room_id: RoomId, message_id: MessageId | None) -> None:
        """Note that the room was read up to a message; it is written down now and then."""
        if message_id is None or self._read_to.get(room_id, MessageId(0)) >= message_id:
            return
        self._read_to[room_id] = message_id
        self._unwritten.add(room_id)
        now = self.clock.now()
        if self._written_at is None:
            self._written_at = now
        if now - self._written_at >= REMEMBER_EVERY:
            await self.remember()

    async def remember(self) -> None:
        """Write down how far each room was read; where that cannot be done now, try again later.

        It raises nothing: what the note is about has happened, whether it is written down or not.
        """
        if not self._unwritten:
            return
        now = self._written_at = self.clock.now()
        read_to = {room_id: self._read_to[room_id] for room_id in self._unwritten}

        def touched(state: LocalState) -> tuple[LocalState, None]:
            for room_id, seen in read_to.items():
                state, _ = touch_room(state, room_id, now=now, last_message_id=str(seen))
            return state, None

        try:
            with anyio.move_on_after(PATIENCE):
                await self.state.transact(touched)
                self._unwritten.difference_update(read_to)
        except LetAgentsError as error:
            log.warning("state.unavailable", code=error.code)

    async def _opened(self, room: GitRoom) -> Room:
        if room.branch is not None:
            with suppress(UnknownRoom):
                return await self.rooms.join(room.branch, create=False)
        if room.repository is None:
            raise NoRoom
        return await self.rooms.join(room.repository)

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

        self.current = Entered(room, via)
        try:
            await self.state.transact(saved)
        except StateUnavailable as error:
            # The room is entered all the same; only the next start will not know of it.
            log.warning("state.unavailable", room_id=str(room.room_id), code=error.code)
        return self.current
