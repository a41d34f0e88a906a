"""Using an approval: what it lets through, and for whom.

P13  An approval is used once: an intent goes from approved to used and never back.
P14  It lets exactly its action with exactly its payload through, nothing like it.
P15  It is used by the worker that proposed: with the token of the approval, or without one from
     the session that proposed. Nobody else can use it, not even with the token.
"""

from datetime import datetime

from letagents.domain import fencing
from letagents.domain.approvals import (
    Intent,
    IntentStatus,
    Proposer,
    Standing,
    Voided,
    as_it_stands,
    used,
)
from letagents.domain.denials import (
    IntentActionMismatch,
    IntentExpired,
    IntentManagerChanged,
    IntentNotApproved,
    IntentPayloadMismatch,
    IntentPending,
    IntentRequired,
    IntentTaskChanged,
    IntentTokenInvalid,
    IntentWorkerMismatch,
    IntentWorkerUnverified,
)
from letagents.domain.intents import Action, ApprovalToken, Payload, asking
from letagents.domain.sessions import Session
from letagents.domain.ticks import Tick


def spent(
    intent: Intent,
    action: Action,
    payload: Payload,
    *,
    by: Session,
    token: ApprovalToken | None,
    now: datetime,
    standing: Standing | None,
    tick: Tick | None = None,
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
    _check_good(as_it_stands(intent, now, standing, tick), intent, again)
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
