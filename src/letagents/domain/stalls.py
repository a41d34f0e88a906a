"""When a room tells that its board stands still.

D34  A board on which nothing is open for half an hour is told of once each time that it ran empty,
     if a worker is there, and no manager is there who would see to it. The board's settings say
     when it was told last.
D35  Where an agent says that it is idle, a task is told of that waits for somebody: one that nobody
     took up for 15 minutes, or that was blocked or in review for 30; once for each time that it
     came to stand so.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from letagents.domain.intents import cut
from letagents.domain.tasks import Status, Task

EMPTY = timedelta(minutes=30)
"""(Source: hosted-api 6.)"""
WAITING: Mapping[Status, timedelta] = {
    Status.ACCEPTED: timedelta(minutes=15),
    Status.BLOCKED: timedelta(minutes=30),
    Status.IN_REVIEW: timedelta(minutes=30),
}
AT_ONCE = 3
"""So many tasks are told of when an agent says that it is idle."""

_REASONS: Mapping[Status, tuple[str, str]] = {
    Status.ACCEPTED: ("accepted_unclaimed", "was accepted {0} ago and nobody has taken it up"),
    Status.BLOCKED: ("blocked_no_follow_up", "has been blocked for {0}"),
    Status.IN_REVIEW: ("in_review_no_follow_up", "has been waiting for a review for {0}"),
}
_CALLS: Mapping[Status, str] = {
    Status.ACCEPTED: "claim_task(task_id='{0}')",
    Status.BLOCKED: "get_board(task_id='{0}') shows what it waits for",
    Status.IN_REVIEW: "claim_task_review(task_id='{0}')",
}
_MINUTE = timedelta(minutes=1)


def reason(task: Task) -> str:
    """Return why a task is told of that `waits`. (Source: hosted-api 5.7.)"""
    return _REASONS[task.status][0]


def waits(task: Task, now: datetime) -> bool:
    """Whether a task waits for somebody too long (D35)."""
    longest = WAITING.get(task.status)
    return longest is not None and now - task.updated_at >= longest


def waiting(tasks: Iterable[Task], now: datetime) -> list[Task]:
    """Return those tasks that wait too long, the longest first."""
    return sorted((one for one in tasks if waits(one, now)), key=lambda one: one.updated_at)


def empty() -> str:
    """Return what the room says of a board on which nothing is open."""
    return (
        f"[status] Nothing has been open on the board for {EMPTY // _MINUTE} minutes. What is to "
        "be done next can be put there by add_task; if all is done, say so."
    )


def told(task: Task, now: datetime) -> str:
    """Return what the room says of a task that waits too long."""
    ago = f"{(now - task.updated_at) // _MINUTE} minutes"
    _, words = _REASONS[task.status]
    call = _CALLS[task.status].format(task.task_id)
    return f"[status] {task.task_id} {words.format(ago)}: “{cut(task.title)}”. {call}"
