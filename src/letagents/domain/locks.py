"""Locks: what stops the work on a task, or on all of a room's board.

T20  A lock on the room stops new tasks; a lock on it or on the task stops every change that needs a
     lease, and handing over.
T21  A lock does not stop anybody from letting go.
T22  What is locked already is not locked again for the same reason, in the same words.
"""

import enum
from collections.abc import Iterable
from datetime import datetime

import attrs

from letagents.domain.errors import LetAgentsError, Retry
from letagents.domain.ids import quoted


class LockReason(enum.Enum):
    """Why it was put there."""

    HUMAN_STOP = "human_stop"
    DUPLICATE = "duplicate"
    MANAGER_PAUSE = "manager_pause"
    REVOKED = "revoked"
    POLICY = "policy"


@attrs.frozen(kw_only=True)
class Lock:
    """A stop. Without a `task_id` it is for the whole board."""

    number: int
    created_by: str
    created_at: datetime
    task_id: str | None = None
    reason: LockReason = LockReason.HUMAN_STOP
    message: str | None = None
    cleared_by: str | None = None
    cleared_at: datetime | None = None

    @property
    def lock_id(self) -> str:
        """What it is called."""
        return f"lock_{self.number}"

    @property
    def is_active(self) -> bool:
        """Whether it stops anything."""
        return self.cleared_at is None

    @property
    def scope(self) -> str:
        """What it is for."""
        return "task" if self.task_id else "room"


class Locked(LetAgentsError):
    """A lock stops it."""

    code = "coordination_active_lock"
    retry = Retry.LATER


class UnknownLock(LetAgentsError):
    """There is no such lock."""

    code = "unknown_lock"


def repeated(locks: Iterable[Lock], lock: Lock) -> Lock | None:
    """Return the one of `locks` that says what `lock` would, if it is there (T22)."""
    said = (lock.task_id, lock.reason, lock.message)
    alike = (one for one in locks if (one.task_id, one.reason, one.message) == said)
    return next((one for one in alike if one.is_active), None)


def cleared(lock: Lock | None, lock_id: str, by: str, *, now: datetime) -> Lock:
    """Return `lock` after `by` cleared it; one that was cleared stays as it is.

    Raises:
        UnknownLock: there is none.
    """
    if lock is None:
        raise UnknownLock(
            f"lock_id: this room has no lock {quoted(lock_id)}.",
            remedy="get_board shows the locks of each task as active_locks.",
        )
    return attrs.evolve(lock, cleared_by=by, cleared_at=now) if lock.is_active else lock


def check(locks: Iterable[Lock]) -> None:
    """Let nothing pass by an active lock (T20).

    Raises:
        Locked: there is one.
    """
    for lock in locks:
        if lock.is_active:
            why = f": {lock.message}" if lock.message else ""
            raise Locked(
                f"{lock.task_id or 'The board'} is locked by {lock.created_by} "
                f"({lock.reason.value}){why}.",
                remedy="Stop work on it and wait until the lock is cleared; releasing is open.",
            )
