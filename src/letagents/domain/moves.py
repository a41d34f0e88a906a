"""Who may move a task, and what they have to hold for it.

T2   `accepted`, `cancelled`, `merged` and `done` are for admins of the room, and for a worker with
     an approval of just that.
T3   A worker claims for itself, and while it is on a task nobody but it moves the task on or
     changes who is; who claims again what it has changes nothing.
T4   From review to blocked is a reviewer's decision, which changes nothing else.
T5   `merged` needs the active review of somebody else than who works on the task.
T6   What a change needs: a claim, the work lease, the review lease, or nothing.
T7   A task whose worker is gone can be claimed, whatever it was in the middle of.
T9   Nobody reviews what they are on; only what waits for a review, or is blocked, is reviewed.
"""

import enum

from letagents.domain.errors import LetAgentsError
from letagents.domain.sessions import Session
from letagents.domain.tasks import (
    REVIEWABLE,
    WORKING,
    AdminRequired,
    Patch,
    Status,
    Task,
    check_move,
    next_call,
)

FOR_ADMINS = frozenset({Status.ACCEPTED, Status.CANCELLED, Status.MERGED, Status.DONE})
"""What a worker that is no admin needs an approval for, however the board is managed."""


class NotYours(LetAgentsError):
    """Another agent is on the task, or the change is not one that who is on it may make."""

    code = "coordination_ownership"


class ReviewDecisionOnly(LetAgentsError):
    """A review decision came with other changes."""

    code = "coordination_review_decision_only"


class ReviewWorkerRequired(LetAgentsError):
    """Only a reviewing worker decides a review."""

    code = "coordination_review_worker_required"


class ReviewRequired(LetAgentsError):
    """Nobody else reviews what is to be merged."""

    code = "coordination_board_review_required"


class WrongStatus(LetAgentsError):
    """What is asked cannot be done while the task stands where it stands."""

    code = "coordination_invalid_task_status"


class WorksOnIt(LetAgentsError):
    """Nobody reviews their own work."""

    code = "coordination_work_lease_holder"


class Need(enum.Enum):
    """What somebody has to hold who makes a change."""

    NOTHING = "nothing"
    CLAIM = "claim"
    WORK = "work"
    REVIEW = "review"


def need(task: Task, patch: Patch) -> Need:
    """Return what somebody has to hold who changes `task` so (T6)."""
    if is_review_decision(task, patch):
        return Need.REVIEW
    if patch.status is Status.ASSIGNED:
        return Need.CLAIM
    works = moves_on(task, patch) or patch.pr_url is not None or patch.artifacts is not None
    return Need.WORK if works else Need.NOTHING


def moves_on(task: Task, patch: Patch) -> bool:
    """Whether the work itself goes on, or ends without a review: the worker's own moves (T3)."""
    finishes = task.status is Status.IN_PROGRESS and patch.status is Status.DONE
    return finishes or patch.status in WORKING


def is_review_decision(task: Task, patch: Patch) -> bool:
    """Whether a reviewer sends the task back (T4)."""
    return task.status is Status.IN_REVIEW and patch.status is Status.BLOCKED


def check_change(
    task: Task, patch: Patch, by: Session | None, *, is_admin: bool, has_approval: bool = False
) -> None:
    """Refuse a change that `by` may not make, whatever it holds (T2, T3, T4).

    `by` is the worker that acts, or None if a person does; `has_approval` says that it shows one,
    which is then used, or refused, for what it is.

    Raises:
        AdminRequired, ReviewDecisionOnly, ReviewWorkerRequired, NotYours: it may not.
    """
    if patch.status in FOR_ADMINS and not (is_admin or (by is not None and has_approval)):
        raise AdminRequired(
            f"Only an admin of the room sets {patch.status.value}.",
            remedy="Ask the person in charge, or register an intent: register_board_intent.",
        )
    if is_review_decision(task, patch):
        return _check_decision(patch, by)
    if by is not None:
        _check_ownership(task, patch, by)
    return None


