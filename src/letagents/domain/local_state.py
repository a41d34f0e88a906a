"""What one machine must not forget between runs: its workers, their sessions, the rooms it knows.

H1  A session is saved under its id, and becomes its room's current one unless told not to.
H2  A room's current session is the one last made so, unless it ended; over all, the newest.
H3  In a local room one agent has one live session: saving the next one ends those before it.
H4  Joining a room again keeps what is not said anew, and makes it the current room.
H5  Touching a room that is not known creates nothing.
H6  A sign-in that has expired counts as none; an expiry that names no moment never comes.
H7  A machine has one name; whoever makes it up first decides.
H8  How far a room was read never goes back, whoever writes it down last.
H9  A sign-in that does not say whose it is counts as nobody's, and not as none.
"""

import enum
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

import attrs

from letagents.domain.errors import Malformed
from letagents.domain.ids import MessageId, RoomId, Token, WorkerId

Raw = Mapping[str, object]

LONG_AGO: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""Stands for a moment that another program's record leaves out or spells unreadably."""


class Kept(enum.Enum):
    """Says that a field stays as it is, where None would say that it is emptied."""

    AS_IT_IS = "as it is"


# --- values -------------------------------------------------------------------------------------


@attrs.frozen(repr=False, str=False)
class ForeignToken(Token):
    """A secret in a form that is not ours, as another program stored it."""

    shape = re.compile(r"[^\ud800-\udfff]*")
    called = "a stored secret"
    expected = "a stored secret"


@attrs.frozen
class Pending:
    """A connection that was prepared and not settled yet, and the secret it was asked under."""

    operation_id: str
    connection_token: Token
    predecessor_id: str | None = None
    predecessor_token: Token | None = None
    extra: Raw = attrs.field(factory=dict, repr=False)


@attrs.frozen
class WorkerRoom:
    """A worker's place in one room, as far as this machine knows."""

    session_id: str | None = None
    pending: Pending | None = None
    extra: Raw = attrs.field(factory=dict, repr=False)


@attrs.frozen
class Worker:
    """A chat's lasting handle; `rooms` by room id."""

    worker_id: WorkerId
    scope: str
    registration_key_hash: str = attrs.field(repr=False)
    display_name: str
    rooms: Mapping[str, WorkerRoom] = attrs.field(factory=dict)
    extra: Raw = attrs.field(factory=dict, repr=False)


@attrs.frozen(kw_only=True)
class StoredSession:
    """A session with its newest known secret. `ended_at` says since when it is over."""

    session_id: str
    session_token: Token
    supervisor_context_cwd: str | None = attrs.field(default=None, repr=False)
    room_id: str
    session_kind: str = "worker"
    runtime: str = ""
    host_id: str | None = None
    host_kind: str | None = None
    host_label: str | None = None
    liveness_capability: str | None = None
    tool_bridge_id: str | None = None
    actor_label: str = ""
    agent_key: str = ""
    agent_instance_id: str | None = None
    display_name: str = ""
    requested_base_display_name: str | None = None
    owner_label: str = ""
    ide_label: str = ""
    repo_branch: str | None = None
    created_at: datetime = LONG_AGO
    updated_at: datetime = LONG_AGO
    last_seen_at: datetime = LONG_AGO
    ended_at: datetime | None = None
    extra: Raw = attrs.field(factory=dict, repr=False)

    @property
    def worker_id(self) -> WorkerId | None:
        """The worker with a lasting handle whose session this is, if it is one's."""
        instance = self.agent_instance_id
        if instance is not None and WorkerId.fits(instance):
            return WorkerId(instance)
        return None


@attrs.frozen(kw_only=True)
class RoomSession:
    """A room that this machine joined, and how far it has read there."""

    room_id: str
    project_id: str | None = None
    code: str | None = None
    display_name: str | None = None
    git_room: object = None
    joined_via: str = ""
    joined_at: datetime = LONG_AGO
    last_seen_at: datetime = LONG_AGO
    last_message_id: str | None = None
    extra: Raw = attrs.field(factory=dict, repr=False)


