"""What a supervisor does before it serves anybody: it looks at what its predecessor left."""

from datetime import datetime

import attrs
import structlog

from letagents.domain import effects, inbox, turn_controls
from letagents.domain.manifest import Entry
from letagents.ports.clock import Clock
from letagents.ports.supervision import Journal, Supervision

log = structlog.get_logger()


@attrs.frozen
class Found:
    """How much a predecessor left in the middle: effects, and items of inboxes."""

    effects: int
    items: int


async def recover(supervision: Supervision, clock: Clock) -> Found:
    """Say of all that was under way what is known of it now that nobody is at it."""
    now = clock.now()

    def recover(journal: Journal) -> Found:
        begun = 0
        for effect in journal.unsettled():
            left = effects.after_crash(effect, now=now)
            if left != effect:
                begun += 1
                journal.put_effect(left)
        entries = journal.entries()
        for entry in entries:
            _doubt_stops(journal, entry, now)
        return Found(begun, sum(_recovered(journal, one.entry_id) for one in entries))

    found = await supervision.change(recover)
    log.info("supervisor.recovered", effects=found.effects, items=found.items)
    return found


def _doubt_stops(journal: Journal, entry: Entry, now: datetime) -> None:
    """Say of a turn that was to be stopped that it is not known whether it was."""
    if entry.control is None:
        return
    left = turn_controls.after_crash(entry.control, now=now)
    if left != entry.control:
        journal.put_entry(attrs.evolve(entry, control=left))


def _recovered(journal: Journal, entry_id: str) -> int:
    changed = 0
    for item in journal.unfinished(entry_id):
        left = inbox.after_crash(item)
        if left != item:
            changed += 1
            journal.put_item(left)
    return changed
