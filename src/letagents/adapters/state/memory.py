"""A state that lives as long as the object: for tests, and for those who embed us."""

import threading
from collections.abc import Callable
from typing import TypeVar

import attrs
from anyio.lowlevel import checkpoint

from letagents.domain.errors import StateUnavailable
from letagents.domain.local_state import LocalState

T = TypeVar("T")


@attrs.define
class MemoryState:
    """Keeps the state in memory. While `fault` is set, every call raises it."""

    _state: LocalState = attrs.field(factory=LocalState)
    fault: StateUnavailable | None = None
    _mutex: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)

    async def read(self) -> LocalState:
        """Return the state as it is."""
        await checkpoint()
        self._complain()
        return self._state

    async def transact(self, decide: Callable[[LocalState], tuple[LocalState, T]]) -> T:
        """Replace the state by what `decide` makes of it; return its answer."""
        await checkpoint()
        self._complain()
        with self._mutex:
            self._state, answer = decide(self._state)
        return answer

    def _complain(self) -> None:
        if self.fault is not None:
            raise self.fault
