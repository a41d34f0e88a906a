"""The board: what a task is, which status follows which, and who may move it.

T1   A status follows another by the table alone; a refused move names those that are open.
T2   `accepted`, `cancelled`, `merged` and `done` are for admins of the room.
T3   A worker claims for itself, and while it is on a task nobody but it moves the task on or
     changes who is; who claims again what it has changes nothing.
T4   From review to blocked is a reviewer's decision, which changes nothing else.
T5   `merged` needs the active review of somebody else than who works on the task.
T6   What a change needs: a claim, the work lease, the review lease, or nothing.
T7   A task whose worker is gone can be claimed, whatever it was in the middle of.
T8   A task that is accepted again has nobody on it.
T9   Nobody reviews what they are on; only what waits for a review, or is blocked, is reviewed.
T10  Texts, addresses and artifacts are bounded, and a refusal names the field.
"""

import enum
import re
from collections.abc import Mapping
from datetime import datetime

import attrs

from letagents.domain import texts
from letagents.domain.errors import LetAgentsError, Malformed
from letagents.domain.ids import MessageId, SessionId, quoted
from letagents.domain.sessions import Session

TITLE_LIMIT = 300
DESCRIPTION_LIMIT = 16_384
REASON_LIMIT = 2_000
ADDRESS_LIMIT = 2_048
KEY_LIMIT = 200
MOST_ARTIFACTS = 32
ARTIFACT_BYTES = 12_288

_ID = re.compile(r"task_([1-9][0-9]{0,9})")
_PLAIN = re.compile(r"[^\x00-\x20\x7f-\x9f\ud800-\udfff]+")


