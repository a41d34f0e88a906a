"""Under which epochs the sessions of one client hold their tasks, as far as they have been told.

A call that writes under a lease shows what is known when it begins. So if it is late, and its own
session has lost the lease and got another meanwhile, the room tells the two apart. It is the room
that decides; what is known here says no more than what was meant.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import attrs

from letagents.domain.errors import LetAgentsError
from letagents.domain.ids import SessionId
from letagents.domain.sessions import Connection

if TYPE_CHECKING:  # a process that asks for nothing of this loads nothing of it
    from letagents.domain.board import TaskView
    from letagents.domain.leases import LeaseKind

MOST = 256
"""Of how many tasks the leases are known to a session; the oldest are forgotten."""

WORK, REVIEW = "work", "review"


@attrs.frozen
class Known:
    """A lease that a session was told it has. `kind` says what for."""

    kind: str
    epoch: int

    @property
    def under(self) -> "LeaseKind":
        """Its kind, as boards have it."""
        from letagents.domain.leases import LeaseKind

        return LeaseKind(self.kind)


Leases = Mapping[str, Known]
"""What a session was told of its tasks, by their ids. It has one lease of a task at most."""


@attrs.define
class Epochs:
    """What the sessions of one client know of their leases."""

    _of: dict[SessionId, Leases] = attrs.field(factory=dict)

    def of(self, connection: Connection | None) -> Leases:
        """Return what the connection's session knows now; later news do not change that."""
        return self._of.get(connection.session.session_id, {}) if connection else {}

    def arrived(self, connection: Connection) -> None:
        """Know what the connection found when it was opened, and nothing older."""
        found = {
            one.about: Known(one.kind, one.epoch)
            for one in connection.resumed
            if one.epoch is not None
        }
        self._keep(connection, found)

    def left(self, connection: Connection) -> None:
        """Forget what the connection's session knew."""
        self._of.pop(connection.session.session_id, None)

    def saw(
        self, connection: Connection | None, views: "Iterable[TaskView]", before: Leases
    ) -> None:
        """Learn from tasks that were shown to a call which began when `before` was known."""
        if connection is None:
            return
        for view in views:
            own = (
                Known(shown.lease.kind.value, shown.lease.epoch)
                for shown in view.leases
                if shown.lease.session_id == connection.session.session_id
            )
            self.learn(connection, view.task.task_id, next(own, None), before)

    def learn(
        self, connection: Connection, task_id: str, told: Known | None, before: Leases
    ) -> None:
        """Know that the session has that lease of a task, or none, unless it has learnt since."""
        known = self.of(connection)
        now = known.get(task_id)
        if now == told or (now != before.get(task_id) and not _is_later(told, now)):
            return
        rest = {key: value for key, value in known.items() if key != task_id}
        self._keep(connection, rest if told is None else rest | {task_id: told})

    @contextmanager
    def shown(
        self, connection: Connection, task_id: str, named: int | None = None
    ) -> Iterator[Leases]:
        """Give what is known when a call begins; forget of the task what is refused as over.

        What is refused to a call that has `named` an epoch itself tells nothing of what is known.
        """
        before = self.of(connection)
        try:
            yield before
        except LetAgentsError as refused:
            if named is None and _is_over(refused):
                self.learn(connection, task_id, None, before)
            raise

    def _keep(self, connection: Connection, leases: Leases) -> None:
        newest = list(leases.items())[-MOST:]
        self._of[connection.session.session_id] = dict(newest)


def epoch_of(known: Leases, task_id: str, kind: str) -> int | None:
    """Return the epoch of the lease of that kind, if it is known."""
    found = known.get(task_id)
    return found.epoch if found is not None and found.kind == kind else None


def _is_over(refused: LetAgentsError) -> bool:
    from letagents.domain.leases import LeaseFenceStale, LeaseMissing

    return isinstance(refused, LeaseFenceStale | LeaseMissing)


def _is_later(told: Known | None, now: Known | None) -> bool:
    if told is None or now is None:
        return False
    return told.kind == now.kind and told.epoch > now.epoch
