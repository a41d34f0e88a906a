"""The clock of a database server, which all who keep rooms there have in common.

Their machines' own clocks tell nothing to each other: each has boots of its own, and is set by
itself. So the server tells its time whenever a transaction begins, and between two of these times
it is counted on by the steady clock of this machine.
"""

import math
from datetime import UTC, datetime, timedelta

import attrs

from letagents.domain.ticks import Tick, elapsed
from letagents.ports.clock import Clock

BOOT = "the server's time"
"""It goes on when the server starts again, or another takes its place."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@attrs.define(eq=False)
class ServerClock:
    """The server's clock as it was told last; before it was, that of this machine. Any thread."""

    _here: Clock
    _told: tuple[float, Tick] | None = None

    def now(self) -> datetime:
        """Return the present moment, to the millisecond."""
        seconds = self._seconds()
        if seconds is None:
            return self._here.now()
        return _EPOCH + timedelta(milliseconds=math.floor(seconds * 1000))

    def tick(self) -> Tick:
        """Return a reading that all who share the server can compare."""
        seconds = self._seconds()
        return self._here.tick() if seconds is None else Tick(BOOT, seconds)

    def set_to(self, seconds: float) -> None:
        """Take over what the server says: so many seconds since 1970."""
        self._told = seconds, self._here.tick()

    def _seconds(self) -> float | None:
        if self._told is None:
            return None
        seconds, told_at = self._told
        return seconds + elapsed(told_at, self._here.tick()).total_seconds()
