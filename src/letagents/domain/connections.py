"""How a session changes hands, as this machine writes it down: prepared, settled, ended.

Connecting has two trips, because a process can die between asking a room and hearing its answer.
First it is written down what will be asked, with a secret that we made (`begin`); then the
room is asked; then the answer is settled (`finish`). Whoever finds an entry that was left unsettled
takes it on (`take_on`) and asks again with the same secret: the room answers the same, and no
answer is lost. Who prepared it may be dead, or only slow: from then on it can neither settle the
entry nor take it back, so the secret that the room may learn from either stays written down.

C1  One operation at a time: nothing is prepared while another operation is unsettled.
C2  An operation names the secret it replaces: that of the session stored for the room, if any.
C3  Only the operation that is written down can be settled; one that was superseded changes nothing.
C4  An operation is settled by the worker's session in that room, under the prepared secret.
C5  What was left unsettled is taken on under a new name, and settled under that name only.
C6  A lasting worker's session is ended only with its newest secret: no successor ends by mistake.
C7  A session that ended stays as it ended, and is no room's current one.
C8  An operation that the room refused is taken back while it bears the name it was prepared under,
    and what was before it stands.
C9  A held secret is good while it is the stored one, and its session not ended or being replaced.
"""

import enum
from datetime import datetime

import attrs

from letagents.domain import fencing
from letagents.domain.errors import (
    ConnectionReplaced,
    NotConnected,
    RegistrationConflict,
    SessionEnded,
    UnknownWorker,
)
from letagents.domain.ids import RoomId, SessionId, Token, WorkerId
from letagents.domain.local_state import (
    LocalState,
    Pending,
    StoredSession,
    Worker,
    WorkerRoom,
    ended,
    with_session,
)


class Phase(enum.Enum):
    """How far a worker has come in a room, in the eyes of one operation or of none."""

    ABSENT = "absent"
    """No session is stored."""
    PREPARED = "prepared"
    """The operation that asks is written down and not settled."""
    LEFT_OVER = "left over"
    """Another operation is written down: of a rival, or of a process that died."""
    LIVE = "live"
    """A session is stored and has not ended."""
    ENDED = "ended"
    """A session is stored and has ended."""


class Move(enum.Enum):
    """What can be done with a connection."""

    PREPARE = "prepare"
    TAKE_ON = "take on"
    CONFIRM = "confirm"
    END = "end"


MOVES = {
    (Phase.ABSENT, Move.PREPARE): Phase.PREPARED,
    (Phase.LIVE, Move.PREPARE): Phase.PREPARED,  # a rotation
    (Phase.ENDED, Move.PREPARE): Phase.PREPARED,  # a return
    (Phase.LEFT_OVER, Move.TAKE_ON): Phase.PREPARED,
    (Phase.PREPARED, Move.CONFIRM): Phase.LIVE,
    (Phase.LIVE, Move.END): Phase.ENDED,
    # The session before the operation can end under it; who follows is still the operation's.
    (Phase.PREPARED, Move.END): Phase.PREPARED,
    (Phase.LEFT_OVER, Move.END): Phase.LEFT_OVER,
}
REFUSED = frozenset({
    (Phase.ABSENT, Move.TAKE_ON),
    (Phase.ABSENT, Move.CONFIRM),
    (Phase.ABSENT, Move.END),
    (Phase.PREPARED, Move.PREPARE),
    (Phase.PREPARED, Move.TAKE_ON),
    (Phase.LEFT_OVER, Move.PREPARE),
    (Phase.LEFT_OVER, Move.CONFIRM),
    (Phase.LIVE, Move.TAKE_ON),
    (Phase.LIVE, Move.CONFIRM),
    (Phase.ENDED, Move.TAKE_ON),
    (Phase.ENDED, Move.CONFIRM),
    (Phase.ENDED, Move.END),
})  # fmt: skip


def phase(
    state: LocalState, worker_id: WorkerId, room_id: RoomId, *, operation_id: str | None = None
) -> Phase:
    """Return how far the worker has come in the room, as `operation_id` sees it."""
    place = _place(state, worker_id, room_id)
    if place.pending is not None:
        mine = place.pending.operation_id == operation_id
        return Phase.PREPARED if mine else Phase.LEFT_OVER
    stored = _stored(state, place)
    if stored is None:
        return Phase.ABSENT
    return Phase.LIVE if stored.ended_at is None else Phase.ENDED


def take_on(
    state: LocalState, worker_id: WorkerId, room_id: RoomId, *, operation_id: str
) -> tuple[LocalState, Pending | None]:
    """Make the operation that was left over one's own; return it, or None if there is none (C5).

    Raises:
        UnknownWorker: this machine has no such worker.
    """
    place = _place(state, worker_id, room_id)
    found = phase(state, worker_id, room_id, operation_id=operation_id)
    if place.pending is None or (found, Move.TAKE_ON) not in MOVES:
        return state, None
    pending = attrs.evolve(place.pending, operation_id=operation_id)
    return _with_place(state, worker_id, room_id, attrs.evolve(place, pending=pending)), pending


