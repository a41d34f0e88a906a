"""How often one caller may do what nobody has reason to do often."""

from collections import deque
from collections.abc import Awaitable, Callable
from datetime import timedelta

import anyio
import attrs

from letagents.domain.serving import JOINS, JOINS_WITHIN, JoinedTooOften
from letagents.domain.ticks import Tick, elapsed
from letagents.ports.clock import Clock

CALLERS = 10_000
"""Of so many it is remembered; who came the longest ago is forgotten first."""


@attrs.define
class Joins:
    """Counts the rooms that are entered for the first time, by account and address."""

    _clock: Clock
    _most: int = JOINS
    _within: timedelta = JOINS_WITHIN
    _seen: dict[tuple[str, str], deque[Tick]] = attrs.field(factory=dict)

    def count(self, account_id: str, address: str) -> None:
        """Count one.

        Raises:
            JoinedTooOften: there were too many lately; this one is not counted.
        """
        now = self._clock.tick()
        lately = self._seen.pop((account_id, address), deque())
        while lately and elapsed(lately[0], now) >= self._within:
            lately.popleft()
        self._seen[account_id, address] = lately
        if len(self._seen) > CALLERS:
            del self._seen[next(iter(self._seen))]
        if len(lately) >= self._most:
            raise JoinedTooOften(
                "Too many join attempts. Please slow down.",
                remedy=f"Wait {self._within.total_seconds():.0f} seconds, then call again.",
            )
        lately.append(now)


@attrs.define
class Proof:
    """What is costly to find out, found out no more often than once in `within`."""

    _clock: Clock
    _find_out: Callable[[], Awaitable[None]]
    _within: timedelta = timedelta(seconds=1)
    _at: Tick | None = None
    _turn: anyio.Lock = attrs.field(factory=anyio.Lock)

    async def __call__(self) -> None:
        """Return if all is well, or was a moment ago. Raises: what finding out raises."""
        async with self._turn:
            now = self._clock.tick()
            if self._at is None or elapsed(self._at, now) >= self._within:
                await self._find_out()
                self._at = now
