"""What a server needs to know of its rooms to tell those who look after it.

X30  What is told of the process is of now; what is told of all rooms may be a minute old.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

import attrs

if TYPE_CHECKING:
    from letagents.domain.receipts import State


@attrs.frozen(kw_only=True)
class Vitals:
    """How the rooms of one process are, and all rooms that are kept where it keeps them."""

    waiters: int = 0
    """Calls of this process that wait for something to happen in a room."""
    nudges_lost: int = 0
    """How often a waiter of this process found by itself what nobody woke it for."""
    live_sessions: int = 0
    open_work_leases: int = 0
    unsettled: "Mapping[State, int]" = attrs.field(factory=dict)
    """How many receipts stand in each state but the last."""
    oldest_queued: timedelta = timedelta(0)
    """How long the oldest of those waits that nobody was shown yet."""


class Watched(Protocol):
    """Rooms of which it can be told how they are."""

    async def vitals(self) -> Vitals:
        """Return how they are. Raises RoomsUnavailable."""
        ...
