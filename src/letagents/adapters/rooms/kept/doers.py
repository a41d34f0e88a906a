"""Who does what is due. Each looks whether it still has to be done, and never refuses."""

from collections.abc import Callable, Mapping

from letagents.adapters.rooms.book import Book
from letagents.adapters.rooms.kept import absences as kept_absences
from letagents.adapters.rooms.kept import escalation as kept_escalation
from letagents.adapters.rooms.kept import intents as kept_intents
from letagents.adapters.rooms.kept import managers as kept_managers
from letagents.adapters.rooms.kept import stall_records
from letagents.adapters.rooms.kept import stalls as kept_stalls
from letagents.adapters.rooms.kept import wakes as kept_wakes

Doer = Callable[[Book, str], None]
"""Does what is due for the thing of that key."""

DOERS: Mapping[str, Doer] = {
    kept_absences.DUE: kept_absences.due,
    kept_wakes.DUE: kept_wakes.due,
    kept_intents.ESCALATION_DUE: kept_escalation.escalate,
    kept_managers.WATCH_DUE: kept_managers.watch,
    stall_records.DUE: kept_stalls.due,
}