class Status(enum.Enum):
    """Where a task stands."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    ASSIGNED = "assigned"
    IN_PROGRESS = "in_progress"
    BLOCKED = "blocked"
    IN_REVIEW = "in_review"
    MERGED = "merged"
    DONE = "done"
    CANCELLED = "cancelled"


_S = Status
MOVES: Mapping[Status, tuple[Status, ...]] = {
    _S.PROPOSED: (_S.ACCEPTED, _S.CANCELLED),
    _S.ACCEPTED: (_S.ASSIGNED, _S.CANCELLED),
    _S.ASSIGNED: (_S.IN_PROGRESS, _S.IN_REVIEW, _S.CANCELLED),
    _S.IN_PROGRESS: (_S.BLOCKED, _S.IN_REVIEW, _S.DONE, _S.CANCELLED),
    _S.BLOCKED: (_S.IN_PROGRESS, _S.IN_REVIEW, _S.CANCELLED),
    _S.IN_REVIEW: (_S.MERGED, _S.IN_PROGRESS, _S.BLOCKED, _S.DONE, _S.CANCELLED),
    _S.MERGED: (_S.DONE, _S.ACCEPTED),
    _S.DONE: (_S.ACCEPTED,),
    _S.CANCELLED: (_S.ACCEPTED,),
}
"""Which status may follow which. (Source: state-and-rules 6.2.)"""

WORKING = frozenset({_S.ASSIGNED, _S.IN_PROGRESS, _S.BLOCKED, _S.IN_REVIEW})
"""Somebody is on the task."""
REVIEWABLE = frozenset({_S.IN_REVIEW, _S.BLOCKED})
CLOSED = frozenset({_S.DONE, _S.CANCELLED})
FOR_ADMINS = frozenset({_S.ACCEPTED, _S.CANCELLED, _S.MERGED, _S.DONE})


class UnknownTask(LetAgentsError):
    """The room has no such task."""

    code = "unknown_task"

    def __init__(self, task_id: object) -> None:
        super().__init__(
            f"task_id: Task not found: {task_id}.", remedy="Call get_board to see the tasks."
        )


class InvalidTransition(LetAgentsError):
    """The table does not have that move."""

    code = "invalid_transition"

    def __init__(self, task_id: str, before: Status, after: Status) -> None:
        allowed = ", ".join(status.value for status in MOVES[before]) or "none"
        super().__init__(
            f"Invalid transition: {before.value} -> {after.value}. Allowed: {allowed}.",
            remedy=f"{_next_call(task_id, before)} Nothing was changed.",
        )


class NotYours(LetAgentsError):
    """Another agent is on the task, or the change is not one that who is on it may make."""

    code = "coordination_ownership"


class AdminRequired(LetAgentsError):
    """Only an admin of the room may do it."""

    code = "admin_required"


class WorkerRequired(LetAgentsError):
    """Only a worker can do it."""

    code = "coordination_worker_required"


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


class DuplicateWork(LetAgentsError):
    """Somebody is on the same thing already."""

    code = "coordination_duplicate_work"


@attrs.frozen
class Assignee:
    """Who is on a task. A person has no key."""

    label: str
    agent_key: str | None = None
    instance_id: str | None = None
    session_id: SessionId | None = None

    @classmethod
    def of(cls, session: Session) -> "Assignee":
        """Return the one that `session` is."""
        return cls(session.actor_label, session.agent_key, session.instance_id, session.session_id)


class Provider(enum.Enum):
    """Whose artifact it is."""

    GITHUB = "github"
    GITLAB = "gitlab"
    BITBUCKET = "bitbucket"
    UNKNOWN = "unknown"


class ArtifactKind(enum.Enum):
    """What an artifact is."""

    ISSUE = "issue"
    BRANCH = "branch"
    PULL_REQUEST = "pull_request"
    MERGE_REQUEST = "merge_request"
    REVIEW = "review"
    CHECK_RUN = "check_run"
    MERGE = "merge"


@attrs.frozen(kw_only=True)
class Artifact:
    """Something outside the room that belongs to a task."""

    provider: Provider
    kind: ArtifactKind
    id: str | None = None
    number: int | None = None
    title: str | None = None
    url: str | None = None
    ref: str | None = None
    state: str | None = None

    def __attrs_post_init__(self) -> None:
        limits = {"id": 200, "title": TITLE_LIMIT, "ref": 300, "state": 100}
        for name, most in limits.items():
            texts.optional(getattr(self, name), f"workflow_artifacts: {name}", most)
        address(self.url, "workflow_artifacts: url")

    @property
    def size(self) -> int:
        """How many bytes its texts have."""
        said = (self.id, self.title, self.url, self.ref, self.state)
        return sum(len(text.encode()) for text in said if text)


def _title(value: object) -> str:
    return texts.checked(value, "title", TITLE_LIMIT)


def _description(value: object) -> str | None:
    return texts.optional(value, "description", DESCRIPTION_LIMIT)


def _client_task_id(value: object) -> str | None:
    return texts.optional(value, "client_task_id", KEY_LIMIT)


def _pr_url(value: str | None) -> str | None:
    return value and address(value, "pr_url")


@attrs.frozen(kw_only=True)
class Proposal:
    """A task that somebody wants done. A `client_task_id` used again answers with its task."""

    title: str = attrs.field(converter=_title)
    description: str | None = attrs.field(default=None, converter=_description)
    source_message: MessageId | None = None
    client_task_id: str | None = attrs.field(default=None, converter=_client_task_id)


@attrs.frozen(kw_only=True)
class Task:
    """One thing to be done, as the room keeps it. Each change makes its `revision` another."""

    number: int
    title: str
    created_by: str
    created_at: datetime
    updated_at: datetime
    status: Status = Status.PROPOSED
    description: str | None = None
    assignee: Assignee | None = None
    created_by_key: str | None = None
    source_message: MessageId | None = None
    client_task_id: str | None = None
    pr_url: str | None = None
    artifacts: tuple[Artifact, ...] = ()
    revision: int = 1

    @property
    def task_id(self) -> str:
        """What it is called."""
        return f"task_{self.number}"

    @property
    def is_open(self) -> bool:
        """Whether something is left to do."""
        return self.status not in CLOSED

    @property
    def assignee_key(self) -> str | None:
        """The key of the agent that is on it."""
        return self.assignee.agent_key if self.assignee else None

    def is_on(self, session: Session) -> bool:
        """Whether that session's agent is on it: by its key, or by its label if none is kept."""
        if self.assignee is None:
            return False
        if self.assignee.agent_key is None:
            return self.assignee.label == session.actor_label
        return self.assignee.agent_key == session.agent_key


@attrs.frozen(kw_only=True)
class Patch:
    """What is to become of a task; what is None stays. An empty `pr_url` takes it away.

    `assignee` says whom to put on it: nobody, if its label is empty.
    """

    status: Status | None = None
    assignee: Assignee | None = None
    pr_url: str | None = attrs.field(default=None, converter=_pr_url)
    artifacts: tuple[Artifact, ...] | None = attrs.field(default=None)

    @artifacts.validator
    def _check_artifacts(self, _field: object, value: tuple[Artifact, ...] | None) -> None:
        if value is not None and len(value) > MOST_ARTIFACTS:
            raise Malformed(
                f"workflow_artifacts: {len(value)} are too many.",
                remedy=f"Pass the {MOST_ARTIFACTS} that matter most.",
            )
        if sum(one.size for one in value or ()) > ARTIFACT_BYTES:
            raise Malformed(
                f"workflow_artifacts: together they have more than {ARTIFACT_BYTES:,} bytes.",
                remedy="Pass those that matter most, with shorter titles.",
            )

    @property
    def is_empty(self) -> bool:
        """Whether nothing is to change."""
        return self == Patch()


