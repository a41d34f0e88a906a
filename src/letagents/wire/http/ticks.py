"""Readings of a server's steady clock. Only that server can tell how long ago one is."""

from letagents.domain.ticks import Tick
from letagents.wire.http.reading import Fields

Plain = dict[str, object]

UNTOLD = Tick("", 0.0)
"""What is noted where a server tells none."""


def plain(tick: Tick | None) -> Plain | None:
    """Return the form of a reading."""
    return None if tick is None else {"boot": tick.boot, "seconds": tick.seconds}


def tick(fields: Fields, name: str) -> Tick | None:
    """Return the reading that a field spells, or None for null and for what is left out.

    Raises:
        Unreadable: it spells none.
    """
    told = fields.part(name)
    return Tick(told.text("boot"), told.number("seconds")) if told else None
