"""Looking, for all who wait in a process at once, whether another one has written something.

A nudge may be lost. So one timer for all of them asks for the beat of the database, which each
commit makes another; and whether the commit was another process's, the thread that writes can tell.
What this process writes itself rings the bells of those whom it concerns, and is no reason to look.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterator

import attrs

from letagents.adapters.rooms.bells import Bell

Ask = Callable[[], object]


@attrs.define(eq=False)
class _Shift:
    """The waiters of one event loop that look equally often."""

    every: float
    beat: int | None
    others: object = None
    bells: set[Bell] = attrs.field(factory=set)
    timer: asyncio.TimerHandle | None = None


@attrs.define(eq=False)
class Lookout:
    """Lets those look who wait, when there may be something that they were not told of.

    `others` is asked in the thread that writes, to which `hand` gives what it is to do: it returns
    another value once anybody else has committed.
    """

    _beat: Callable[[], int | None]
    _others: Ask
    _hand: Callable[[Ask], None]
    _shifts: dict[tuple[asyncio.AbstractEventLoop, float], _Shift] = attrs.field(factory=dict)

    @contextlib.contextmanager
    def watching(self, bell: Bell, every: float) -> Iterator[None]:
        """Look for the waiter with `bell`, every so many seconds."""
        at = (asyncio.get_running_loop(), every)
        shift = self._shifts.get(at) or self._begun(at)
        shift.bells.add(bell)
        try:
            yield
        finally:
            shift.bells.discard(bell)
            if not shift.bells:
                self._end(at)

    def _begun(self, at: tuple[asyncio.AbstractEventLoop, float]) -> _Shift:
        shift = self._shifts[at] = _Shift(at[1], self._beat())
        self._go_on(at[0], shift)
        return shift

    def _end(self, at: tuple[asyncio.AbstractEventLoop, float]) -> None:
        shift = self._shifts.pop(at)
        if shift.timer is not None:
            shift.timer.cancel()

    def _go_on(self, loop: asyncio.AbstractEventLoop, shift: _Shift) -> None:
        shift.timer = loop.call_later(shift.every, self._look, loop, shift)

    def _look(self, loop: asyncio.AbstractEventLoop, shift: _Shift) -> None:
        beat = self._beat()
        if beat != shift.beat:
            shift.beat = beat
            self._hand(lambda: self._find_out(shift))
        self._go_on(loop, shift)

    def _find_out(self, shift: _Shift) -> None:
        others = self._others()
        if others != shift.others or others is None:
            shift.others = others
            for bell in tuple(shift.bells):
                bell.let_look()
