"""The board: what a task is, and which status follows which.

T1   A status follows another by the table alone; a refused move names those that are open.
T8   A task that is accepted again has nobody on it.
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
KEY_LIMIT = 200
MOST_ARTIFACTS = 32
ARTIFACT_BYTES = 12_288

_ID = re.compile(r"task_([1-9][0-9]{0,9})")


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
            remedy=f"{next_call(task_id, before)} Nothing was changed.",
        )


class AdminRequired(LetAgentsError):
    """Only an admin of the room may do it."""

    code = "admin_required"


class WorkerRequired(LetAgentsError):
    """Only a worker can do it."""

    code = "coordination_worker_required"


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
        texts.address(self.url, "workflow_artifacts: url")

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
    return value and texts.address(value, "pr_url")


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


def next_call(task_id: str, status: Status) -> str:
    """Return the call with which somebody gets on with a task that stands there."""
    if status is Status.PROPOSED:
        return f"Call update_task(task_id={task_id!r}, status='accepted') first."
    if status is Status.ACCEPTED:
        return f"Call claim_task(task_id={task_id!r}) first."
    if status in WORKING:
        return f"Call get_board to see who is on {task_id}."
    return f"Call update_task(task_id={task_id!r}, status='accepted') to open it again."


JOIN_IN = (
    "Call get_board and join in there, or propose it under a title that says what is different."
)


def duplicate(of: Task | str, title: str, *, remedy: str = JOIN_IN) -> DuplicateWork:
    """Return the refusal of a proposal, `of` being the task, or who works on its like."""
    what = f"{of.task_id} ({of.status.value})" if isinstance(of, Task) else of
    return DuplicateWork(f"{quoted(title)} is there already: {what}.", remedy=remedy)
