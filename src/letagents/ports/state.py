"""Where one machine keeps what it must not forget."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from letagents.domain.local_state import LocalState

T = TypeVar("T")


class StateStore(Protocol):
    """Remembers workers, their sessions and the rooms of this machine across restarts.

    Every adapter keeps these, and the contract suite has a test for each:

    S1  `transact` hands `decide` the newest state, and nobody writes between that reading and the
        writing of what `decide` returns.
    S2  When `decide` raises, nothing is written and the error passes through.
    S3  What `transact` wrote is read by any store opened on the same place, and outlives the
        process and the power supply.
    S4  When the place cannot be used, StateUnavailable is raised, and never an error of the
        adapter's own library; nothing was changed.
    S5  A place whose content is not a state raises StateDamaged with where it is and what is wrong,
        and is left exactly as it is.
    S6  What no rule interprets is kept, at every level, as it was read.
    S7  A call that is cancelled while it waits for its turn changes nothing.

    Moments are kept to the millisecond.
    """

    async def read(self) -> LocalState:
        """Return the newest state; a place that does not exist yet holds an empty one."""
        ...

    async def transact(self, decide: Callable[[LocalState], tuple[LocalState, T]]) -> T:
        """Replace the state by what `decide` makes of it; return its answer.

        `decide` is short, pure and synchronous: it runs, in any thread, while the place is
        locked, and may run twice. When it returns the very state it was given, nothing is written.
        """
        ...
