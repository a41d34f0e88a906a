"""Who decides about a board: how much has to be approved, and the worker that manages it.

P1  Off asks for no approval; manager_optional for one while a worker manages the board that is not
    dead (P3); intent_required always. Only what agents do is asked about.
P2  A manager manages as long as its session has not ended; the next one takes the place of the one
    before.
P3  A manager is dead once its session ended, or once it was silent for five minutes by the steady
    clock and its process is not known to be there. A wall clock that is set kills nobody.
P4  A manager is reachable if it is not dead and its process is not known to be gone.
P5  Of the others, the one whose process is there succeeds a dead manager, then the one of whom
    nothing is known, then the one that was seen last.
"""

import enum
from collections.abc import Collection
from datetime import datetime, timedelta

import attrs

from letagents.domain.errors import LetAgentsError, Malformed
from letagents.domain.ids import SessionId, quoted
from letagents.domain.sessions import Session, SessionKind
from letagents.domain.tasks import AdminRequired
from letagents.domain.ticks import Tick, elapsed

SILENCE = timedelta(minutes=5)
"""So long a manager may be silent. (Source: hosted-api 6.)"""

FAILOVER = "letagents:manager_failover"
ESCALATION = "letagents:intent_escalation"
OWNER = "the room's owner"
"""Who acts where no session does."""


class ManagerMode(enum.Enum):
    """How much of what agents do to the board has to be approved."""

    OFF = "off"
    MANAGER_OPTIONAL = "manager_optional"
    INTENT_REQUIRED = "intent_required"


class Failover(enum.Enum):
    """What happens when a manager is dead: nothing, a message, or another manager."""

    OFF = "off"
    ANNOUNCE = "announce"
    AUTO = "auto"


class ManagerStatus(enum.Enum):
    """Whether an assignment holds."""

    ACTIVE = "active"
    RELEASED = "released"


class RuntimeSource(enum.Enum):
    """Who runs a manager."""

    DESKTOP_MANAGED = "desktop_managed"
    OPEN_MODEL = "open_model"
    EXTERNAL = "external"
    UNKNOWN = "unknown"


class NoSuchSession(LetAgentsError):
    """The session that should manage the board is no live worker's of this room."""

    code = "agent_session_not_found"


@attrs.frozen(kw_only=True)
class BoardSettings:
    """How a room's board is governed. Without moments they are what every room begins with."""

    manager_mode: ManagerMode = ManagerMode.MANAGER_OPTIONAL
    manager_failover: Failover = Failover.AUTO
    revision: int = 0
    updated_by: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    stall_nudged_at: datetime | None = None
    """When the room told last that nothing is open on its board."""


@attrs.frozen(kw_only=True)
class Manager:
    """One assignment of a worker as manager of the board.

    `outages` counts how often it was said to be away, and `is_away` that it was and is.
    """

    number: int
    session_id: SessionId
    agent_key: str
    actor_label: str
    assigned_by: str
    assigned: Tick
    created_at: datetime
    updated_at: datetime
    runtime_source: RuntimeSource = RuntimeSource.UNKNOWN
    status: ManagerStatus = ManagerStatus.ACTIVE
    released_by: str | None = None
    release_reason: str | None = None
    released_at: datetime | None = None
    outages: int = 0
    is_away: bool = False

    @property
    def manager_id(self) -> str:
        """Its name in the room."""
        return f"manager_{self.number}"

    @property
    def is_active(self) -> bool:
        """Whether the assignment holds."""
        return self.status is ManagerStatus.ACTIVE


@attrs.frozen
class Candidate:
    """A worker that is in the room. `is_there` tells of its process; None where nobody can."""

    session: Session
    is_there: bool | None


def changed(
    settings: BoardSettings,
    *,
    mode: ManagerMode | None,
    failover: Failover | None,
    by: str,
    now: datetime,
) -> BoardSettings:
    """Return the settings after somebody changed what is given; the same if that is nothing."""
    after = attrs.evolve(
        settings,
        manager_mode=mode or settings.manager_mode,
        manager_failover=failover or settings.manager_failover,
    )
    if after == settings and settings.created_at is not None:
        return settings
    return attrs.evolve(
        after,
        revision=settings.revision + 1,
        updated_by=by,
        created_at=settings.created_at or now,
        updated_at=now,
    )


