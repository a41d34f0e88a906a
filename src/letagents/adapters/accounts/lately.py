"""What was looked up a moment ago and may be answered again without looking."""

from collections.abc import Hashable
from datetime import timedelta
from typing import Generic, TypeVar

import attrs

from letagents.domain.ticks import Tick, elapsed
from letagents.ports.clock import Clock

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_LARGEST = 10_000


@attrs.define
class Lately(Generic[K, V]):
    """Answers of the last `span`, by what was asked. Any thread may use it."""

    _clock: Clock
    _span: timedelta
    _known: dict[K, tuple[V, Tick]] = attrs.field(factory=dict)

    def get(self, asked: K) -> V | None:
        """Return what was answered lately; None if nothing was."""
        known = self._known.get(asked)
        if known is None or elapsed(known[1], self._clock.tick()) >= self._span:
            return None
        return known[0]

    def note(self, asked: K, answered: V) -> V:
        """Remember an answer, and return it."""
        if len(self._known) >= _LARGEST:
            self._known.clear()
        self._known[asked] = (answered, self._clock.tick())
        return answered

    def forget(self) -> None:
        """Forget everything."""
        self._known.clear()
