"""What a person makes of a task by one word, and which words are open where it stands.

T60  A word is a move of the table where it is meant: what was proposed is accepted, what is over is
     reopened, and what is in review is blocked by its reviewer alone.
T61  A word that comes after the task has moved on changes nothing, even if the table has the move.
T62  A task that can be worked on can be given to a worker, and one that is worked on let go.
"""

import enum
from collections.abc import Collection, Mapping

from letagents.domain.moves import WrongStatus
from letagents.domain.tasks import MOVES, WORKING, Status, Task, check_move, next_call


class Order(enum.Enum):
    """A word for what is to become of a task."""

    ACCEPT = "accept"
    CANCEL = "cancel"
    REOPEN = "reopen"
    START = "start"
    BLOCK = "block"
    SUBMIT = "submit"
    MERGED = "merged"
    DONE = "done"


TO: Mapping[Order, Status] = {
    Order.ACCEPT: Status.ACCEPTED,
    Order.CANCEL: Status.CANCELLED,
    Order.REOPEN: Status.ACCEPTED,
    Order.START: Status.IN_PROGRESS,
    Order.BLOCK: Status.BLOCKED,
    Order.SUBMIT: Status.IN_REVIEW,
    Order.MERGED: Status.MERGED,
    Order.DONE: Status.DONE,
}

ASSIGN, RELEASE = "assign", "release"
"""The words that say who is on a task."""


def places(order: Order) -> frozenset[Status]:
    """Return where a task stands of which the word can be said (T60)."""
    found = frozenset(before for before, after in MOVES.items() if TO[order] in after)
    if order is Order.ACCEPT:
        return found & {Status.PROPOSED}
    if order is Order.REOPEN:
        return found - {Status.PROPOSED}
    return found - {Status.IN_REVIEW} if order is Order.BLOCK else found


def open_words(status: Status) -> tuple[str, ...]:
    """Return the words that can be said of a task that stands there (T60, T62)."""
    words = [one.value for one in Order if status in places(one)]
    if status is Status.ACCEPTED or status in WORKING:
        words.append(ASSIGN)
    if status in WORKING:
        words.append(RELEASE)
    return tuple(words)


def check_place(task: Task, to: Status | None, where: Collection[Status]) -> None:
    """Refuse a change that was meant for a task that stands elsewhere (T61).

    Raises:
        InvalidTransition: the table does not have the move either.
        WrongStatus: it has, but it was not meant.
    """
    if task.status in where:
        return
    if to is not None:
        check_move(task, to)
    meant = " or ".join(one.value for one in Status if one in where)
    raise WrongStatus(
        f"{task.task_id} is {task.status.value}, and not {meant}.",
        remedy=f"{next_call(task.task_id, task.status)} Nothing was changed.",
    )
