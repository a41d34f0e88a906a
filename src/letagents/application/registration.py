"""Registering, reconnecting, recovering and disconnecting workers.

Connecting is written down before the room is asked and settled after it answered, so that a
process that dies in between, or an answer that gets lost, leaves a worker that its next process
finds (`domain/connections.py` has the walk). Asking for what this process holds is answered from
memory.
"""

from collections import defaultdict

import anyio
import attrs
import structlog

from letagents.application.chat import Chat
from letagents.application.connections import Connections
from letagents.application.remembered import stored
from letagents.domain import codenames, connections, fencing, names, workers
from letagents.domain.connections import Phase
from letagents.domain.errors import (
    ConnectionLost,
    LetAgentsError,
    NoSuchLostWorker,
    OutcomeUnknown,
    RegistrationConflict,
    SessionEnded,
    StateUnavailable,
)
from letagents.domain.ids import RegistrationKey, RoomId, SessionId, WorkerId
from letagents.domain.local_state import LocalState, Pending, Worker
from letagents.domain.sessions import Arrival, Connection, Predecessor, Resumed, Session
from letagents.ports.clock import Clock
from letagents.ports.ids import Ids
from letagents.ports.rooms import RoomTransport
from letagents.ports.state import StateStore
from letagents.ports.surroundings import Surroundings

log = structlog.get_logger()


@attrs.frozen
class Registered:
    """A worker, its connection, and what the chat should know about its name."""

    worker_id: WorkerId
    connection: Connection
    name_held_here: str | None = None
    """The name that was asked for and that a worker held by this client lives under."""
    resumed: tuple[Resumed, ...] = ()
    """What it held already when it was connected here just now."""


@attrs.frozen
class Wish:
    """What a chat asks for besides who it is."""

    room_id: RoomId
    display_name: str | None = None
    runtime: str | None = None
    cwd: str | None = None