def assign(
    number: int,
    session: Session,
    *,
    runtime_source: RuntimeSource,
    by: str,
    now: datetime,
    tick: Tick,
) -> Manager:
    """Return the assignment of a worker."""
    return Manager(
        number=number,
        session_id=session.session_id,
        agent_key=session.agent_key,
        actor_label=session.actor_label,
        runtime_source=runtime_source,
        assigned_by=by,
        assigned=tick,
        created_at=now,
        updated_at=now,
    )


@attrs.frozen
class Evidence:
    """What a room knows of a manager's session: None if it has none; and of its process."""

    session: Session | None
    is_process_there: bool | None = None

    @property
    def is_live(self) -> bool:
        """Whether the session is there and has not ended."""
        return self.session is not None and self.session.ended_at is None


def needs_intent(mode: ManagerMode, *, is_managed: bool) -> bool:
    """Whether an agent needs an approved intent (P1)."""
    if mode is ManagerMode.MANAGER_OPTIONAL:
        return is_managed
    return mode is ManagerMode.INTENT_REQUIRED


def silence(manager: Manager, evidence: Evidence, tick: Tick) -> timedelta:
    """Return how long ago the manager gave its last sign, or was assigned."""
    seen = evidence.session.seen if evidence.session else None
    since_assigned = elapsed(manager.assigned, tick)
    return since_assigned if seen is None else min(since_assigned, elapsed(seen, tick))


def is_dead(manager: Manager, evidence: Evidence, tick: Tick) -> bool:
    """Whether somebody else has to manage (P3)."""
    if not evidence.is_live:
        return True
    return evidence.is_process_there is not True and silence(manager, evidence, tick) >= SILENCE


def is_reachable(manager: Manager, evidence: Evidence, tick: Tick) -> bool:
    """Whether the manager can be expected to decide (P4)."""
    return evidence.is_process_there is not False and not is_dead(manager, evidence, tick)


def successor(
    manager: Manager | None, others: Collection[tuple[Session, bool | None]], tick: Tick
) -> Session | None:
    """Return who manages next, of live sessions and whether their processes are there (P5).

    One whose process is known to be gone succeeds nobody.
    """
    able = [
        (session, there)
        for session, there in others
        if session.kind is SessionKind.WORKER
        and there is not False
        and (manager is None or session.session_id != manager.session_id)
    ]

    def last_sign(one: tuple[Session, bool | None]) -> tuple[bool, timedelta, datetime, str]:
        session, there = one
        seen = elapsed(session.seen, tick) if session.seen else timedelta.max
        return there is not True, seen, session.created_at, str(session.session_id)

    return min(able, key=last_sign)[0] if able else None


def release(manager: Manager, *, by: str, reason: str | None, now: datetime) -> Manager:
    """Return the assignment after it ended."""
    return attrs.evolve(
        manager,
        status=ManagerStatus.RELEASED,
        released_by=by,
        release_reason=reason,
        released_at=now,
        updated_at=now,
    )


def check_admin(*, is_admin: bool, what: str) -> None:
    """Allow what only admins may do.

    Raises:
        AdminRequired: the caller is none.
    """
    if not is_admin:
        raise AdminRequired(
            f"Admin privileges required: only an admin of the room may {what}.",
            remedy="Ask a person who is admin of the room; post_status tells them what you need.",
        )


def candidate(session: Session | None, session_id: SessionId) -> Session:
    """Return `session` if it can manage a board.

    Raises:
        NoSuchSession: it is not there, has ended, or is no worker's.
    """
    if session is None or session.ended_at is not None or session.kind is not SessionKind.WORKER:
        raise NoSuchSession(
            f"agent_session_id: Active agent session not found: {session_id} is no live worker's "
            "in this room.",
            remedy="Pass the agent_session_id that the worker got from register_agent_session.",
        )
    return session


def checked_session(value: object) -> SessionId:
    """Return the session that a call names as a target.

    Raises:
        Malformed: it has not the form of one.
    """
    if not SessionId.fits(value):
        raise Malformed(
            f"agent_session_id: {quoted(value)} is not the id of a session.",
            remedy="Pass the agent_session_id of the worker that is to manage the board.",
        )
    return SessionId(str(value))