@attrs.frozen(kw_only=True)
class LocalState:
    """Everything that is remembered.

    `extra` holds, as it was read, what no rule here interprets: sign-in, identities, the entries of
    other programs, and whatever newer versions add.
    """

    workers: Mapping[WorkerId, Worker] = attrs.field(factory=dict)
    sessions: Mapping[str, StoredSession] = attrs.field(factory=dict)
    current_session_ids: Mapping[str, str] = attrs.field(factory=dict)
    current_room: RoomSession | None = None
    rooms: Mapping[str, RoomSession] = attrs.field(factory=dict)
    local_host_id: str | None = None
    extra: Raw = attrs.field(factory=dict, repr=False)


@attrs.frozen
class Account:
    """Who is signed in."""

    id: str | None
    login: str
    display_name: str | None = None


# --- sessions -----------------------------------------------------------------------------------


def save_session(
    state: LocalState, session: StoredSession, *, make_current: bool = True
) -> LocalState:
    """Remember `session` in place of the one with its id (H1)."""
    saved = attrs.evolve(state, sessions=with_session(state, session))
    if not make_current:
        return saved
    current = {**state.current_session_ids, session.room_id: session.session_id}
    return attrs.evolve(saved, current_session_ids=current)


def with_session(state: LocalState, session: StoredSession) -> dict[str, StoredSession]:
    """Return the sessions of a state with that one in the place of what has its id.

    Where its supervisor says which it is stays known: whoever opens it again may not say.
    """
    known = state.sessions.get(session.session_id)
    if known is not None and session.supervisor_context_cwd is None:
        session = attrs.evolve(session, supervisor_context_cwd=known.supervisor_context_cwd)
    return {**state.sessions, session.session_id: session}


def with_context(state: LocalState, session_id: str, folder: str) -> LocalState:
    """Return the state with the folder in which a session's supervisor says which it is."""
    known = state.sessions.get(session_id)
    if known is None or known.supervisor_context_cwd == folder:
        return state
    told = attrs.evolve(known, supervisor_context_cwd=folder)
    return attrs.evolve(state, sessions={**state.sessions, session_id: told})


def replace_local_worker(state: LocalState, session: StoredSession) -> LocalState:
    """Save `session` and end the agent's other sessions in its room (H3)."""
    sessions = {
        session_id: ended(other, now=session.created_at) if _comes_before(other, session) else other
        for session_id, other in state.sessions.items()
    }
    return save_session(attrs.evolve(state, sessions=sessions), session)


def _comes_before(other: StoredSession, session: StoredSession) -> bool:
    return (
        other.session_id != session.session_id
        and other.session_kind == "worker"
        and other.room_id == session.room_id
        and other.agent_key == session.agent_key
        and other.ended_at is None
    )


def ended(session: StoredSession, *, now: datetime) -> StoredSession:
    """Return `session` as it is after its end at `now`."""
    return attrs.evolve(session, ended_at=now, updated_at=now, last_seen_at=now)


def current_session(state: LocalState, room_id: RoomId | None = None) -> StoredSession | None:
    """Return the session that speaks in `room_id`, or without one the newest of any room (H2)."""
    if room_id is not None:
        named = [state.current_session_ids.get(str(room_id), "")]
    else:
        named = list(state.current_session_ids.values())
    known = [state.sessions[session_id] for session_id in named if session_id in state.sessions]
    alive = [session for session in known if session.ended_at is None]
    return max(alive, key=lambda session: session.updated_at, default=None)


def live_workers(state: LocalState, room_id: RoomId) -> tuple[StoredSession, ...]:
    """Return the room's worker sessions that have not ended, oldest first."""
    found = [
        one
        for one in state.sessions.values()
        if one.room_id == str(room_id) and one.session_kind == "worker" and one.ended_at is None
    ]
    return tuple(sorted(found, key=lambda one: (one.created_at, one.session_id)))


