"""Who a call is from: a worker by its handle, a session by its id, or the chat itself.

A connection is found in this client's memory. What the machine remembers says which room is meant
where the call does not, and why nothing is held; no connection is ever taken from there, except
that of a chat without a lasting handle, whose secret never changes hands.

It is different where the state keeps connections, as a server's does for accounts whose clients
have no process of their own: what it holds for a worker is good for any chat of that account,
unless the chat itself held one that was replaced.
"""

from collections.abc import Awaitable, Callable

import attrs

from letagents.application.chat import Chat
from letagents.application.connections import Connections
from letagents.application.plain import PlainSessions
from letagents.application.remembered import kept_connection, plain_connection, session_of
from letagents.domain import locators, workers
from letagents.domain.errors import (
    LetAgentsError,
    NoRoom,
    NotConnected,
    SessionEnded,
    SessionRequired,
    SessionUnknown,
)
from letagents.domain.ids import RoomId, SessionId, WorkerId
from letagents.domain.local_state import LocalState, StoredSession, Worker
from letagents.domain.sessions import Connection, Session, SessionKind
from letagents.ports.state import StateStore

Meaning = Callable[[RoomId], Awaitable[RoomId]]
"""Returns the id of the focus room that a locator names, or raises UnknownRoom."""
MayLook = Callable[[RoomId], Awaitable[None]]
"""Raises UnknownRoom for a room into which nobody here may look."""


async def anywhere(_room_id: RoomId) -> None:
    """Let everybody look into each room, as on a machine of one's own."""


_KINDS = {kind.value for kind in SessionKind}


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
    plain: PlainSessions
    chat: Chat
    keeps_connections: bool = attrs.field(default=False, kw_only=True)
    may_be_chat: bool = attrs.field(default=True, kw_only=True)
    """Whether a call that shows nobody is the chat's own."""
    may_look: MayLook = attrs.field(default=anywhere, kw_only=True)
    """Sees whether a call that shows nobody may look into a room."""
    meaning: Meaning = attrs.field(kw_only=True)
    """Finds the room of a locator."""
    entering: Meaning = attrs.field(kw_only=True)
    """Enters the room of a locator: who says it may come in, as by its code."""

    async def acting(self, claim: Claim, current: RoomId | None) -> Connection:
        """Return the connection to act with; a chat that shows none gets its own in the room.

        Raises:
            UnknownWorker, ForeignWorker, AmbiguousRoom, NotConnected, ConnectionReplaced,
            SessionEnded, SessionUnknown: what the call says of itself does not hold.
            NoRoom: there is no room to act in.
            UnknownRoom: the room is not there.
            SessionRequired: the call shows nobody, and this client has workers in the room, or is
                no chat that could speak for itself.
        """
        claim = await self._meant(claim)
        shown = await self._shown_worker(claim)
        if shown is not None:
            return _calling_from(shown, current)
        room_id = _room(claim, current)
        if not self.may_be_chat:
            raise _shows_nobody(room_id)
        if self.connections.own(room_id) is None and self.connections.workers_in(room_id):
            raise _speaks_as_nobody(room_id)
        return _calling_from(await self.plain.own(room_id), current)

    async def room_meant(self, room_id: RoomId) -> RoomId:
        """Return the id of the room that `room_id` means, which may be a focus room's locator.

        Raises:
            UnknownRoom: there is no such focus room.
        """
        return await self.meaning(room_id) if locators.located(room_id) else room_id

    async def room_entered(self, room_id: RoomId) -> RoomId:
        """Return as `room_meant`; who says a focus room's locator has entered it then.

        Raises:
            UnknownRoom: there is no such focus room.
        """
        return await self.entering(room_id) if locators.located(room_id) else room_id

    async def _meant(self, claim: Claim) -> Claim:
        if claim.room_id is None:
            return claim
        return attrs.evolve(claim, room_id=await self.room_meant(claim.room_id))

    async def viewing(
        self, claim: Claim, current: RoomId | None
    ) -> tuple[RoomId, Connection | None]:
        """Return the room to look into and, if the call shows one, the connection to look with.

        Raises: as `acting`.
        """
        claim = await self._meant(claim)
        shown = await self._shown_worker(claim)
        if shown is not None:
            return shown.session.room_id, shown
        room_id = _room(claim, current)
        if (own := self.connections.own(room_id)) is None:
            await self.may_look(room_id)
        return room_id, own

    async def shown(self, claim: Claim) -> Connection | None:
        """Return the connection of what the call shows, or None if it shows nothing.

        Raises: as `acting`, but for NoRoom.
        """
        claim = await self._meant(claim)
        if claim.worker_id is not None:
            return await self._of_worker(claim.worker_id, claim.room_id)
        if claim.session_id is not None:
            return await self._of_session(claim.session_id, claim.room_id)
        return None

    async def ended(self, claim: Claim) -> Session | None:
        """Return the session that the call shows if it is one that has ended, as remembered."""
        state = await self.state.read()
        session_id = str(claim.session_id or "")
        if claim.worker_id is not None:
            worker = workers.find(state, claim.worker_id, scope=await self.chat.scope())
            place = worker.rooms.get(str(workers.room_meant(worker, claim.room_id)))
            session_id = (place and place.session_id) or ""
        known = state.sessions.get(session_id)
        return session_of(known) if known and known.ended_at and _is_ours(known) else None

    async def _shown_worker(self, claim: Claim) -> Connection | None:
        shown = await self.shown(claim)
        if shown is not None and shown.session.kind is not SessionKind.WORKER:
            raise SessionUnknown(
                f"agent_session_id: {claim.session_id} is a {shown.session.kind.value}'s session "
                "and cannot act.",
                remedy="Call register_agent_session(session_kind='worker') first.",
            )
        return shown

    async def _of_worker(self, worker_id: WorkerId, room_id: RoomId | None) -> Connection:
        # Reading the state costs more than a send: it is read only where memory has no answer.
        in_mind = room_id or self.connections.only_room(worker_id)
        if in_mind is not None and (held := self.connections.held(worker_id, in_mind)) is not None:
            return held
        state = await self.state.read()
        worker = workers.find(state, worker_id, scope=await self.chat.scope())
        meant = workers.room_meant(worker, room_id)
        if (held := self.connections.held(worker_id, meant)) is not None:
            return held
        if self.keeps_connections and (kept := self._kept(state, worker, meant)) is not None:
            return kept
        raise self._why_not(state, worker, meant)

    def _kept(self, state: LocalState, worker: Worker, room_id: RoomId) -> Connection | None:
        """Return the worker's connection that the state keeps, held here from now on."""
        place = worker.rooms.get(str(room_id))
        known = state.sessions.get((place and place.session_id) or "")
        is_settled = place is not None and place.pending is None
        if known is None or known.ended_at is not None or not is_settled:
            return None
        if self.connections.why_lost(worker.worker_id, room_id) is not None:
            return None
        connection = kept_connection(known)
        rooms = workers.rooms_of(worker)
        self.connections.hold(worker.worker_id, room_id, connection, rooms=rooms)
        return connection

    def _why_not(self, state: LocalState, worker: Worker, room_id: RoomId) -> LetAgentsError:
        if (lost := self.connections.why_lost(worker.worker_id, room_id)) is not None:
            return lost.again()
        place = worker.rooms.get(str(room_id))
        known = state.sessions.get((place and place.session_id) or "")
        if known is not None and known.ended_at is not None:
            return SessionEnded(worker.worker_id, room_id, "its session in the room has ended")
        return NotConnected(worker.worker_id, room_id, "this process has not connected it")

    async def _of_session(self, session_id: SessionId, room_id: RoomId | None) -> Connection:
        connection = self.connections.of_session(session_id)
        if connection is None:
            connection = await self._remembered(session_id)
        if room_id is not None and connection.session.room_id != room_id:
            raise SessionUnknown(
                f"agent_session_id: {session_id} is a session of {connection.session.room_id}, "
                f"not of {room_id}.",
                remedy="Leave room_id out, or register in that room first.",
            )
        return connection

    async def _remembered(self, session_id: SessionId) -> Connection:
        state = await self.state.read()
        known = state.sessions.get(str(session_id))
        if known is None or not _is_ours(known):
            raise _no_session()
        if known.worker_id is not None:
            worker = workers.find(state, known.worker_id, scope=await self.chat.scope())
            raise self._why_not(state, worker, RoomId(known.room_id))
        if known.ended_at is not None:
            raise SessionUnknown(
                f"agent_session_id: {session_id} ended at {known.ended_at:%Y-%m-%dT%H:%M:%SZ}.",
                remedy="Call register_agent_session to get a new one.",
            )
        connection = plain_connection(known)
        self.connections.hold_plain(connection)
        return connection


