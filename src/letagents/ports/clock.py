"""What time it is."""

from datetime import datetime
from typing import Protocol

from letagents.domain.ticks import Tick


class Clock(Protocol):
    """Tells the time. Only the application and the adapters ask; the domain is told.

    Y1  A moment is in UTC and aware of it, to the millisecond, as all records keep it.
    Y4  A tick is the same for every process of a machine, counts its sleep, and is moved by nobody.
    """

    def now(self) -> datetime:
        """Return the present moment, for people: it may be set, forward or back."""
        ...

    def tick(self) -> Tick:
        """Return the present reading of the steady clock, for spans."""
        ...
