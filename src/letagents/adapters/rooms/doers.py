"""Who does what is due. Each looks whether it still has to be done, and never refuses."""

from collections.abc import Callable, Mapping

from letagents.adapters.rooms import kept_wakes
from letagents.adapters.rooms.book import Book

Doer = Callable[[Book, str], None]
"""Does what is due for the thing of that key."""

DOERS: Mapping[str, Doer] = {
    kept_wakes.DUE: kept_wakes.due,
}
