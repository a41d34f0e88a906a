"""Chats without a lasting handle: each has a session of its own in a room, opened when needed."""

from collections import defaultdict
from contextlib import suppress

import anyio
import attrs
import structlog

from letagents.application.chat import Chat
from letagents.application.connections import Connections
from letagents.application.registration import Registration, Wish, opened
from letagents.application.remembered import stored
from letagents.domain.errors import LetAgentsError, StateUnavailable
from letagents.domain.ids import RoomId
from letagents.domain.local_state import LocalState, replace_local_worker, save_session
from letagents.domain.sessions import Arrival, Connection, Predecessor, SessionKind
from letagents.ports.ids import Ids
from letagents.ports.rooms import RoomTransport
from letagents.ports.state import StateStore
from letagents.ports.surroundings import Surroundings

log = structlog.get_logger()


@attrs.define
class PlainSessions:
    """Gives one client the sessions that have no handle."""

    state: StateStore
    rooms: RoomTransport
    connections: Connections
    registration: Registration
    chat: Chat
    surroundings: Surroundings
    ids: Ids
    _turns: defaultdict[RoomId, anyio.Lock] = attrs.field(factory=lambda: defaultdict(_turn))
    _named: dict[RoomId, str | None] = attrs.field(factory=dict)
    """Under which chosen name of the chat its connection in a room was opened."""

    async def register(self, wish: Wish, kind: SessionKind = SessionKind.WORKER) -> Connection:
        """Return a new connection of this chat; as a worker, it ends the chat's earlier one.

        Raises: as RoomTransport.connect.
        """
        async with self._turns[wish.room_id]:
            return await self._connect(wish, kind)

    async def own(self, room_id: RoomId) -> Connection:
        """Return the chat's own connection in the room, opened if there is none under its name yet.

        Raises: as RoomTransport.connect.
        """
        async with self._turns[room_id]:
            held = self.connections.own(room_id)
            if held is not None and self._named.get(room_id) == self.chat.chosen_name:
                return held
            return await self._connect(Wish(room_id), SessionKind.WORKER)

    async def _connect(self, wish: Wish, kind: SessionKind) -> Connection:
        await self.registration.enter(wish.room_id)
        earlier, named = self.connections.own(wish.room_id), self.chat.chosen_name
        arrival = await self._arrival(wish, kind, earlier)
        connection = await self.rooms.connect(wish.room_id, arrival)
        self.connections.hold_own(connection)
        opened(connection)
        await self._remember(connection)
        if kind is SessionKind.WORKER:
            self._named[wish.room_id] = named
            if earlier is not None and earlier.session.session_id != connection.session.session_id:
                await self._end(earlier)
        return connection

    async def _arrival(self, wish: Wish, kind: SessionKind, earlier: Connection | None) -> Arrival:
        who = await self.chat.identity()
        return Arrival(
            token=self.ids.token(),
            agent_key=who.canonical_key or who.actor_label,
            instance_id=self.chat.instance,
            display_name=wish.display_name or who.display_name,
            owner_label=who.owner_label,
            ide_label=who.ide_label,
            runtime=(wish.runtime or self.chat.runtime).lower(),
            kind=kind,
            repo_branch=await self.surroundings.branch(wish.cwd),
            predecessor=_following(earlier) if kind is SessionKind.WORKER else None,
            process_host=await self.chat.process_host(),
        )

    async def _remember(self, connection: Connection) -> None:
        session = stored(connection)

        def saved(state: LocalState) -> tuple[LocalState, None]:
            if connection.session.kind is SessionKind.WORKER:
                return replace_local_worker(state, session), None
            return save_session(state, session, make_current=False), None

        try:
            await self.state.transact(saved)
        except StateUnavailable as error:
            # It is connected all the same; only other processes will not know of it.
            log.warning("state.unavailable", session_id=session.session_id, code=error.code)

    async def _end(self, earlier: Connection) -> None:
        """End what this chat was under another name; under the same name it has ended already."""
        with suppress(LetAgentsError):
            await self.registration.disconnect(earlier)


def _turn() -> anyio.Lock:
    return anyio.Lock(fast_acquire=True)  # most calls find it free, and need not give way


def _following(earlier: Connection | None) -> Predecessor | None:
    if earlier is None:
        return None
    return Predecessor(earlier.fence.session_id, earlier.fence.token)