def lineage(state: LocalState, room_id: RoomId, agent_key: str) -> tuple[StoredSession, ...]:
    """Return all sessions that one agent ever had in the room, newest first."""
    found = [
        one
        for one in state.sessions.values()
        if agent_key and one.room_id == str(room_id) and one.agent_key == agent_key
    ]
    return tuple(sorted(found, key=lambda one: one.updated_at, reverse=True))


# --- rooms --------------------------------------------------------------------------------------


def save_room(
    state: LocalState,
    room_id: RoomId,
    *,
    joined_via: str,
    now: datetime,
    project_id: str | None = None,
    code: str | None = None,
    display_name: str | None = None,
    git_room: object = Kept.AS_IT_IS,
    last_message_id: str | None = None,
) -> tuple[LocalState, RoomSession]:
    """Remember that the room was joined, and make it the current one (H4)."""
    known = state.rooms.get(str(room_id)) or RoomSession(room_id=str(room_id), joined_at=now)
    room = attrs.evolve(
        known,
        project_id=known.project_id if project_id is None else project_id,
        code=known.code if code is None else code,
        display_name=known.display_name if display_name is None else display_name,
        git_room=known.git_room if git_room is Kept.AS_IT_IS else git_room,
        joined_via=joined_via,
        last_seen_at=now,
        last_message_id=known.last_message_id if last_message_id is None else last_message_id,
    )
    return _with_room(state, room, current=True), room


def touch_room(
    state: LocalState, room_id: RoomId, *, now: datetime, last_message_id: str | None = None
) -> tuple[LocalState, RoomSession | None]:
    """Note that the room was seen at `now`, and how far it was read if that is given (H5)."""
    known = state.rooms.get(str(room_id))
    if known is None:
        return state, None
    read_to = _further(known.last_message_id, last_message_id)
    room = attrs.evolve(known, last_seen_at=now, last_message_id=read_to)
    is_current = state.current_room is not None and state.current_room.room_id == room.room_id
    return _with_room(state, room, current=is_current), room


def _further(known: str | None, seen: str | None) -> str | None:
    """Return the later of two messages; what is no id of a message gives way to what was seen."""
    if seen is None or known is None:
        return seen or known
    try:
        return str(max(MessageId.parse(known), MessageId.parse(seen)))
    except Malformed:
        return seen


def _with_room(state: LocalState, room: RoomSession, *, current: bool) -> LocalState:
    return attrs.evolve(
        state,
        rooms={**state.rooms, room.room_id: room},
        current_room=room if current else state.current_room,
    )


# --- the machine and its owner ------------------------------------------------------------------


def ensure_host_id(state: LocalState, fresh: str) -> tuple[LocalState, str]:
    """Return the machine's name; it becomes `fresh` if it had none (H7)."""
    if state.local_host_id is not None and state.local_host_id.strip():
        return state, state.local_host_id
    return attrs.evolve(state, local_host_id=fresh), fresh


def account(state: LocalState, *, now: datetime) -> Account | None:
    """Return who is signed in at `now` (H6)."""
    auth = state.extra.get("auth")
    if not isinstance(auth, Mapping) or _is_over(auth.get("expires_at"), now):
        return None
    who = auth.get("account")
    if not isinstance(who, Mapping):
        return None
    login = _text(who.get("login"))
    if login is None:
        return None
    return Account(_text(who.get("id")), login, _text(who.get("display_name")))


def stored_token(state: LocalState, *, now: datetime) -> str | None:
    """Return the secret of the sign-in that is in force at `now`, if there is one (H6)."""
    auth = state.extra.get("auth")
    if not isinstance(auth, Mapping) or _is_over(auth.get("expires_at"), now):
        return None
    return _text(auth.get("token"))


def is_unverified(state: LocalState, *, now: datetime) -> bool:
    """Whether somebody is signed in at `now` of whom it is not known who it is (H9)."""
    return stored_token(state, now=now) is not None and account(state, now=now) is None


def _text(value: object) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _is_over(expiry: object, now: datetime) -> bool:
    try:
        moment = datetime.fromisoformat(str(expiry))
    except ValueError:
        return False
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) <= now
