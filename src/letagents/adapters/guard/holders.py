"""Whether who has a task is still there: the rules of leases, for the few that are in the way.

Loaded only where something is in the way of a commit.
"""

from datetime import timedelta

import attrs

from letagents.adapters.guard.claims import Holder
from letagents.domain import leases, ticks
from letagents.domain.leases import Evidence, Lease
from letagents.domain.ticks import Tick
from letagents.ports.clock import Clock
from letagents.ports.processes import Processes
from letagents.wire import kept


@attrs.frozen
class Holders:
    """Knows who is there, as rooms do."""

    _processes: Processes
    _clock: Clock
    _term: timedelta

    def has_signs(self, lease: str, holder: Holder | None) -> bool:
        """Whether a lease, as rooms keep it, is held."""
        evidence = Evidence(ended=True) if holder is None else self._evidence(holder)
        return leases.is_held(kept.read(lease, Lease), evidence, self._clock.tick(), self._term)

    def _evidence(self, holder: Holder) -> Evidence:
        boot, seconds, process = holder.seen_boot, holder.seen_seconds, holder.process
        called = Tick(boot, seconds) if boot is not None and seconds is not None else None
        was_there = self._processes.last_seen(process) if process else None
        return Evidence(
            alive=self._processes.is_alive(process) if process else None,
            seen=ticks.latest([called, was_there], self._clock.tick()),
            ended=holder.ended_at is not None,
        )
