"""Time that only goes forward: what counts where a wall clock that is set must change nothing.

L20  Between two ticks of one boot lies what the machine's steady clock counted, its sleep included;
     one that is ahead, as that of another machine with the same clock may be, is of now.
L21  A tick of an earlier boot is as long ago as the present boot is old; so it is never too long.
     Where boots have no name, it is known by a later reading.
"""

from collections.abc import Iterable
from datetime import timedelta

import attrs


@attrs.frozen
class Tick:
    """A reading of a machine's steady clock: which boot, and seconds since some point of it.

    Where the system has no name for a boot, that is empty.
    """

    boot: str
    seconds: float


def elapsed(since: Tick, now: Tick) -> timedelta:
    """Return how long `since` is ago; never less than nothing."""
    between = now.seconds - since.seconds
    if since.boot == now.boot and (since.boot or between >= 0):
        return timedelta(seconds=max(between, 0.0))
    return timedelta(seconds=now.seconds)


def latest(ticks: Iterable[Tick | None], now: Tick) -> Tick | None:
    """Return the tick that is the least ago, or None if there is none."""
    known = [tick for tick in ticks if tick is not None]
    return min(known, key=lambda tick: elapsed(tick, now), default=None)