class Need(enum.Enum):
    """What somebody has to hold who makes a change."""

    NOTHING = "nothing"
    CLAIM = "claim"
    WORK = "work"
    REVIEW = "review"


def task_id_of(value: object, field: str = "task_id") -> str:
    """Return the task id that `value` spells.

    Raises:
        Malformed: it spells none.
    """
    text = value.strip() if isinstance(value, str) else ""
    if not _ID.fullmatch(text):
        raise Malformed(
            f"{field}: {quoted(value)} is not a task id.",
            remedy="Pass an id as get_board shows it, such as task_3.",
        )
    return text


def address(value: str | None, field: str) -> str | None:
    """Return `value` if it can be an address.

    Raises:
        Malformed: it is too long, or holds blanks or control characters.
    """
    if value is None:
        return None
    text = value.strip()
    if len(text) > ADDRESS_LIMIT or not _PLAIN.fullmatch(text):
        raise Malformed(
            f"{field}: {quoted(value)} is not an address.",
            remedy=f"Pass one of at most {ADDRESS_LIMIT:,} characters, without blanks.",
        )
    return text


def reason_of(value: object) -> str | None:
    """Return the reason that a call gives, within its bounds."""
    return texts.optional(value, "reason", REASON_LIMIT)


def check_move(task: Task, to: Status) -> None:
    """Refuse a move that the table does not have (T1).

    Raises:
        InvalidTransition: it does not have it.
    """
    if to not in MOVES[task.status]:
        raise InvalidTransition(task.task_id, task.status, to)


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


def check_change(task: Task, patch: Patch, by: Session | None, *, is_admin: bool) -> None:
    """Refuse a change that `by` may not make, whatever it holds (T2, T3, T4).

    `by` is the worker that acts, or None if a person does.

    Raises:
        AdminRequired, ReviewDecisionOnly, ReviewWorkerRequired, NotYours: it may not.
    """
    if patch.status in FOR_ADMINS and not is_admin:
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
            remedy=_next_call(task.task_id, task.status),
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


def changed(task: Task, patch: Patch, *, now: datetime) -> Task:
    """Return `task` after a change that may be made (T8)."""
    assignee = task.assignee if patch.assignee is None else patch.assignee
    if patch.status is Status.ACCEPTED or (assignee is not None and not assignee.label):
        assignee = None
    return attrs.evolve(
        task,
        status=patch.status or task.status,
        assignee=assignee,
        pr_url=task.pr_url if patch.pr_url is None else patch.pr_url or None,
        artifacts=task.artifacts if patch.artifacts is None else patch.artifacts,
        updated_at=now,
        revision=task.revision + 1,
    )


def given_to(task: Task, session: Session, *, now: datetime) -> Task:
    """Return `task` after it was assigned to `session`."""
    return changed(task, Patch(status=Status.ASSIGNED, assignee=Assignee.of(session)), now=now)


def given_back(task: Task, *, now: datetime) -> Task:
    """Return `task` after whoever was on it is not any more; one that is over stays as it is."""
    if task.status not in WORKING:
        return task
    return changed(task, Patch(status=Status.ACCEPTED), now=now)


def _next_call(task_id: str, status: Status) -> str:
    """Return the call with which somebody gets on with a task that stands there."""
    if status is Status.PROPOSED:
        return f"Call update_task(task_id={task_id!r}, status='accepted') first."
    if status is Status.ACCEPTED:
        return f"Call claim_task(task_id={task_id!r}) first."
    if status in WORKING:
        return f"Call get_board to see who is on {task_id}."
    return f"Call update_task(task_id={task_id!r}, status='accepted') to open it again."


def duplicate(of: Task | str, title: str) -> DuplicateWork:
    """Return the refusal of a proposal, `of` being the task, or who works on its like."""
    what = f"{of.task_id} ({of.status.value})" if isinstance(of, Task) else of
    return DuplicateWork(
        f"{quoted(title)} is there already: {what}.",
        remedy="Call get_board and join in there, or propose it under a title that says what is "
        "different.",
    )