@attrs.define
class Registration:
    """Gives one client its connections."""

    state: StateStore
    rooms: RoomTransport
    connections: Connections
    chat: Chat
    surroundings: Surroundings
    clock: Clock
    ids: Ids
    _turns: defaultdict[tuple[WorkerId, RoomId], anyio.Lock] = attrs.field(
        factory=lambda: defaultdict(anyio.Lock)
    )

    async def register(self, key: RegistrationKey, wish: Wish) -> Registered:
        """Return the worker of `key`, made if it is new, connected in the room from here.

        Raises:
            RegistrationConflict: another process registers the same worker at this moment.
            UnknownRoom, NameTaken, StateUnavailable, RoomsUnavailable: as the ports say.
        """
        scope = await self.chat.scope()
        known = workers.of_key(await self.state.read(), scope=scope, key=key)
        if known is None:
            return await self._register_first(key, wish, scope)
        return await self._registered(known, wish)

    async def reconnect(self, worker_id: WorkerId, wish: Wish) -> Registered:
        """Return the worker, connected in the room from here; who held it before is replaced.

        Raises:
            UnknownWorker, ForeignWorker: the handle is not one of this account on this machine.
            RegistrationConflict and others: as `register`.
        """
        worker = workers.find(await self.state.read(), worker_id, scope=await self.chat.scope())
        return await self._registered(worker, wish)

    async def recover(self, wish: Wish) -> Registered:
        """Return the one worker that this client holds under the wished name.

        Raises:
            NoSuchLostWorker: there is none, or more than one.
        """
        asked = wish.display_name or ""
        found = await self._held_under(asked, wish.room_id)
        if len(found) != 1:
            raise _not_recovered(wish.room_id, asked, several=bool(found))
        return await self.reconnect(found[0], wish)

    async def disconnect(self, connection: Connection) -> Session:
        """End the connection's session. A worker with a handle may connect again and has it back.

        Raises: as RoomTransport.disconnect.
        """
        room_id = connection.session.room_id
        try:
            session = await self.rooms.disconnect(room_id, connection.fence)
        except ConnectionLost as refused:
            raise self.connections.lost(connection, refused) from refused
        over = SessionEnded(session.instance_id, room_id, "its session in the room has ended")
        self.connections.lost(connection, over)
        await self._note_end(connection, session)
        log.info("session.ended", room_id=str(room_id), session_id=str(session.session_id))
        return session

    async def enter(self, room_id: RoomId) -> None:
        """Make sure that the room is there: who misspells its name must not make another.

        Raises:
            UnknownRoom: it is not there.
        """
        await self.rooms.join(room_id, create=False)

    async def _register_first(self, key: RegistrationKey, wish: Wish, scope: str) -> Registered:
        await self.enter(wish.room_id)  # a room that is not there leaves no worker behind
        fresh = self.ids.worker_id()
        asked = wish.display_name
        worker = await self.state.transact(
            lambda state: workers.ensure(
                state,
                scope=scope,
                key=key,
                fresh=fresh,
                display_name=asked or codenames.codename(str(fresh)).display_name,
            )
        )
        is_new = worker.worker_id == fresh
        if is_new:
            log.info("worker.registered", worker_id=str(fresh), room_id=str(wish.room_id))
        held_here = bool(is_new and asked and await self._held_under(asked, wish.room_id))
        connection = await self._connected(worker, wish)
        return Registered(worker.worker_id, connection, asked if held_here else None)

    async def _held_under(self, name: str, room_id: RoomId) -> list[WorkerId]:
        """Return this account's workers that live under `name` and are held here, not elsewhere."""
        found = self.connections.named(room_id, name)
        if not found:
            return []
        state, scope = await self.state.read(), await self.chat.scope()
        known = (state.workers[one] for one in found if one in state.workers)
        return [
            worker.worker_id
            for worker in known
            if workers.same_scope(worker.scope, scope)
            and self._still_held(state, worker.worker_id, room_id)
        ]

    async def _registered(self, worker: Worker, wish: Wish) -> Registered:
        held = self.connections.held(worker.worker_id, wish.room_id)
        connection = await self._connected(worker, wish)
        is_new = held is None or not fencing.is_one_hold(held.fence, connection.fence)
        resumed = connection.resumed if is_new else ()
        return Registered(worker.worker_id, connection, resumed=resumed)

    async def _connected(self, worker: Worker, wish: Wish) -> Connection:
        async with self._turns[worker.worker_id, wish.room_id]:
            held = self._still_held(await self.state.read(), worker.worker_id, wish.room_id)
            if held is None:
                return await self._connect(worker, wish)
            self.connections.confirm(held)
            return held

    def _still_held(
        self, state: LocalState, worker_id: WorkerId, room_id: RoomId
    ) -> Connection | None:
        held = self.connections.held(worker_id, room_id)
        if held is None:
            return None
        try:
            connections.still_held(state, worker_id, room_id, held=held.fence.token)
        except ConnectionLost:
            return None
        return held

    async def _connect(self, worker: Worker, wish: Wish) -> Connection:
        worker_id, room_id = worker.worker_id, wish.room_id
        await self.enter(room_id)
        if (left := await self._taken_on(worker_id, room_id)) is not None:
            await self._settle(worker, left, await self._asked(worker, wish, left))
        pending = await self._begun(worker_id, room_id)
        try:
            connection = await self._asked(worker, wish, pending)
        except OutcomeUnknown:
            raise
        except LetAgentsError:
            await self._take_back(worker_id, room_id, pending)
            raise
        rooms = await self._settle(worker, pending, connection)
        self.connections.hold(worker_id, room_id, connection, rooms=rooms)
        opened(connection)
        return connection

    async def _taken_on(self, worker_id: WorkerId, room_id: RoomId) -> Pending | None:
        operation_id = self.ids.uuid()
        return await self.state.transact(
            lambda state: connections.take_on(state, worker_id, room_id, operation_id=operation_id)
        )

    async def _begun(self, worker_id: WorkerId, room_id: RoomId) -> Pending:
        operation_id, token = self.ids.uuid(), self.ids.token()
        return await self.state.transact(
            lambda state: connections.begin(
                state, worker_id, room_id, operation_id=operation_id, token=token
            )
        )

    async def _asked(self, worker: Worker, wish: Wish, pending: Pending) -> Connection:
        arrival = await self._arrival(worker, wish, pending)
        try:
            return await self._admitted(worker, wish, pending, arrival)
        except OutcomeUnknown as unknown:
            raise OutcomeUnknown(
                unknown.happened,
                remedy="Call register_agent_session again as you did: it finds the same worker.",
            ) from unknown

    async def _admitted(
        self, worker: Worker, wish: Wish, pending: Pending, arrival: Arrival
    ) -> Connection:
        """Connect; insist where the room knows another secret and nobody else asks for the seat.

        Then this machine's state, or its rooms, were put back from a copy: no process can show what
        the room holds, and without this the handle would be lost in that room for ever.
        """
        try:
            return await self.rooms.connect(wish.room_id, arrival)
        except RegistrationConflict:
            state = await self.state.read()
            operation_id = pending.operation_id
            phase = connections.phase(
                state, worker.worker_id, wish.room_id, operation_id=operation_id
            )
            if phase is not Phase.PREPARED:
                raise
            log.warning("connection.insisted", worker_id=str(worker.worker_id))
            return await self.rooms.connect(wish.room_id, attrs.evolve(arrival, insists=True))

    async def _settle(
        self, worker: Worker, pending: Pending, connection: Connection
    ) -> tuple[RoomId, ...]:
        """Settle what was asked; return all rooms in which the worker now has a session."""
        session = stored(connection)

        def settled(state: LocalState) -> tuple[LocalState, tuple[RoomId, ...]]:
            done = connections.finish(
                state,
                worker.worker_id,
                RoomId(session.room_id),
                operation_id=pending.operation_id,
                session=session,
            )
            return done, workers.rooms_of(done.workers[worker.worker_id])

        try:
            return await self.state.transact(settled)
        except StateUnavailable as error:
            raise OutcomeUnknown(
                f"The room connected {worker.worker_id}, and it could not be written down here: "
                f"{error.happened}",
                remedy=f"{error.remedy} Then call register_agent_session again as you did: it "
                "finds the same worker.",
            ) from error

    async def _take_back(self, worker_id: WorkerId, room_id: RoomId, pending: Pending) -> None:
        def taken_back(state: LocalState) -> tuple[LocalState, None]:
            operation_id = pending.operation_id
            return connections.abandon(state, worker_id, room_id, operation_id=operation_id), None

        await self.state.transact(taken_back)

    async def _arrival(self, worker: Worker, wish: Wish, pending: Pending) -> Arrival:
        return Arrival(
            token=pending.connection_token,
            agent_key=workers.agent_key(worker),
            instance_id=str(worker.worker_id),
            display_name=worker.display_name,
            owner_label=(await self.chat.owner()).label,
            ide_label=self.chat.ide_label,
            runtime=(wish.runtime or self.chat.runtime).lower(),
            worker_id=worker.worker_id,
            repo_branch=await self.surroundings.branch(wish.cwd),
            predecessor=_predecessor(pending),
            process_host=await self.chat.process_host(),
        )

    async def _note_end(self, connection: Connection, session: Session) -> None:
        """Write down that the session ended. The room knows; so a failure here is no failure."""

        def noted(state: LocalState) -> tuple[LocalState, object]:
            token, now = connection.fence.token, session.ended_at or self.clock.now()
            return connections.end_session(state, session.session_id, now=now, token=token)

        try:
            await self.state.transact(noted)
        except LetAgentsError as error:
            log.warning("state.unavailable", session_id=str(session.session_id), code=error.code)


def opened(connection: Connection) -> None:
    """Log that a connection was opened."""
    log.info(
        "connection.opened",
        room_id=str(connection.session.room_id),
        session_id=str(connection.session.session_id),
        generation=connection.fence.generation,
    )


def _predecessor(pending: Pending) -> Predecessor | None:
    if pending.predecessor_id is None or pending.predecessor_token is None:
        return None
    return Predecessor(SessionId(pending.predecessor_id), pending.predecessor_token)


def _not_recovered(room_id: RoomId, asked: str, *, several: bool) -> NoSuchLostWorker:
    shown = names.trim(asked)[:64]
    if several:
        return NoSuchLostWorker(
            f"There is more than one worker named {shown!r} that this server holds in {room_id}.",
            remedy="Disconnect the one that is not needed, or register a new worker with a fresh "
            "random registration_key.",
        )
    return NoSuchLostWorker(
        f"There is no worker named {shown!r} that this server holds in {room_id}.",
        remedy="Pass the display_name that the room gave it, or call register_agent_session with "
        "a fresh random registration_key and room_id.",
    )