def _calling_from(shown: Connection, current: RoomId | None) -> Connection:
    """Return the connection with the room in which who calls is. (Source: mcp-tools 4.3.)

    A worker is where its session is, and a chat in its current room.
    """
    session = shown.session
    origin = session.room_id if session.worker_id is not None else current or session.room_id
    return attrs.evolve(shown, fence=attrs.evolve(shown.fence, origin=origin))


def _speaks_as_nobody(room_id: RoomId) -> SessionRequired:
    return SessionRequired(
        f"The call does not say who speaks in {room_id}, and workers were registered there from "
        "here.",
        remedy="Pass worker_id; a chat without a handle calls register_agent_session() first.",
    )


def _shows_nobody(room_id: RoomId) -> SessionRequired:
    return SessionRequired(
        f"The call does not say who speaks in {room_id}.",
        remedy="Pass worker_id. Without one, call register_agent_session(registration_key=..., "
        f"room_id={str(room_id)!r}) with a key that you make at random.",
    )


def _room(claim: Claim, current: RoomId | None) -> RoomId:
    room_id = claim.room_id or current
    if room_id is None:
        raise NoRoom
    return room_id


def _is_ours(known: StoredSession) -> bool:
    """Whether a remembered session, perhaps of another program, can be one of our rooms."""
    forms = SessionId.fits(known.session_id) and RoomId.fits(known.room_id)
    return forms and known.session_kind in _KINDS


def _no_session() -> SessionUnknown:
    # What was passed is not shown: it may be the registration key, in the wrong place.
    return SessionUnknown(
        "agent_session_id: there is no such session on this machine.",
        remedy="Call register_agent_session first and pass what it returns.",
    )
