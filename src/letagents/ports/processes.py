"""Which processes are there: what a room needs to know of those that hold its tasks.

D20  A process that is there is never said to be gone, be it stopped, busy or silent.
D21  A process that has ended, however it ended, is never said to be there.
D22  What cannot be known is unknown: a process of another machine, or of another home; a name that
     left no trace; a place that cannot be used.
D23  Each process has a name of its own, which no other ever has; who asks for none leaves nothing
     behind, and a child that it forks does not keep it alive.
D24  Asking changes nothing for the process asked about, nor for others that ask in that moment.
D25  When a process was last there is known to within half a minute, also once it is gone: so its
     end takes nothing from it at once.
"""

from typing import Protocol

from letagents.domain.ticks import Tick


class Processes(Protocol):
    """Knows which processes of this machine are there. Nothing of it raises."""

    @property
    def own(self) -> str | None:
        """The name of this process, under which others find it; None where it can have none."""
        ...

    def is_alive(self, process: str) -> bool | None:
        """Whether that process is there; None where that cannot be known."""
        ...

    def last_seen(self, process: str) -> Tick | None:
        """Return when that process was there last, as far as it said so; None where it did not."""
        ...
