"""When connections that are silent say that they are still open: many of them in one moment.

A thousand that each kept a time of their own would wake the process for every single sign, and to
be woken costs more than the sign: several times as much as one that is sent right after another.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import attrs

EVERY = 15.0
"""Seconds between two signs on a connection. (Source: hosted-api 3.6.)"""
PARTS = 15
"""Into so many moments a round is divided: those who join in the same part give a sign together."""


def _moments() -> tuple[asyncio.Event, ...]:
    return tuple(asyncio.Event() for _ in range(PARTS))


@attrs.define(eq=False)
class Beats:
    """One timer for all connections of an event loop; it runs while there are any."""

    every: float = EVERY
    _moments: tuple[asyncio.Event, ...] = attrs.field(factory=_moments)
    _now: int = 0
    _many: int = 0
    _timer: asyncio.TimerHandle | None = None

    @contextmanager
    def joined(self) -> Iterator[Callable[[], Awaitable[object]]]:
        """Give what returns at the next beat, which comes once in each round from now on."""
        moment = self._moments[self._now]
        self._many += 1
        if self._timer is None:
            self._go_on()
        try:
            yield moment.wait
        finally:
            self._many -= 1
            if not self._many and self._timer is not None:
                self._timer.cancel()
                self._timer = None

    def _go_on(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self.every / PARTS, self._beat)

    def _beat(self) -> None:
        self._go_on()
        self._now = (self._now + 1) % PARTS
        moment = self._moments[self._now]
        moment.set()
        moment.clear()  # those who waited are woken; who waits from now on waits for a round
