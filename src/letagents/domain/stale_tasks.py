"""How long a task has been waiting for somebody, as a board shows it, and who may hear of it.

D36  A task is stale that waits too long (D35), or of which the status and the work lease do not
     fit: nobody works on one that is taken up, or somebody on one that is free or merged.
D37  Of a task that somebody muted nobody is told that it waits, until it changes.
"""

from datetime import datetime

import attrs

from letagents.domain import stalls
from letagents.domain.board import Stale
from letagents.domain.tasks import Status, Task

_WITH_LEASE = {
    Status.ACCEPTED: "accepted_with_work_lease",
    Status.MERGED: "merged_with_work_lease",
}
_WITHOUT_LEASE = frozenset({Status.ASSIGNED, Status.IN_PROGRESS, Status.BLOCKED})


@attrs.frozen(kw_only=True)
class Mute:
    """That nobody is told of a task, as it stood after its change at `stood_since`."""

    task_id: str
    number: int
    stood_since: datetime
    by: str
    at: datetime
    is_over: bool = False

    def holds(self, task: Task) -> bool:
        """Whether the task stands as it did (D37)."""
        return not self.is_over and self.stood_since == task.updated_at


def muted(stale: Stale, mute: Mute) -> Stale:
    """Return how a task waits that somebody muted."""
    return attrs.evolve(stale, muted_by=mute.by, muted_at=mute.at)


def look(task: Task, now: datetime, *, is_worked_on: bool) -> Stale:
    """Return how a task stands on which somebody has a work lease, or nobody (D36)."""
    reason = _reason(task, now, is_worked_on=is_worked_on)
    return Stale() if reason is None else Stale(reason=reason, lasts=now - task.updated_at)


def _reason(task: Task, now: datetime, *, is_worked_on: bool) -> str | None:
    """Return why it is stale. (Source: hosted-api 5.7.)"""
    if is_worked_on and (reason := _WITH_LEASE.get(task.status)) is not None:
        return reason
    if stalls.waits(task, now):
        return stalls.reason(task)
    if not is_worked_on and task.status in _WITHOUT_LEASE:
        return "missing_work_lease"
    return None
