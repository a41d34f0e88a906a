"""What is asked of a board, and what it shows."""

from datetime import datetime, timedelta

import attrs

from letagents.domain.events import Event
from letagents.domain.leases import Lease
from letagents.domain.locks import Lock
from letagents.domain.tasks import Status, Task

LARGEST_PAGE = 500


@attrs.frozen(kw_only=True)
class LeaseView:
    """A lease as it stands now.

    `alive` tells of its holder's process, and is None where nobody can; `has_left` says that its
    session has ended; `silent_for` counts from the holder's last sign. Nobody but the holder has
    the thing while `is_held`: until `free_at`, if no sign comes, or as long as the process runs.
    """

    lease: Lease
    is_held: bool
    alive: bool | None
    has_left: bool
    silent_for: timedelta
    free_at: datetime | None


@attrs.frozen(kw_only=True)
class Stale:
    """Why a task is stale, and for how long, if it is; and who muted it, if somebody did."""

    reason: str | None = None
    lasts: timedelta | None = None
    muted_by: str | None = None
    muted_at: datetime | None = None


@attrs.frozen(kw_only=True)
class TaskView:
    """A task with who holds it and what stops it."""

    task: Task
    leases: tuple[LeaseView, ...] = ()
    locks: tuple[Lock, ...] = ()
    stale: Stale | None = attrs.field(default=None, eq=False)
    """How it waits at this moment; None where nobody looked."""


@attrs.frozen(kw_only=True)
class Query:
    """Which tasks are asked for: those of a status, else those that are open, else all.

    They come in the order of their numbers, those after the task `after`.
    """

    status: Status | None = None
    open_only: bool = True
    after: int = 0
    limit: int = 100

    @property
    def bounded(self) -> int:
        """How many are given at most."""
        return min(max(self.limit, 1), LARGEST_PAGE)


@attrs.frozen(kw_only=True)
class TaskPage:
    """Tasks, oldest first, whether more follow, and what stops the whole board."""

    tasks: tuple[TaskView, ...]
    more: bool
    locks: tuple[Lock, ...] = ()


@attrs.frozen(kw_only=True)
class Admitted:
    """A proposed task, and whether it was made now."""

    view: TaskView
    is_new: bool


@attrs.frozen(kw_only=True)
class Target:
    """Whom a lease is to go to."""

    agent_key: str
    instance_id: str | None = None
    session_id: str | None = None


@attrs.frozen(kw_only=True)
class Release:
    """Let a lease go: one's own, or as an admin another's."""

    lease_id: str | None = None
    epoch: int | None = None
    reason: str | None = None


@attrs.frozen(kw_only=True)
class Handoff:
    """Give a work lease to another worker."""

    target: Target
    lease_id: str | None = None
    epoch: int | None = None
    reason: str | None = None


@attrs.frozen(kw_only=True)
class ReviewClaim:
    """Take the review of a task."""

    reason: str | None = None


@attrs.frozen(kw_only=True)
class ReviewAssign:
    """Give the review of a task to a worker, as an admin."""

    target: Target
    reason: str | None = None


@attrs.frozen(kw_only=True)
class LeaseMoved:
    """What became of a lease: the one that ended, and the one that holds now."""

    view: TaskView
    ended: Lease | None = None
    lease: Lease | None = None


@attrs.frozen(kw_only=True)
class History:
    """What happened to a task, oldest first, and how it stands."""

    view: TaskView
    events: tuple[Event, ...]
    more: bool
