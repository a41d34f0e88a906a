"""How many are in rooms in a database and hold work there: counted once a minute at most."""

from datetime import timedelta

import attrs
from sqlalchemy import func, select, true

from letagents.adapters.rooms.local_store import LocalStore
from letagents.adapters.sql.database import Unit
from letagents.adapters.sql.tables import SESSIONS, THINGS
from letagents.domain.ticks import Tick, elapsed
from letagents.ports.clock import Clock

KEPT_FOR = timedelta(minutes=1)
WORK_LEASE = "work_lease"
"""The kind of board_records.WORK_LEASES, which is not loaded for that."""

_LIVE = select(func.count()).select_from(SESSIONS).where(SESSIONS.c.ended_at.is_(None))
_HELD = (
    select(func.count())
    .select_from(THINGS)
    .where(THINGS.c.kind == WORK_LEASE, THINGS.c.is_open == true())
)


@attrs.define
class Counts:
    """What was counted last. Any thread may ask."""

    _clock: Clock
    _counted: tuple[Tick, int, int] | None = None

    def of(self, store: LocalStore) -> tuple[int, int]:
        """Return how many sessions are live and work leases open. Raises RoomsUnavailable."""
        now, before = self._clock.tick(), self._counted
        if before is None or elapsed(before[0], now) >= KEPT_FOR:
            before = (now, *store.read(_count))
            self._counted = before
        return before[1], before[2]


def _count(unit: Unit) -> tuple[int, int]:
    live, held = unit.row(_LIVE), unit.row(_HELD)
    return (int(live[0]) if live else 0), (int(held[0]) if held else 0)
