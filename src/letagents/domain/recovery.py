"""What is done about an agent whose process is not as it should be, and how soon.

(Source: supervisor 6.13, 7.)

J40  Who is to be stopped or paused is stopped, whatever else is so; a pause ends where it began.
J41  Five ends within ten minutes are a crash loop: the agent is quarantined, and started only when
     a person says so. One that was over when a later supervisor looked for it does not count: it
     may have ended with the one that began it.
J42  Where a conversation can go on it is resumed; else a new one is started.
J43  After each failed recovery the next one waits twice as long: from a second to five minutes,
     and never longer, though the clock be set back meanwhile.
J44  An action is written down before it is done; while one is not settled no other is begun.
J45  What became of a process that may still be alive has to be known before another is started.
"""

import enum
from datetime import datetime, timedelta

import attrs

LOOP = 5
LOOP_WITHIN = timedelta(minutes=10)
FIRST_PAUSE = timedelta(seconds=1)
LONGEST_PAUSE = timedelta(minutes=5)


class Desired(enum.Enum):
    """What a person wants of an agent."""

    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"


class Seen(enum.Enum):
    """What is known of its process."""

    ABSENT = "absent"
    ALIVE = "alive"
    UNSURE = "unsure"


class Action(enum.Enum):
    """What is done about it now."""

    NOTHING = "nothing"
    STOP = "stop"
    QUARANTINE = "quarantine"
    RESUME = "resume"
    START = "start"
    SETTLE = "settle"
    """Find out first what became of the process, or of the last action."""


@attrs.frozen
class History:
    """What happened to an agent's processes so far."""

    ends: tuple[datetime, ...] = ()
    failures: int = 0
    not_before: datetime | None = None
    pending: str | None = None
    """The action that was begun last, if what became of it is not written down."""
    is_quarantined: bool = False


@attrs.frozen
class Decision:
    """What is done, and, if nothing, when it is looked at again at the latest."""

    action: Action
    until: datetime | None = None


def decide(
    desired: Desired, seen: Seen, history: History, *, can_resume: bool, now: datetime
) -> Decision:
    """Decide what is done about an agent now."""
    if desired is not Desired.RUNNING:
        return Decision(Action.NOTHING if seen is Seen.ABSENT else Action.STOP)
    if history.is_quarantined:
        return Decision(Action.NOTHING)
    if seen is Seen.UNSURE or history.pending is not None:
        return Decision(Action.SETTLE)
    if seen is Seen.ALIVE:
        return Decision(Action.NOTHING)
    if is_looping(history, now=now):
        return Decision(Action.QUARANTINE)
    if history.not_before is not None and now < history.not_before <= now + LONGEST_PAUSE:
        return Decision(Action.NOTHING, history.not_before)
    return Decision(Action.RESUME if can_resume else Action.START)


def is_looping(history: History, *, now: datetime) -> bool:
    """Whether processes have ended too often of late."""
    return sum(_is_recent(end, now) for end in history.ends) >= LOOP


def _is_recent(end: datetime, now: datetime) -> bool:
    """Whether a process ended of late; a clock that was set back meanwhile tells nothing of it."""
    return abs(now - end) < LOOP_WITHIN


def pause(failures: int) -> timedelta:
    """Return how long to wait after so many failures in a row."""
    if failures < 1:
        return timedelta(0)
    doublings: int = 2 ** min(failures - 1, 20)
    return min(FIRST_PAUSE * doublings, LONGEST_PAUSE)


def begun(history: History, action_id: str) -> History:
    """Return the history once the action is about to be done."""
    if history.pending is not None:
        raise ValueError(f"{history.pending} is not settled")
    return attrs.evolve(history, pending=action_id)


def succeeded(history: History) -> History:
    """Return the history once the last action has led to a living process."""
    return attrs.evolve(history, pending=None, failures=0, not_before=None)


def failed(history: History, *, now: datetime) -> History:
    """Return the history once the last action has led to none."""
    failures = history.failures + 1
    return attrs.evolve(history, pending=None, failures=failures, not_before=now + pause(failures))


def without_pause(history: History) -> History:
    """Return the history once the next recovery is to be tried at once."""
    return attrs.evolve(history, not_before=None)


def ended(history: History, *, now: datetime) -> History:
    """Return the history once a process has ended."""
    recent = (end for end in history.ends if _is_recent(end, now))
    return attrs.evolve(history, ends=(*recent, now)[-LOOP:])


def quarantined(history: History) -> History:
    """Return the history once the agent is left alone."""
    return attrs.evolve(history, is_quarantined=True)


def released(history: History) -> History:
    """Return the history once a person wants it started all the same."""
    return History(pending=history.pending)
