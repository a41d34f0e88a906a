"""Whom a transaction on a room concerns, of those who wait there: noted as it is done.

To wake all for everything would cost as many looks as there are waiters, and the arrival of a
worker, for one, is nothing that any of them could find. What wakes nobody here changes nothing that
a wait is ended by, and nobody has to rest shorter for it.
"""

import attrs

from letagents.domain.ids import SessionId
from letagents.domain.sessions import Seat

TOLD = frozenset({"task_event", "reasoning_update", "artifact_change"})
"""The kinds of things whose newest a feed tells; they are not loaded for that."""
DUE = "due"
"""The kind of what shortens the rest of all who wait, as long as it is open."""


@attrs.define(eq=False)
class Stirred:
    """What one transaction did that somebody who waits could be told."""

    everybody: bool = False
    """Something was said, or is told, or falls due."""
    receipts: bool = False
    """A receipt has moved."""
    sessions: set[SessionId] = attrs.field(factory=set)
    """They were there before, and were taken over or ended: those who hold them wait in vain."""

    def put(self, kind: str, *, is_open: bool) -> None:
        """Take note that a thing of that kind was put down."""
        if kind in TOLD or (kind == DUE and is_open):
            self.everybody = True

    def took(self, before: Seat | None, after: Seat) -> None:
        """Take note that a seat was taken. Nobody waits yet with one that is new."""
        if before is not None and before.standing != after.standing:
            self.sessions.add(after.session.session_id)

    def __bool__(self) -> bool:
        """Whether anybody is concerned at all."""
        return self.everybody or self.receipts or bool(self.sessions)
