"""Who a call is from: a worker by its handle, a session by its id, or the chat itself.

Every answer but one is found in this client's memory. Only to say why it holds nothing does it read
what the machine remembers; it never takes a connection from there, except that of a chat without a
lasting handle, whose secret never changes hands.
"""

import attrs

from letagents.application.chat import Chat
from letagents.application.connections import Connections
from letagents.application.registration import Registration, Wish
from letagents.domain import workers
from letagents.domain.errors import (
    LetAgentsError,
    NoRoom,
    NotConnected,
    SessionEnded,
    SessionUnknown,
)
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId, SessionId, WorkerId
from letagents.domain.local_state import LocalState, StoredSession
from letagents.domain.sessions import Connection, Host, Session, SessionKind
from letagents.ports.state import StateStore


@attrs.frozen
class Claim:
    """What a call says about itself."""

    worker_id: WorkerId | None = None
    session_id: SessionId | None = None
    room_id: RoomId | None = None


@attrs.define
class Callers:
    """Finds the connection that a call may use."""

    state: StateStore
    connections: Connections
    registration: Registration
    chat: Chat

    async def acting(self, claim: Claim, current: RoomId | None) -> Connection:
        """Return the connection to act with; a chat that shows none gets its own in the room.

        Raises:
            UnknownWorker, ForeignWorker, AmbiguousRoom, NotConnected, ConnectionReplaced,
            SessionEnded, SessionUnknown: what the call says of itself does not hold.
            NoRoom: there is no room to act in.
        """
        shown = await self.shown(claim)
        if shown is not None:
            return shown
        room_id = claim.room_id or current
        if room_id is None:
            raise NoRoom
        held = self.connections.plain_in(room_id)
        return held or await self.registration.register_plain(Wish(room_id))

    async def viewing(
        self, claim: Claim, current: RoomId | None
    ) -> tuple[RoomId, Connection | None]:
        """Return the room to look into and, if the call shows one, the connection to look with.

        Raises: as `acting`.
        """
        shown = await self.shown(claim)
        if shown is not None:
            return shown.session.room_id, shown
        room_id = claim.room_id or current
        if room_id is None:
            raise NoRoom
        return room_id, self.connections.plain_in(room_id)

    async def shown(self, claim: Claim) -> Connection | None:
        """Return the connection of what the call shows, or None if it shows nothing.

        Raises: as `acting`, but for NoRoom.
        """
        if claim.worker_id is not None:
            return await self._of_worker(claim.worker_id, claim.room_id)
        if claim.session_id is not None:
            return await self._of_session(claim.session_id, claim.room_id)
        return None

    async def ended(self, claim: Claim) -> Session:
        """Return the session of a call whose session has ended.

        Raises:
            SessionUnknown: this machine remembers none.
        """
        state = await self.state.read()
        session_id = str(claim.session_id or "")
        if claim.worker_id is not None:
            worker = workers.find(state, claim.worker_id, scope=await self.chat.scope())
            place = worker.rooms.get(str(workers.room_meant(worker, claim.room_id)))
            session_id = (place and place.session_id) or ""
        if (stored := state.sessions.get(session_id)) is None:
            raise _no_session(session_id)
        return session_of(stored)

    async def _of_worker(self, worker_id: WorkerId, room_id: RoomId | None) -> Connection:
        rooms = (room_id,) if room_id else self.connections.rooms_of(worker_id)
        if len(rooms) == 1 and (held := self.connections.held(worker_id, rooms[0])) is not None:
            return held
        state = await self.state.read()
        worker = workers.find(state, worker_id, scope=await self.chat.scope())
        meant = workers.room_meant(worker, room_id)
        if (held := self.connections.held(worker_id, meant)) is not None:
            return held
        raise self._why_not(state, worker_id, meant)

    def _why_not(self, state: LocalState, worker_id: WorkerId, room_id: RoomId) -> LetAgentsError:
        if (lost := self.connections.why_lost(worker_id, room_id)) is not None:
            return lost.again()
        place = state.workers[worker_id].rooms.get(str(room_id))
        stored = state.sessions.get((place and place.session_id) or "")
        if stored is not None and stored.ended_at is not None:
            return SessionEnded(worker_id, room_id, "its session in the room has ended")
        return NotConnected(worker_id, room_id, "this process has not connected it")

    async def _of_session(self, session_id: SessionId, room_id: RoomId | None) -> Connection:
        connection = self.connections.of_session(session_id)
        if connection is None:
            connection = self._remembered(await self.state.read(), session_id)
        if room_id is not None and connection.session.room_id != room_id:
            raise SessionUnknown(
                f"{session_id} is a session of {connection.session.room_id}, not of {room_id}.",
                remedy="Leave room_id out, or register in that room first.",
            )
        if connection.session.kind is not SessionKind.WORKER:
            raise SessionUnknown(
                f"{session_id} is a {connection.session.kind.value}'s session and cannot act.",
                remedy="Call register_agent_session(session_kind='worker') first.",
            )
        return connection

    def _remembered(self, state: LocalState, session_id: SessionId) -> Connection:
        stored = state.sessions.get(str(session_id))
        if stored is None:
            raise _no_session(session_id)
        if stored.worker_id is not None:
            raise self._why_not(state, stored.worker_id, RoomId(stored.room_id))
        if stored.ended_at is not None:
            raise SessionUnknown(
                f"The session {session_id} ended at {stored.ended_at:%Y-%m-%dT%H:%M:%SZ}.",
                remedy="Call register_agent_session to get a new one.",
            )
        connection = plain_connection(stored)
        self.connections.hold_plain(connection)
        return connection


def _no_session(session_id: object) -> SessionUnknown:
    return SessionUnknown(
        f"There is no session {session_id} on this machine.",
        remedy="Call register_agent_session first and pass what it returns.",
    )


def plain_connection(stored: StoredSession) -> Connection:
    """Return the connection of a session whose secret never changes hands."""
    session = session_of(stored)
    return Connection(session, Fence(session.session_id, 1, stored.session_token))


def session_of(stored: StoredSession) -> Session:
    """Return what everybody may see of a stored session."""
    return Session(
        session_id=SessionId(stored.session_id),
        room_id=RoomId(stored.room_id),
        kind=SessionKind(stored.session_kind),
        agent_key=stored.agent_key,
        instance_id=stored.agent_instance_id or "",
        display_name=stored.display_name,
        base_name=stored.requested_base_display_name or stored.display_name,
        owner_label=stored.owner_label,
        ide_label=stored.ide_label,
        runtime=stored.runtime,
        actor_label=stored.actor_label,
        created_at=stored.created_at,
        updated_at=stored.updated_at,
        last_seen_at=stored.last_seen_at,
        repo_branch=stored.repo_branch,
        ended_at=stored.ended_at,
        host=Host(
            stored.host_id,
            stored.host_kind,
            stored.host_label,
            stored.liveness_capability,
            stored.tool_bridge_id,
        ),
    )
