"""What time it is."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time. Only the application asks; the domain is told.

    Y1  A moment is in UTC and aware of it, to the millisecond, as all records keep it.
    """

    def now(self) -> datetime:
        """Return the present moment."""
        ...
