"""How many are in rooms in a database, hold work, and wait there: counted once a minute at most."""

from datetime import timedelta

import attrs
from sqlalchemy import func, select, true

from letagents.adapters.rooms.local_store import LocalStore
from letagents.adapters.sql.database import Unit
from letagents.adapters.sql.tables import RECEIPTS, SESSIONS, THINGS, UNSETTLED, moment
from letagents.domain.receipts import State
from letagents.domain.ticks import Tick, elapsed
from letagents.ports.clock import Clock
from letagents.ports.vitals import Vitals

KEPT_FOR = timedelta(minutes=1)
WORK_LEASE = "work_lease"
"""The kind of board_records.WORK_LEASES, which is not loaded for that."""

_LIVE = select(func.count()).select_from(SESSIONS).where(SESSIONS.c.ended_at.is_(None))
_HELD = (
    select(func.count())
    .select_from(THINGS)
    .where(THINGS.c.kind == WORK_LEASE, THINGS.c.is_open == true())
)
_WAITING = (
    select(RECEIPTS.c.state, func.count(), func.min(RECEIPTS.c.created_at))
    .where(UNSETTLED)
    .group_by(RECEIPTS.c.state)
)


@attrs.define
class Counts:
    """What was counted last. Any thread may ask."""

    _clock: Clock
    _counted: tuple[Tick, Vitals] | None = None

    def of(self, store: LocalStore) -> Vitals:
        """Return what is told of all rooms. Raises RoomsUnavailable."""
        now, before = self._clock.tick(), self._counted
        if before is None or elapsed(before[0], now) >= KEPT_FOR:
            before = (now, store.read(self._count))
            self._counted = before
        return before[1]

    def _count(self, unit: Unit) -> Vitals:
        live, held = unit.row(_LIVE), unit.row(_HELD)
        waiting = {State(state): (many, oldest) for state, many, oldest in unit.rows(_WAITING)}
        _, queued_at = waiting.get(State.QUEUED, (0, None))
        waits = timedelta(0) if queued_at is None else self._clock.now() - moment(queued_at)
        return Vitals(
            live_sessions=int(live[0]) if live else 0,
            open_work_leases=int(held[0]) if held else 0,
            unsettled={state: int(many) for state, (many, _) in waiting.items()},
            oldest_queued=max(waits, timedelta(0)),
        )
