"""Time that only goes forward: what counts where a wall clock that is set must change nothing.

L20  Between two ticks of one boot lies what the machine's steady clock counted, its sleep included.
L21  A tick of an earlier boot is as long ago as the present boot is old; so it is never too long.
"""

from collections.abc import Iterable
from datetime import timedelta

import attrs


@attrs.frozen
class Tick:
    """A reading of a machine's steady clock: which boot, and seconds since some point of it."""

    boot: str
    seconds: float


def elapsed(since: Tick, now: Tick) -> timedelta:
    """Return how long `since` is ago; never less than nothing."""
    same_boot = since.boot == now.boot and since.seconds <= now.seconds
    return timedelta(seconds=now.seconds - (since.seconds if same_boot else 0.0))


def latest(ticks: Iterable[Tick | None], now: Tick) -> Tick | None:
    """Return the tick that is the least ago, or None if there is none."""
    known = [tick for tick in ticks if tick is not None]
    return min(known, key=lambda tick: elapsed(tick, now), default=None)
