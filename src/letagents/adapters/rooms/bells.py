"""How the waiters of a room are woken within one process, and what wakes those of other processes.

A bell that rings says only "look again": it carries nothing, may ring for nothing, and may be lost.
Who waits always reads the room itself, and looks again after a while even if no bell rang.
"""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol

import attrs

from letagents.domain.ids import RoomId, SessionId


class Nudges(Protocol):
    """Wakes the waiters of other processes. Nothing of it raises: a nudge may always be lost."""

    def nudge(self, room_id: RoomId) -> None:
        """Wake whoever listens to the room, in whatever process. Called from any thread."""
        ...

    def listening(self, room_id: RoomId, ring: Callable[[], None]) -> AbstractContextManager[float]:
        """Call `ring` on the running event loop at each nudge.

        The value is how many seconds a waiter may rest before it looks by itself.
        """
        ...


@attrs.define(eq=False)
class Bell:
    """What one waiter rests on. Any thread may ring it."""

    _loop: asyncio.AbstractEventLoop = attrs.field(factory=asyncio.get_running_loop)
    _over: asyncio.Event = attrs.field(factory=asyncio.Event)
    _rang: bool = False

    def ring(self) -> None:
        """End the rest. Only on the waiter's own event loop."""
        self._rang = True
        self._over.set()

    def ring_from_elsewhere(self) -> None:
        """End the rest, from any thread; a waiter whose loop has closed is past caring."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self.ring)

    def let_look(self) -> None:
        """End the rest, from any thread, though nobody rings."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._over.set)

    async def rest(self, seconds: float) -> bool:
        """Rest until it rings, or rang since the last rest; say whether it did within `seconds`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._over.wait()
        rang, self._rang = self._rang, False
        self._over.clear()
        return rang


@attrs.define
class Bells:
    """The bells of one process, by room, or by those in it who hang them."""

    _lock: threading.Lock = attrs.field(factory=threading.Lock)
    _hung: dict[tuple[str, ...], set[Bell]] = attrs.field(factory=dict)

    @contextlib.contextmanager
    def hung(
        self, room_id: RoomId, bell: Bell | None = None, *, of: SessionId | None = None
    ) -> Iterator[Bell]:
        """Hang a bell for the waiter that runs this, or its own that hangs elsewhere too."""
        bell, place = bell or Bell(), _place(room_id, of)
        with self._lock:
            self._hung.setdefault(place, set()).add(bell)
        try:
            yield bell
        finally:
            self._take_down(place, bell)

    @property
    def many(self) -> int:
        """How many bells hang."""
        with self._lock:
            return sum(map(len, self._hung.values()))

    def _take_down(self, place: tuple[str, ...], bell: Bell) -> None:
        with self._lock:
            others = self._hung[place]
            others.discard(bell)
            if not others:
                del self._hung[place]

    def ring(self, room_id: RoomId, *, of: SessionId | None = None) -> None:
        """Ring all bells of the room, or of a session, from any thread."""
        place = _place(room_id, of)
        if place not in self._hung:
            return
        with self._lock:
            hung = tuple(self._hung.get(place, ()))
        for bell in hung:
            bell.ring_from_elsewhere()


def _place(room_id: RoomId, of: SessionId | None) -> tuple[str, ...]:
    return (room_id.value,) if of is None else (room_id.value, of.value)
