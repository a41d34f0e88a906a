"""The life of an intent: asked for, approved or denied, used once or overtaken.

P12  An intent is pending for a day and, once approved, good for thirty minutes; then it expired.
     A clock that people set changes nothing of that, as long as the machine runs.
P16  An approval is void once its task was changed after it; a pending intent once its task has
     moved past or away from what was asked; both once the manager mode was changed.
P17  The same payload by the same proposer again is the same intent, as long as it is open.
P18  A decision stands: the same decision again changes nothing, and the other one is refused.
P20  Of workers, only the live manager of the board decides; of others, only an admin of the room.
"""

import enum
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

import attrs

from letagents.domain import governance
from letagents.domain.denials import IntentNotFound, NotTheManager, TooManyIntents
from letagents.domain.governance import Manager
from letagents.domain.ids import SessionId, quoted
from letagents.domain.intents import Action, Payload
from letagents.domain.sessions import Session, SessionKind
from letagents.domain.ticks import Tick, elapsed

PENDING_TERM = timedelta(hours=24)
APPROVAL_TERM = timedelta(minutes=30)
OPEN_LIMIT = 200
"""Intents that a room has open at most, and an answer lists. (Source: hosted-api 3.9.)"""
OPEN_LIMIT_EACH = 50
"""Of these, so many are one proposer's."""


class IntentStatus(enum.Enum):
    """How far an intent is."""

    PENDING = "pending"
    APPROVED = "approved"
    USED = "used"
    DENIED = "denied"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"

    @property
    def is_open(self) -> bool:
        """Whether something can still come of it."""
        return self in (IntentStatus.PENDING, IntentStatus.APPROVED)


class Voided(enum.Enum):
    """What superseded an intent."""

    TASK_CHANGED = "task_changed"
    MODE_CHANGED = "mode_changed"


@attrs.frozen
class Proposer:
    """The worker that asks."""

    actor_label: str
    agent_key: str
    instance_id: str
    session_id: SessionId

    @classmethod
    def of(cls, session: Session) -> "Proposer":
        """Return the worker whose session it is."""
        return cls(session.actor_label, session.agent_key, session.instance_id, session.session_id)


@attrs.frozen
class Standing:
    """How a task stands. `mark` is another one after every change of the task."""

    status: str
    mark: str


@attrs.frozen(kw_only=True)
class Intent:
    """Something to be approved. `standing` is how its task stood when that was last looked at."""

    number: int
    action: Action
    payload: dict[str, str | None]
    created_at: datetime
    updated_at: datetime
    expires_at: datetime
    task_id: str | None = None
    proposer: Proposer | None = None
    standing: Standing | None = None
    status: IntentStatus = IntentStatus.PENDING
    decision_by: str | None = None
    decision_reason: str | None = None
    decided_at: datetime | None = None
    token_digest: str | None = None
    escalated_at: datetime | None = None
    auto_approved: bool = False
    voided: Voided | None = None
    counted_from: Tick | None = None
    """Since when it is pending, or approved, on the steady clock; `expires_at` is for people."""

    @property
    def intent_id(self) -> str:
        """Its name in the room."""
        return f"intent_{self.number}"


def propose(
    number: int,
    action: Action,
    payload: Payload,
    *,
    by: Session | None,
    standing: Standing | None,
    now: datetime,
    tick: Tick | None = None,
) -> Intent:
    """Return a new intent."""
    return Intent(
        number=number,
        action=action,
        payload=dict(payload),
        task_id=payload.get("task_id"),
        proposer=Proposer.of(by) if by else None,
        standing=standing,
        created_at=now,
        updated_at=now,
        expires_at=now + PENDING_TERM,
        counted_from=tick,
    )


def repeated(
    opened: Iterable[Intent], action: Action, payload: Payload, by: Session | None
) -> Intent | None:
    """Return the open intent that this is a repetition of (P15)."""
    key = by.agent_key if by else None
    for intent in opened:
        proposer = intent.proposer.agent_key if intent.proposer else None
        if (intent.action, proposer, intent.payload) == (action, key, dict(payload)):
            return intent
    return None


def check_room_for_more(all_open: int, own_open: int) -> None:
    """Allow one more open intent.

    Raises:
        TooManyIntents: too many wait already.
    """
    if all_open < OPEN_LIMIT and own_open < OPEN_LIMIT_EACH:
        return
    own = own_open >= OPEN_LIMIT_EACH
    happened = f"{own_open if own else all_open} board intents {'of yours' if own else ''} are open"
    raise TooManyIntents(
        f"{' '.join(happened.split())}, which is as many as there can be.",
        remedy="Wait until some are decided: list_board_intents(status='pending') shows them.",
    )


