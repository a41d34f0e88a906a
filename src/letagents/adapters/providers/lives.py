"""What others see of the process of a conversation: what is done in it, and how it ended."""

import itertools
from collections.abc import Callable, Iterator

import attrs

from letagents.adapters.processes import children
from letagents.adapters.processes.births import Presence, presence
from letagents.adapters.processes.children import Child
from letagents.adapters.providers.programs import Output, how_it_ended
from letagents.domain.progress import Activity
from letagents.domain.turns import Outcome
from letagents.ports.providers import Connection, Ending

Tell = Callable[[Activity], None]

REMEMBERED = 64
"""So many turns of a process are remembered, which may live for months."""


@attrs.define(eq=False)
class Outcomes:
    """How the last turns of a conversation ended, as its process told."""

    _of: dict[str, Outcome] = attrs.field(factory=dict)

    def of(self, turn_id: str | None) -> Outcome | None:
        """Return how a turn ended; None if that was not told, or long ago."""
        return self._of.get(turn_id) if turn_id is not None else None

    def put(self, turn_id: str, outcome: Outcome) -> Outcome:
        """Remember how a turn ended."""
        self._of[turn_id] = outcome
        if len(self._of) > REMEMBERED:
            del self._of[next(iter(self._of))]
        return outcome


@attrs.define(eq=False)
class Life:
    """One process, as those see it who watch it. What it writes goes to `output`, if to us."""

    output: Output | None = None
    is_stopped: bool = False
    """Whether we have ended it ourselves."""
    _told: Ending | None = None
    _listeners: dict[int, Tell] = attrs.field(factory=dict)
    _numbers: Iterator[int] = attrs.field(factory=itertools.count)

    def watch(self, tell: Tell) -> Callable[[], None]:
        """Tell what is done from now on; return what ends that."""
        number = next(self._numbers)
        self._listeners[number] = tell
        return lambda: self._listeners.pop(number, None) and None

    def tell(self, activity: Activity | None) -> None:
        """Tell those who watch what is done, if it is anything."""
        if activity is not None:
            for tell in tuple(self._listeners.values()):
                tell(activity)

    def trim(self) -> None:
        """Let go of what it wrote long ago: it may live for months."""
        if self.output is not None:
            self.output.trim()

    def ending(self, code: int | None) -> Ending:
        """Return how it ended, once it has; `code` is None where that is not known.

        Whoever ends it afterwards is told the same: it has not been stopped by that.
        """
        if self._told is None:
            cause = how_it_ended(code, is_stopped=self.is_stopped)
            self._told = Ending(cause, code, self.left())
        return self._told

    def left(self) -> str:
        """Let go of what it writes; return what it wrote last."""
        return self.output.close() if self.output is not None else ""


async def ended(child: Child | None, at: Connection) -> int | None:
    """Wait until a process has ended, `child` of ours or not; return its code, where it is told."""
    if child is not None:
        return await child.ended()
    was_there = presence(at.pid, at.birth) is Presence.SAME
    await children.gone(at.pid, at.birth)
    if was_there:
        children.end_left(at.pid)  # a launcher may go before the program that it launched
    return None


async def end(child: Child | None, at: Connection) -> int | None:
    """End a process, `child` of ours or not; return its code, where it is told."""
    if child is not None:
        return await child.end()
    await children.end(at.pid, at.birth)
    return None
