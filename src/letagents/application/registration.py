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
from letagents.domain import codenames, connections, names, workers
from letagents.domain.errors import (
    ConnectionLost,
    LetAgentsError,
    NoSuchLostWorker,
    Retry,
    SessionEnded,
)
from letagents.domain.ids import RegistrationKey, RoomId, SessionId, Token, WorkerId
from letagents.domain.local_state import (
    LocalState,
    Pending,
    StoredSession,
    Worker,
    replace_local_worker,
)
from letagents.domain.sessions import Arrival, Connection, Predecessor, Session, SessionKind
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
        fresh = self.ids.worker_id()
        asked = wish.display_name or codenames.codename(str(fresh)).display_name
        worker = await self.state.transact(
            lambda state: workers.ensure(
                state, scope=scope, key=key, fresh=fresh, display_name=asked
            )
        )
        is_new = worker.worker_id == fresh
        held_here = self.connections.named(wish.room_id, asked) if is_new else ()
        connection = await self._connected(worker, wish)
        if is_new:
            log.info("worker.registered", worker_id=str(fresh), room_id=str(wish.room_id))
        return Registered(worker.worker_id, connection, asked if held_here else None)

    async def reconnect(self, worker_id: WorkerId, wish: Wish) -> Registered:
        """Return the worker, connected in the room from here; who held it before is replaced.

        Raises:
            UnknownWorker, ForeignWorker: the handle is not one of this account on this machine.
            RegistrationConflict and others: as `register`.
        """
        worker = workers.find(await self.state.read(), worker_id, scope=await self.chat.scope())
        return Registered(worker_id, await self._connected(worker, wish))

    async def recover(self, wish: Wish) -> Registered:
        """Return the one worker that this client holds under the wished name.

        Raises:
            NoSuchLostWorker: there is none, or more than one.
        """
        asked = wish.display_name or ""
        found = self.connections.named(wish.room_id, asked)
        if len(found) != 1:
            raise _not_recovered(wish.room_id, asked, several=bool(found))
        return await self.reconnect(found[0], wish)

    async def register_plain(
        self, wish: Wish, kind: SessionKind = SessionKind.WORKER
    ) -> Connection:
        """Return a new connection for a chat without a lasting handle; its earlier one ends."""
        await self.rooms.join(wish.room_id)
        arrival = await self._plain_arrival(wish, kind)
        connection = await self.rooms.connect(wish.room_id, arrival)
        stored = _stored(connection.session, arrival.token)
        await self.state.transact(lambda state: (replace_local_worker(state, stored), None))
        self.connections.hold_plain(connection)
        self._opened(connection)
        return connection

    async def disconnect(self, connection: Connection) -> Session:
        """End the connection's session. A worker with a handle may connect again and has it back.

        Raises: as RoomTransport.disconnect.
        """
        room_id = connection.session.room_id
        try:
            session = await self.rooms.disconnect(room_id, connection.fence)
        except ConnectionLost as refused:
            self.connections.lose(connection, refused)
            raise
        await self.state.transact(
            lambda state: connections.end_session(
                state,
                session.session_id,
                now=session.ended_at or self.clock.now(),
                token=connection.fence.token,
            )
        )
        over = SessionEnded(session.instance_id, room_id, "its session in the room has ended")
        self.connections.lose(connection, over)
        log.info("session.ended", room_id=str(room_id), session_id=str(session.session_id))
        return session

    async def _connected(self, worker: Worker, wish: Wish) -> Connection:
        async with self._turns[worker.worker_id, wish.room_id]:
            held = await self._held(worker.worker_id, wish.room_id)
            return held or await self._connect(worker, wish)

    async def _held(self, worker_id: WorkerId, room_id: RoomId) -> Connection | None:
        held = self.connections.held(worker_id, room_id)
        if held is None:
            return None
        try:
            connections.still_held(
                await self.state.read(), worker_id, room_id, held=held.fence.token
            )
        except ConnectionLost:
            return None
        return held

    async def _connect(self, worker: Worker, wish: Wish) -> Connection:
        worker_id, room_id = worker.worker_id, wish.room_id
        await self.rooms.join(room_id)
        left = connections.left_over(await self.state.read(), worker_id, room_id)
        if left is not None:
            await self._carried_out(worker, wish, left)
        operation_id, token = self.ids.uuid(), self.ids.token()
        pending = await self.state.transact(
            lambda state: connections.begin(
                state, worker_id, room_id, operation_id=operation_id, token=token
            )
        )
        connection = await self._carried_out(worker, wish, pending)
        self.connections.hold(worker_id, room_id, connection)
        self._opened(connection)
        return connection

    async def _carried_out(self, worker: Worker, wish: Wish, pending: Pending) -> Connection:
        worker_id, room_id = worker.worker_id, wish.room_id
        arrival = await self._arrival(worker, wish, pending)
        try:
            connection = await self.rooms.connect(room_id, arrival)
        except LetAgentsError as error:
            if error.retry is not Retry.AFTER_READING:
                await self._taken_back(worker_id, room_id, pending)
            raise
        stored = _stored(connection.session, arrival.token)

        def settled(state: LocalState) -> tuple[LocalState, None]:
            done = connections.finish(
                state, worker_id, room_id, operation_id=pending.operation_id, session=stored
            )
            return done, None

        await self.state.transact(settled)
        return connection

    async def _taken_back(self, worker_id: WorkerId, room_id: RoomId, pending: Pending) -> None:
        def taken_back(state: LocalState) -> tuple[LocalState, None]:
            operation_id = pending.operation_id
            return connections.abandon(state, worker_id, room_id, operation_id=operation_id), None

        await self.state.transact(taken_back)

    async def _arrival(self, worker: Worker, wish: Wish, pending: Pending) -> Arrival:
        owner = await self.chat.owner()
        before = _predecessor(pending)
        return Arrival(
            token=pending.connection_token,
            agent_key=f"{owner.slug}/{str(worker.worker_id).replace('_', '-', 1)}",
            instance_id=str(worker.worker_id),
            display_name=worker.display_name,
            owner_label=owner.label,
            ide_label=self.chat.ide_label,
            runtime=(wish.runtime or self.chat.runtime).lower(),
            worker_id=worker.worker_id,
            repo_branch=await self.surroundings.branch(wish.cwd),
            predecessor=before,
        )

    async def _plain_arrival(self, wish: Wish, kind: SessionKind) -> Arrival:
        who = await self.chat.identity()
        return Arrival(
            token=self.ids.token(),
            agent_key=who.canonical_key or who.runtime_key or who.actor_label,
            instance_id=self.chat.instance,
            display_name=wish.display_name or who.display_name,
            owner_label=who.owner_label,
            ide_label=who.ide_label,
            runtime=(wish.runtime or self.chat.runtime).lower(),
            kind=kind,
            repo_branch=await self.surroundings.branch(wish.cwd),
        )

    def _opened(self, connection: Connection) -> None:
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


def _stored(session: Session, token: Token) -> StoredSession:
    host = session.host
    return StoredSession(
        session_id=str(session.session_id),
        session_token=token,
        room_id=str(session.room_id),
        session_kind=session.kind.value,
        runtime=session.runtime,
        host_id=host.host_id,
        host_kind=host.kind,
        host_label=host.label,
        liveness_capability=host.liveness_capability,
        tool_bridge_id=host.tool_bridge_id,
        actor_label=session.actor_label,
        agent_key=session.agent_key,
        agent_instance_id=session.instance_id,
        display_name=session.display_name,
        requested_base_display_name=session.base_name,
        owner_label=session.owner_label,
        ide_label=session.ide_label,
        repo_branch=session.repo_branch,
        created_at=session.created_at,
        updated_at=session.updated_at,
        last_seen_at=session.last_seen_at,
        ended_at=session.ended_at,
    )
