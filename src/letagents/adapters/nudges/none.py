"""Nudges where waiters of other processes cannot be reached: they look by themselves."""

import contextlib
from collections.abc import Callable, Iterator

import attrs

from letagents.domain.ids import RoomId


@attrs.frozen
class NoNudges:
    """Wakes nobody; so whoever waits looks again every `every` seconds."""

    every: float = 0.5

    def nudge(self, room_id: RoomId) -> None:
        """Do nothing."""

    @contextlib.contextmanager
    def listening(self, room_id: RoomId, ring: Callable[[], None]) -> Iterator[float]:
        """Say how long a waiter may rest."""
        yield self.every
