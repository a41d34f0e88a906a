"""Looking, for all who wait in a process at once, whether another one has written something.

A nudge may be lost. So one timer for all of them asks for the beat of the database, which each
commit makes another; and whether the commit was another process's, the thread that writes can tell.
What this process writes itself rings the bells of those whom it concerns, and is no reason to look.

Where the database has no beat, the marks of all rooms that are waited in are asked for at once, and
those look whose room has another mark than one that was taken before they looked last.
"""

import asyncio
import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping

import attrs

from letagents.adapters.rooms.bells import Bell
from letagents.domain.errors import LetAgentsError
from letagents.domain.ids import RoomId

Ask = Callable[[], object]

REMEMBERED = 10_000
"""The marks of so many rooms are remembered."""
_UNKNOWN = object()


@attrs.define(eq=False)
class _Watch:
    """In which room somebody waits, and the mark that it had before they looked."""

    room_id: RoomId
    mark: object


@attrs.define(eq=False)
class _Shift:
    """The waiters of one event loop that look equally often."""

    every: float
    beat: int | None
    others: object = None
    bells: dict[Bell, _Watch] = attrs.field(factory=dict)
    timer: asyncio.TimerHandle | None = None


@attrs.define(eq=False)
class Lookout:
    """Lets those look who wait, when there may be something that they were not told of.

    `others` is asked in the thread that writes, to which `hand` gives what it is to do: it returns
    another value once anybody else has committed. `marks` is asked in one that reads, by `read`,
    and raises what who waits is to be told.
    """

    _beat: Callable[[], int | None]
    _others: Ask
    _hand: Callable[[Ask], None]
    _marks: Callable[[Collection[RoomId]], Mapping[RoomId, object]]
    _read: Callable[[Ask], None]
    _shifts: dict[tuple[asyncio.AbstractEventLoop, float], _Shift] = attrs.field(factory=dict)
    _known: dict[RoomId, object] = attrs.field(factory=dict)

    @contextlib.contextmanager
    def watching(self, room_id: RoomId, bell: Bell, every: float) -> Iterator[None]:
        """Look for the waiter with `bell`, every so many seconds."""
        at = (asyncio.get_running_loop(), every)
        shift = self._shifts.get(at) or self._begun(at)
        known = self._known.get(room_id, _UNKNOWN)
        shift.bells[bell] = _Watch(room_id, known)
        if shift.beat is None and known is _UNKNOWN:
            self._read(lambda: self._marked([room_id]))
        try:
            yield
        finally:
            del shift.bells[bell]
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
        before, shift.beat = shift.beat, self._beat()
        if shift.beat is None:
            watches = tuple(shift.bells.items())
            self._read(lambda: self._compare(watches))
        elif shift.beat != before:
            self._hand(lambda: self._find_out(shift))
        self._go_on(loop, shift)

    def _find_out(self, shift: _Shift) -> None:
        others = self._others()
        if others != shift.others or others is None:
            shift.others = others
            for bell in tuple(shift.bells):
                bell.let_look()

    def _compare(self, watches: Collection[tuple[Bell, _Watch]]) -> None:
        found = self._marked({watch.room_id for _, watch in watches})
        for bell, watch in watches:
            mark = found.get(watch.room_id, _UNKNOWN)
            if mark is _UNKNOWN or mark != watch.mark:
                watch.mark = mark
                bell.let_look()

    def _marked(self, room_ids: Collection[RoomId]) -> Mapping[RoomId, object]:
        """Return the marks of those rooms; none if they cannot be told."""
        try:
            found = self._marks(room_ids)
        except LetAgentsError:
            return {}
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known.update(found)
        return found
