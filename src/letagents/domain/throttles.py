"""How often progress is shown: not more often than it can be read.

Y38  Nothing is shown within PAUSE of what was shown last, and nothing twice within REPEATED.
"""

import attrs

from letagents.domain.ticks import Tick

PAUSE = 0.75
REPEATED = 30.0
"""Seconds. (Source: supervisor 8.8.)"""


@attrs.define
class Throttle:
    """Remembers what was shown last."""

    _shown: object = None
    _at: Tick | None = None

    def admits(self, what: object, now: Tick) -> bool:
        """Whether `what` is to be shown now; if so, it counts as shown."""
        if self._at is not None and self._at.boot == now.boot:
            passed = now.seconds - self._at.seconds
            if passed < PAUSE or (what == self._shown and passed < REPEATED):
                return False
        self._shown, self._at = what, now
        return True