def _check_decision(patch: Patch, by: Session | None) -> None:
    if patch != Patch(status=Status.BLOCKED):
        raise ReviewDecisionOnly(
            "Sending a task back from review changes nothing else.",
            remedy="Pass status blocked alone.",
        )
    if by is None:
        raise ReviewWorkerRequired(
            "Only the worker that reviews a task sends it back.",
            remedy="Let a worker call claim_task_review first.",
        )


def _check_ownership(task: Task, patch: Patch, by: Session) -> None:
    if patch.status is Status.ASSIGNED:
        _check_claims_for_itself(task, patch, by)
    elif patch.assignee is not None:
        raise NotYours(
            "Agents cannot reassign a task after claim.",
            remedy=f"Call handoff_task_lease(task_id={task.task_id!r}) to give it to another.",
        )
    elif patch.status is not None and moves_on(task, patch) and not task.is_on(by):
        who = f", who is {task.assignee.label}" if task.assignee else "; nobody is on it"
        raise NotYours(
            f"Only the assigned agent can move this task to {patch.status.value}{who}.",
            remedy=next_call(task.task_id, task.status),
        )


def _check_claims_for_itself(task: Task, patch: Patch, by: Session) -> None:
    given = patch.assignee
    if given is not None and (
        given.label != by.actor_label or given.agent_key not in (None, by.agent_key)
    ):
        raise NotYours(
            "Agents can only claim tasks for themselves.",
            remedy=f"Call claim_task(task_id={task.task_id!r}), or handoff_task_lease once "
            "it is yours.",
        )


def check_claim(task: Task, by: Session, *, assignee_is_there: bool) -> None:
    """Refuse a claim of a task on which no other worker has a lease that is held (T1, T7).

    Raises:
        InvalidTransition: it is not one that can be claimed.
        NotYours: another agent was put on it, and is there.
    """
    if task.status not in WORKING:
        return check_move(task, Status.ASSIGNED)
    if task.assignee is not None and not task.is_on(by) and assignee_is_there:
        raise NotYours(
            f"{task.task_id} is assigned to {task.assignee.label}.",
            remedy="Take another from get_board, or ask in the room.",
        )
    return None


def check_under_way(task: Task) -> None:
    """Refuse to hand over what nobody works on.

    Raises:
        WrongStatus: nobody does.
    """
    if task.status not in WORKING:
        raise WrongStatus(
            f"{task.task_id} is {task.status.value}; only work under way is handed over.",
            remedy=f"Call release_task_lease(task_id={task.task_id!r}) instead.",
        )


def check_review(task: Task, by: Session, work_key: str | None) -> None:
    """Refuse a review by who works on the task, under a lease of the agent `work_key` (T9).

    Raises:
        WrongStatus: there is nothing to review.
        WorksOnIt: it is their own work.
    """
    check_reviewable(task)
    if by.agent_key in (work_key, task.assignee_key):
        raise WorksOnIt(
            f"You are on {task.task_id} yourself; its review is for another agent.",
            remedy="Say in the room that it waits for a review.",
        )


def check_reviewable(task: Task) -> None:
    """Refuse what belongs to a review where the task is not in one (T9).

    Raises:
        WrongStatus: it is not.
    """
    if task.status not in REVIEWABLE:
        raise WrongStatus(
            f"{task.task_id} is {task.status.value}, and only a task that is in_review or blocked "
            "is reviewed.",
            remedy="Call get_board(status='in_review') to see what waits for a review.",
        )


def check_merge(task: Task, patch: Patch, reviewer_key: str | None, work_key: str | None) -> None:
    """Refuse to call merged what nobody else reviews (T5).

    Raises:
        ReviewRequired: nobody does.
    """
    if task.status is not Status.IN_REVIEW or patch.status is not Status.MERGED:
        return
    if reviewer_key is None or reviewer_key in (work_key, task.assignee_key):
        raise ReviewRequired(
            f"{task.task_id} is merged only while another worker holds its review.",
            remedy=f"Let another worker call claim_task_review(task_id={task.task_id!r}) first.",
        )
