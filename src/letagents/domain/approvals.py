"""The life of an intent: asked for, approved or denied, used once or overtaken.

P12  An intent is pending for a day and, once approved, good for thirty minutes; then it expired.
P13  An approval is used once: an intent goes from approved to used and never back.
P14  It lets exactly its action with exactly its payload through, nothing like it.
P15  It is used by the worker that proposed: with the token of the approval, or without one from
     the session that proposed. Nobody else can use it, not even with the token.
P16  An approval is void once its task was changed after it; a pending intent once its task has
     moved past or away from what was asked; both once the manager mode was changed.
P17  The same payload by the same proposer again is the same intent, as long as it is open.
P18  A decision stands: the same decision again changes nothing, and the other one is refused.
"""

import enum
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

import attrs

from letagents.domain import fencing
from letagents.domain.denials import (
    IntentActionMismatch,
    IntentExpired,
    IntentManagerChanged,
    IntentNotApproved,
    IntentNotFound,
    IntentPayloadMismatch,
    IntentPending,
    IntentRequired,
    IntentTaskChanged,
    IntentTokenInvalid,
    IntentWorkerMismatch,
    IntentWorkerUnverified,
    TooManyIntents,
)
from letagents.domain.ids import SessionId, quoted
from letagents.domain.intents import Action, ApprovalToken, Payload, asking
from letagents.domain.sessions import Session

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


def as_it_stands(intent: Intent, now: datetime, standing: Standing | None) -> Intent:
    """Return the intent as it is now: expired, superseded, or as it was (P10, P14).

    `standing` is how its task stands now.
    """
    if not intent.status.is_open:
        return intent
    if now >= intent.expires_at:
        return attrs.evolve(intent, status=IntentStatus.EXPIRED, updated_at=now)
    if intent.task_id is not None and _is_overtaken(intent, standing):
        return superseded(intent, Voided.TASK_CHANGED, now)
    return intent


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


def spent(
    intent: Intent,
    action: Action,
    payload: Payload,
    *,
    by: Session,
    token: ApprovalToken | None,
    now: datetime,
    standing: Standing | None,
) -> Intent:
    """Return the intent after `by` used its approval for `payload`.

    Raises:
        IntentActionMismatch, IntentExpired, IntentNotApproved, IntentTaskChanged,
        IntentManagerChanged, IntentTokenInvalid, IntentWorkerMismatch, IntentWorkerUnverified,
        IntentPayloadMismatch: it does not let that through.
    """
    again = asking(action, payload)
    if intent.action is not action:
        raise IntentActionMismatch(
            f"{intent.intent_id} is for {intent.action.value}, not for {action.value}.",
            remedy=f"Ask for this: {again}.",
        )
    _check_good(as_it_stands(intent, now, standing), intent, again)
    _check_whose(intent, by, token, again)
    if intent.payload != dict(payload):
        raise _other_payload(intent, payload, again)
    return used(intent, now)


def _check_good(now_is: Intent, was: Intent, again: str) -> None:
    """Let only what is approved pass."""
    name, status = was.intent_id, now_is.status
    if status is IntentStatus.APPROVED:
        return
    if status is IntentStatus.EXPIRED:
        what = f"The approval of {name} has expired" if was.token_digest else f"{name} has expired"
        raise IntentExpired(f"{what}.", remedy=f"Ask again: {again}.")
    if now_is.voided is Voided.MODE_CHANGED:
        raise IntentManagerChanged(
            f"{name} is void: the manager mode was changed since.", remedy=f"Ask again: {again}."
        )
    if status is IntentStatus.SUPERSEDED:
        raise IntentTaskChanged(
            f"{name} is void: {was.task_id} was changed since.",
            remedy=f"Look with get_board() whether it is still to be done, then {again}.",
        )
    if status is IntentStatus.PENDING:
        raise IntentPending(
            f"{name} is pending, not approved.",
            remedy="Wait with wait_for_messages: the room tells you of the decision.",
        )
    raise IntentNotApproved(
        f"{name} is {status.value}, not approved.", remedy=f"Ask again if it is needed: {again}."
    )


def _check_whose(intent: Intent, by: Session, token: ApprovalToken | None, again: str) -> None:
    if token is not None and not _is_token_of(token, intent):
        raise IntentTokenInvalid(
            f"board_approval_token: this is not the token of {intent.intent_id}.",
            remedy="The session that proposed it leaves the token out and passes board_intent_id "
            "alone.",
        )
    proposer = intent.proposer
    if proposer is None and token is None:
        raise IntentWorkerUnverified(
            f"{intent.intent_id} was not proposed by a worker.",
            remedy=f"Pass its board_approval_token, or ask yourself: {again}.",
        )
    if proposer is not None and not _is_proposer(proposer, by, has_token=token is not None):
        raise IntentWorkerMismatch(
            f"{intent.intent_id} was proposed by {proposer.agent_key} in another session or by "
            "another worker.",
            remedy=f"Ask yourself: {again}.",
        )


def _is_token_of(token: ApprovalToken, intent: Intent) -> bool:
    return intent.token_digest is not None and fencing.matches(token, intent.token_digest)


def _is_proposer(proposer: Proposer, by: Session, *, has_token: bool) -> bool:
    same_session = proposer.session_id == by.session_id
    return proposer.agent_key == by.agent_key and (has_token or same_session)


def _other_payload(intent: Intent, payload: Payload, again: str) -> IntentPayloadMismatch:
    names = sorted({*intent.payload, *payload})
    differing = [name for name in names if intent.payload.get(name) != payload.get(name)]
    return IntentPayloadMismatch(
        f"{intent.intent_id} was approved with another {', '.join(differing)}.",
        remedy=f"Call with exactly what was approved (list_board_intents shows it), or {again}.",
    )


def required(action: Action, payload: Payload, own: Intent | None) -> IntentRequired:
    """Return the error for a call without an approval; `own` is the caller's intent for it."""
    happened = f"This room wants a {action.value} approved by its Board Manager or owner first."
    if own is None:
        return IntentRequired(
            happened,
            remedy=f"Call {asking(action, payload)}, wait for the room's message that it is "
            "approved, then make this call again with its board_intent_id.",
        )
    if own.status is IntentStatus.APPROVED:
        again = f"{own.intent_id} is approved: make this call again with board_intent_id="
        return IntentRequired(happened, remedy=f"{again}{own.intent_id!r}.")
    return IntentRequired(
        happened,
        remedy=f"{own.intent_id} asks for it and is pending: wait_for_messages tells you of the "
        "decision.",
    )
