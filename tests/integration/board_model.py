"""How a board has to have been, and what in a recorded history cannot be."""

from collections.abc import Iterator
from datetime import datetime

import attrs
from tests.integration.board_histories import TASKS, History, home_of

from letagents.domain.events import Event, EventType


@attrs.define
class Model:
    """One task as it has to have been: who holds it under which epoch, all that ever was."""

    epoch: int = 0
    holder: int | None = None
    holders: dict[int, int] = attrs.field(factory=dict)
    released: set[int] = attrs.field(factory=set)


def faults(history: History) -> list[str]:
    """Return what in a history cannot be."""
    tasks = {f"task_{number}": Model() for number in range(1, TASKS + 1)}
    found: list[str] = []
    for event in history.events:
        if event.type is EventType.EXPIRED:
            found += _too_early(history, tasks[event.task_id], event)
        found += _step(tasks[event.task_id], event)
    return found + list(_told_wrongly(history, tasks))


def _step(task: Model, event: Event) -> Iterator[str]:
    if event.type is EventType.CLAIMED:
        assert event.epoch is not None
        if event.epoch <= task.epoch:
            yield f"an epoch that did not grow: {event}"
        if task.holder is not None:
            yield f"a second holder beside {task.holder}: {event}"
        task.epoch, task.holder = event.epoch, _number(event.actor_key)
        task.holders[event.epoch] = task.holder
    elif event.type in (EventType.RELEASED, EventType.EXPIRED):
        if event.epoch != task.epoch:
            yield f"an end of what had ended: {event}"
        task.released |= {task.epoch} if event.type is EventType.RELEASED else set()
        task.holder = None
    elif event.type is EventType.ATTACHED:
        by, epoch = str(event.detail).split("/")[3:5]
        if (int(by), int(epoch)) != (task.holder, task.epoch):
            yield f"a write under an old epoch, {task.epoch} of {task.holder} being held: {event}"


def _told_wrongly(history: History, tasks: dict[str, Model]) -> Iterator[str]:
    """Return what was answered with success, and is not what the room keeps."""
    kept = {event.detail for event in history.events}
    for note in history.effective:
        task = tasks[note["task"]]
        if note["what"] == "write" and note["mark"] not in kept:
            yield f"lost, though it was answered: {note}"
        if note["what"] == "release" and note["epoch"] not in task.released:
            yield f"a release under an old epoch: {note}"
        if task.holders.get(note["epoch"]) != note["by"]:
            yield f"two hold one epoch: {note}"


def _too_early(history: History, task: Model, event: Event) -> Iterator[str]:
    """Return that a holder lost its task to somebody who could see that its process was there."""
    holder, by = task.holder, _number(event.actor_key)
    if holder is None or home_of(holder) != home_of(by):
        return
    looked_by = _over_by(history, event)
    gone = [at for at in _goings(history, holder) if looked_by is None or at <= looked_by]
    if not gone or any(gone[-1] < at <= event.at for at in _noted(history, holder, "come")):
        yield f"taken from {holder}, whose process was there: {event}"


def _over_by(history: History, event: Event) -> datetime | None:
    """Return until when the transaction of an event was over; None if none came after it.

    An event is of the moment in which its transaction began. Whether a process is there is asked
    later in it, and a machine that is busy, or a pause, may lie between.
    """
    return min((one.at for one in history.events if one.at > event.at), default=None)


def _goings(history: History, number: int) -> list[datetime]:
    """Return when processes of that worker were killed, or began to end by themselves."""
    killed = [at for one, at in history.killed if one == number]
    return sorted([*killed, *_noted(history, number, "leave")])


def _noted(history: History, number: int, what: str) -> list[datetime]:
    """Return when processes of that worker noted that they came, or leave."""
    return [
        datetime.fromisoformat(note["at"])
        for note in history.answered
        if note["what"] == what and note["by"] == number
    ]


def _number(agent_key: str | None) -> int:
    return int(str(agent_key).rsplit("-", 1)[1], 16)