_CLOSED: Final = ("merged", "done", "cancelled")
_CLAIMABLE: Final = ("proposed", "accepted")


def as_it_stands(
    intent: Intent, now: datetime, standing: Standing | None, tick: Tick | None = None
) -> Intent:
    """Return the intent as it is now: expired, superseded, or as it was (P12, P16).

    `standing` is how its task stands now.
    """
    if not intent.status.is_open:
        return intent
    if _is_over(intent, now, tick):
        return attrs.evolve(intent, status=IntentStatus.EXPIRED, updated_at=now)
    if intent.task_id is not None and _is_overtaken(intent, standing):
        return superseded(intent, Voided.TASK_CHANGED, now)
    return intent


def _is_over(intent: Intent, now: datetime, tick: Tick | None) -> bool:
    """Whether its time is over (P12): after a restart of the machine the wall clock tells."""
    since = intent.counted_from
    if since is None or tick is None or since.boot != tick.boot:
        return now >= intent.expires_at
    is_approved = intent.status is IntentStatus.APPROVED
    return elapsed(since, tick) >= (APPROVAL_TERM if is_approved else PENDING_TERM)


def _is_overtaken(intent: Intent, standing: Standing | None) -> bool:
    before, asked = intent.standing, intent.payload.get("status")
    if before is None or before == standing:
        return False
    if standing is None or intent.status is IntentStatus.APPROVED:
        return True
    if standing.status == before.status:
        return False
    if intent.action is Action.TASK_CLAIM:
        return standing.status not in _CLAIMABLE
    is_over = standing.status in _CLOSED and not (standing.status == "merged" and asked == "done")
    return standing.status == asked or is_over


def superseded(intent: Intent, why: Voided, now: datetime) -> Intent:
    """Return the intent after something made it void."""
    return attrs.evolve(intent, status=IntentStatus.SUPERSEDED, voided=why, updated_at=now)


def approve(
    intent: Intent,
    *,
    by: str,
    reason: str | None,
    token_digest: str | None,
    standing: Standing | None,
    now: datetime,
    tick: Tick | None = None,
) -> Intent:
    """Return a pending intent after it was approved."""
    return attrs.evolve(
        intent,
        status=IntentStatus.APPROVED,
        decision_by=by,
        decision_reason=reason,
        decided_at=now,
        updated_at=now,
        expires_at=now + APPROVAL_TERM,
        counted_from=tick,
        token_digest=token_digest,
        standing=standing,
    )


def deny(intent: Intent, *, by: str, reason: str | None, now: datetime) -> Intent:
    """Return a pending intent after it was denied."""
    return attrs.evolve(
        intent,
        status=IntentStatus.DENIED,
        decision_by=by,
        decision_reason=reason,
        decided_at=now,
        updated_at=now,
    )


def used(intent: Intent, now: datetime, *, task_id: str | None = None) -> Intent:
    """Return an approved intent after it was used; `task_id` is the task that it made."""
    return attrs.evolve(
        intent, status=IntentStatus.USED, task_id=task_id or intent.task_id, updated_at=now
    )


def check_decider(by: Session | None, manager: Manager | None, *, is_admin: bool) -> None:
    """Allow deciding: to the live manager among workers, and else to an admin (P20).

    `manager` is the assignment that holds, if its session has not ended.

    Raises:
        NotTheManager, AdminRequired: it is not theirs to decide.
    """
    if by is None or by.kind is not SessionKind.WORKER:
        governance.check_admin(is_admin=is_admin, what="decide board intents")
    elif manager is None or manager.session_id != by.session_id:
        raise NotTheManager(manager.actor_label if manager else None)


def to_decide(intent: Intent | None, intent_id: str, *, approving: bool) -> Intent | None:
    """Return `intent`, as it stands, if it can be decided; None if it was decided so (P16).

    Raises:
        IntentNotFound: there is none, or it is over, or it was decided otherwise.
    """
    if intent is not None and intent.status is IntentStatus.PENDING:
        return intent
    done = (IntentStatus.APPROVED, IntentStatus.USED) if approving else (IntentStatus.DENIED,)
    if intent is not None and intent.status in done:
        return None
    was = f"it is {intent.status.value}" if intent else "there is none"
    raise IntentNotFound(
        f"Pending board intent not found: {quoted(intent_id)[1:-1]} cannot be decided, {was}.",
        remedy="list_board_intents(status='pending') shows those that can.",
    )
