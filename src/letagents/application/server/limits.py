"""How often, and how much at once, one caller may do what nobody has reason to do much."""

from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import anyio
import attrs

from letagents.domain.serving import COUNTED_WITHIN, AskedTooOften
from letagents.domain.ticks import Tick, elapsed
from letagents.ports.clock import Clock

CALLERS = 10_000
"""Of so many it is remembered; who came the longest ago is forgotten first."""


@attrs.define
class Rate:
    """Counts what each caller does, over a span that goes along with the clock."""

    _clock: Clock
    _most: int
    _seen: dict[tuple[str, ...], deque[Tick]] = attrs.field(factory=dict)

    def count(self, *caller: str) -> None:
        """Count one more of a caller's, whom all of `caller` together tell apart.

        Raises:
            AskedTooOften: there were too many lately; this one is not counted.
        """
        lately = self._lately(caller)
        if len(lately) >= self._most:
            raise AskedTooOften(
                "Too much was asked for lately. Please slow down.",
                remedy=f"Wait {COUNTED_WITHIN.total_seconds():.0f} seconds, then call again.",
            )
        lately.append(self._clock.tick())

    def _lately(self, caller: tuple[str, ...]) -> deque[Tick]:
        """Return when the caller did it lately, as what is forgotten the last from now on."""
        now, lately = self._clock.tick(), self._seen.pop(caller, deque())
        while lately and elapsed(lately[0], now) >= COUNTED_WITHIN:
            lately.popleft()
        self._seen[caller] = lately
        if len(self._seen) > CALLERS:
            del self._seen[next(iter(self._seen))]
        return lately


@attrs.define
class UnderWay:
    """Counts the requests of each account that are being answered."""

    _most: int
    _counts: Counter[str] = attrs.field(factory=Counter)

    @contextmanager
    def one(self, account_id: str) -> Iterator[None]:
        """Count one for as long as the context lasts. Raises as `begin`."""
        self.begin(account_id)
        try:
            yield
        finally:
            self.end(account_id)

    def begin(self, account_id: str) -> None:
        """Count one more.

        Raises:
            AskedTooOften: too many are under way; this one is not counted.
        """
        if self._counts[account_id] >= self._most:
            raise AskedTooOften(
                "Too many requests of this account are under way.",
                remedy="End waits that nobody needs, then call again.",
            )
        self._counts[account_id] += 1

    def end(self, account_id: str) -> None:
        """Count one less."""
        self._counts[account_id] -= 1
        if not self._counts[account_id]:
            del self._counts[account_id]


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
