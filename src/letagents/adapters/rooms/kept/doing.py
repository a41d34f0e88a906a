"""Letting a room do what is due, by whoever waits in it or asks for its board."""

from datetime import datetime, timedelta

import attrs

from letagents.adapters.rooms.book import Book, Keeping, Where
from letagents.adapters.rooms.kept import doers
from letagents.adapters.rooms.kept.dues import DUES
from letagents.domain.ids import RoomId

AT_ONCE = 100
"""So many due things are done in one transaction; the next one does more."""

_OPEN = Where(is_open=True, limit=1)


def first(book: Book) -> datetime | None:
    """Return when the next thing is due."""
    found = book.find(DUES, _OPEN)
    return found[0].at if found else None


def do(book: Book) -> None:
    """Do what is due by now. Who does a thing may ask for it again, for later."""
    for due in book.find(DUES, Where(is_open=True, limit=AT_ONCE)):
        if due.at > book.now:
            return
        book.put(DUES, attrs.evolve(due, is_open=False))
        if (does := doers.DOERS.get(due.what)) is not None:  # else a newer version asked for it
            does(book, due.key)


async def done(rooms: Keeping, room_id: RoomId) -> timedelta | None:
    """Let the room do what is due by now; return how long until the next thing is, if any is."""

    def left(book: Book) -> timedelta | None:
        at = first(book)
        return None if at is None else at - book.now

    span = await rooms.look(room_id, left)
    while span is not None and span <= timedelta(0):
        await rooms.change(room_id, do)
        span = await rooms.look(room_id, left)
    return span
