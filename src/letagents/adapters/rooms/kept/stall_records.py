"""What a room keeps of its board's standing still."""

from datetime import datetime

import attrs

from letagents.adapters.rooms.book import Book, Kind, Where
from letagents.adapters.rooms.kept import dues
from letagents.adapters.rooms.kept.board_records import TASKS
from letagents.domain import stalls

DUE = "room_stall"
"""What the room is asked to do when nothing is left to do on its board."""


@attrs.frozen
class Empty:
    """Since when nothing has been open on the board; it counts only while that is so."""

    since: datetime


EMPTY = Kind(name="board_empty", of=Empty, key=lambda _one: "board", number=lambda _one: 1)


def is_empty(book: Book) -> bool:
    """Whether nothing is open on the board."""
    return not book.find(TASKS, Where(is_open=True, limit=1))


def closed(book: Book) -> None:
    """Take note that a task has been closed: it may have been the last."""
    if is_empty(book):
        book.put(EMPTY, Empty(book.now))
        dues.ask(book, DUE, "board", book.now + stalls.EMPTY)
