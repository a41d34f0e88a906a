"""Whether anything could come of an intent: what an approval would let through can be done.

P21  What could not be done even with an approval is not asked for: what does not follow where its
     task stands, or what no call makes. What does not follow any more is not approved.
"""

from letagents.domain import leases, moves, tasks
from letagents.domain.approvals import Intent
from letagents.domain.denials import IntentNotPossible
from letagents.domain.errors import Malformed
from letagents.domain.intents import Action, Payload, action_of
from letagents.domain.leases import Lease, LeaseKind, LeaseMissing, StaleLeaseReference
from letagents.domain.moves import WrongStatus
from letagents.domain.sessions import Session
from letagents.domain.tasks import WORKING, InvalidTransition, Status, Task

_NAMES = ("assignee", "assignee_agent_key")


def check_form(action: Action, payload: Payload, by: Session | None) -> None:
    """Refuse a payload that no call has: an approval lets exactly its own through (P21).

    `by` is the worker that asks, or None if nobody knows which will use it.

    Raises:
        Malformed: there is no such call.
    """
    if "assignee" not in payload:
        return
    own = action_of(payload.get("status"))
    if action is Action.TASK_UPDATE and own is not action:
        raise Malformed(
            f"action_type: {payload['status']} is no task_update.",
            remedy=f"Pass action_type={own.value!r} with the same payload.",
        )
    if action is Action.TASK_CLAIM:
        _check_claimant(payload, by)
    elif named := next((name for name in _NAMES if payload[name] is not None), None):
        raise Malformed(
            f"payload.{named}: only a claim says who is to be on the task.",
            remedy="Leave it out; register_task_lease_action_intent asks to hand a task over.",
        )


def _check_claimant(payload: Payload, by: Session | None) -> None:
    own = (by.actor_label, by.agent_key) if by else [payload[name] for name in _NAMES]
    for name, its in zip(_NAMES, own, strict=True):
        if payload[name] is None or payload[name] != its:
            raise Malformed(
                f"payload.{name}: an agent claims for itself, under its own {name}.",
                remedy=f"register_task_claim_intent(task_id={payload['task_id']!r}) fills it in.",
            )


def check_follows(payload: Payload, task: Task, lease: Lease | None) -> None:
    """Refuse what cannot be done to `task` from where it stands (P21).

    `lease` is its active work lease.

    Raises:
        InvalidTransition, WrongStatus, LeaseMissing, StaleLeaseReference: as the call itself would
            be refused.
    """
    asked = payload.get("status")
    if payload.get("action") == "handoff":
        moves.check_under_way(task)
    if "action" in payload:
        if lease is None:
            raise leases.missing(LeaseKind.WORK, task.task_id)
        leases.check_reference(lease, payload["lease_id"])
    elif asked is not None and not (asked == Status.ASSIGNED.value and task.status in WORKING):
        tasks.check_move(task, Status(asked))


def check_to_approve(intent: Intent, task: Task | None, lease: Lease | None) -> None:
    """Refuse to approve what cannot be done to its task any more (P21).

    Raises:
        IntentNotPossible: it cannot.
    """
    if task is None:
        return
    try:
        check_follows(intent.payload, task, lease)
    except (InvalidTransition, WrongStatus, LeaseMissing, StaleLeaseReference) as refused:
        raise IntentNotPossible(intent.intent_id, refused.happened) from None
