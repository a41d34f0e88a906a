"""How an agent is, in one word.

(Source: supervisor 6.4.)

J151  How an agent is follows from what is wanted of it, its process, and the message that it is at.
      One that is to pause or stop does so until its process has ended, and only then has.
"""

import enum

from letagents.domain import executions
from letagents.domain.inbox import Item, Stage
from letagents.domain.manifest import Entry
from letagents.domain.recovery import Desired

_AT_WORK = (Stage.DISPATCHING, Stage.AWAITING_RESULT, Stage.RESULT_RECOVERY, Stage.PUBLISHING)


class State(enum.Enum):
    """How an agent is."""

    ABSENT = "absent"
    """It never had a process."""
    STARTING = "starting"
    IDLE = "idle"
    WORKING = "working"
    PAUSING = "pausing"
    PAUSED = "paused"
    STOPPING = "stopping"
    STOPPED = "stopped"
    RECOVERING = "recovering"
    """It has no process, and is to have one."""
    FAILED = "failed"
    """It is left alone until a person starts it."""


_ON_ITS_WAY = {Desired.PAUSED: State.PAUSING, Desired.STOPPED: State.STOPPING}
_THERE = {Desired.PAUSED: State.PAUSED, Desired.STOPPED: State.STOPPED}


def of(entry: Entry, first: Item | None) -> State:
    """Return how an agent is; `first` is its first message that is not over."""
    execution = entry.execution
    if entry.history.is_quarantined:
        return State.FAILED
    if execution is None:
        return State.ABSENT
    if execution.is_over:
        return _THERE.get(entry.desired, State.RECOVERING)
    if entry.desired in _ON_ITS_WAY:
        return _ON_ITS_WAY[entry.desired]
    if execution.process is None or executions.came_to_nothing(entry):
        return State.STARTING
    return State.WORKING if first is not None and _is_at_work(first) else State.IDLE


def _is_at_work(first: Item) -> bool:
    return first.stage in _AT_WORK or (first.stage is Stage.PENDING and first.is_unsure)