def begin(
    state: LocalState,
    worker_id: WorkerId,
    room_id: RoomId,
    *,
    operation_id: str,
    token: Token,
) -> tuple[LocalState, Pending]:
    """Write down that a connection under `token` will be asked for (C1, C2).

    Raises:
        UnknownWorker: this machine has no such worker.
        RegistrationConflict: another operation is not settled yet.
    """
    if (phase(state, worker_id, room_id), Move.PREPARE) not in MOVES:
        raise _conflict(worker_id, room_id, "is under way")
    place = _place(state, worker_id, room_id)
    before = _stored(state, place)
    pending = Pending(
        operation_id,
        token,
        predecessor_id=before.session_id if before else None,
        predecessor_token=before.session_token if before else None,
    )
    return _with_place(state, worker_id, room_id, attrs.evolve(place, pending=pending)), pending


def finish(
    state: LocalState,
    worker_id: WorkerId,
    room_id: RoomId,
    *,
    operation_id: str,
    session: StoredSession,
) -> LocalState:
    """Settle the operation with the session that the room answered (C3, C4).

    Raises:
        UnknownWorker: this machine has no such worker.
        RegistrationConflict: the operation was superseded, or `session` is not what it asked for.
    """
    if (phase(state, worker_id, room_id, operation_id=operation_id), Move.CONFIRM) not in MOVES:
        raise _conflict(worker_id, room_id, "went first")
    place = _place(state, worker_id, room_id)
    if place.pending is None or not _answers(session, place.pending, worker_id, room_id):
        raise RegistrationConflict(
            f"{room_id} answered with a session that {worker_id} did not ask for.",
            remedy="Upgrade the server of that room, or use a local room.",
        )
    settled = attrs.evolve(place, session_id=session.session_id, pending=None)
    sessions = with_session(state, session)
    return attrs.evolve(_with_place(state, worker_id, room_id, settled), sessions=sessions)


def abandon(
    state: LocalState, worker_id: WorkerId, room_id: RoomId, *, operation_id: str
) -> LocalState:
    """Take back an operation of which it is certain that the room did not carry it out (C8)."""
    if phase(state, worker_id, room_id, operation_id=operation_id) is not Phase.PREPARED:
        return state
    place = attrs.evolve(_place(state, worker_id, room_id), pending=None)
    return _with_place(state, worker_id, room_id, place)


def end_session(
    state: LocalState, session_id: SessionId, *, now: datetime, token: Token | None = None
) -> tuple[LocalState, StoredSession | None]:
    """Note that the session ended at `now`; return it, or None if nothing may be ended (C6, C7)."""
    stored = state.sessions.get(str(session_id))
    if stored is None or not _may_end(stored, token):
        return state, None
    if stored.ended_at is not None:
        return state, stored
    over = ended(stored, now=now)
    current = {
        room_id: named
        for room_id, named in state.current_session_ids.items()
        if named != over.session_id
    }
    sessions = {**state.sessions, over.session_id: over}
    return attrs.evolve(state, sessions=sessions, current_session_ids=current), over


def still_held(
    state: LocalState,
    worker_id: WorkerId,
    room_id: RoomId,
    *,
    held: Token | None,
    ended_allowed: bool = False,
) -> StoredSession:
    """Return the worker's stored session, if `held` is its connection's secret (C9).

    Raises:
        NotConnected: nothing is held, or nothing is stored.
        SessionEnded: the session ended, and `ended_allowed` is not said.
        ConnectionReplaced: another process holds it now, or is about to.
    """
    place = _place(state, worker_id, room_id)
    stored = _stored(state, place)
    if held is None or stored is None:
        raise NotConnected(worker_id, room_id, "this process has not connected it")
    if not fencing.same(held, stored.session_token):
        raise ConnectionReplaced(worker_id, room_id, "a newer process holds its connection now")
    if place.pending is not None:
        raise ConnectionReplaced(worker_id, room_id, "another registration of it is under way")
    if stored.ended_at is not None and not ended_allowed:
        raise SessionEnded(worker_id, room_id, "its session in the room has ended")
    return stored


def _place(state: LocalState, worker_id: WorkerId, room_id: RoomId) -> WorkerRoom:
    return _worker(state, worker_id).rooms.get(str(room_id)) or WorkerRoom()


def _worker(state: LocalState, worker_id: WorkerId) -> Worker:
    worker = state.workers.get(worker_id)
    if worker is None:
        raise UnknownWorker(worker_id)
    return worker


def _stored(state: LocalState, place: WorkerRoom) -> StoredSession | None:
    return state.sessions.get(place.session_id or "")


def _with_place(
    state: LocalState, worker_id: WorkerId, room_id: RoomId, place: WorkerRoom
) -> LocalState:
    worker = _worker(state, worker_id)
    worker = attrs.evolve(worker, rooms={**worker.rooms, str(room_id): place})
    return attrs.evolve(state, workers={**state.workers, worker_id: worker})


def _conflict(worker_id: WorkerId, room_id: RoomId, why: str) -> RegistrationConflict:
    return RegistrationConflict(
        f"Another registration of {worker_id} in {room_id} {why}.",
        remedy=f"Call register_agent_session(worker_id={str(worker_id)!r}, "
        f"room_id={str(room_id)!r}) again if this chat is still the one that works.",
    )


def _answers(session: StoredSession, asked: Pending, worker_id: WorkerId, room_id: RoomId) -> bool:
    return (
        fencing.same(session.session_token, asked.connection_token)
        and session.agent_instance_id == str(worker_id)
        and session.room_id == str(room_id)
    )


def _may_end(stored: StoredSession, token: Token | None) -> bool:
    if token is None:
        return stored.worker_id is None
    return fencing.same(token, stored.session_token)
