"""Which signs of life of its sessions a process has still to write down.

Each call of a session is a sign of it. To write each down would cost as much as the call; so one is
written down only if none was for a while, and nobody waits for that.
"""

from datetime import timedelta

import attrs

from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.ticks import Tick, elapsed
from letagents.ports.clock import Clock

LONGEST = timedelta(minutes=1)
"""A sign is written down unless one was so lately."""
PART_OF_TERM = 4
"""Or so small a part of a lease's term ago, if that is shorter."""
REMEMBERED = 10_000
"""Of so many connections it is remembered; of more, they are written down once more."""

_Hold = tuple[str, str, int]


def interval(term: timedelta) -> timedelta:
    """Return how far apart the signs of one session are written down, where leases have `term`."""
    return min(LONGEST, term / PART_OF_TERM)


@attrs.define
class Signs:
    """When a sign of each session was last written down, for one process. Any thread may ask."""

    _clock: Clock
    _interval: timedelta
    _written: dict[_Hold, Tick] = attrs.field(factory=dict)

    def is_due(self, room_id: RoomId, fence: Fence) -> bool:
        """Whether a sign that is given now has to be written down; if so, it counts as written."""
        hold, tick = _hold(room_id, fence), self._clock.tick()
        before = self._written.get(hold)
        if before is not None and elapsed(before, tick) < self._interval:
            return False
        self._note(hold, tick)
        return True

    def wrote(self, room_id: RoomId, fence: Fence) -> None:
        """Take note that a sign has been written down now."""
        self._note(_hold(room_id, fence), self._clock.tick())

    def forget(self, room_id: RoomId, fence: Fence) -> None:
        """Take it that none was written down, or that there will be no more."""
        self._written.pop(_hold(room_id, fence), None)

    def _note(self, hold: _Hold, tick: Tick) -> None:
        if len(self._written) >= REMEMBERED:
            self._written.clear()
        self._written[hold] = tick


def _hold(room_id: RoomId, fence: Fence) -> _Hold:
    return room_id.value, fence.session_id.value, fence.generation
