"""Letting a room do what is due, by whoever waits in it or asks for its board."""

from datetime import timedelta

import attrs

from letagents.adapters.rooms.book import Book, Keeping, Where
from letagents.adapters.rooms.kept import doers, dues
from letagents.adapters.rooms.kept.dues import DUES
from letagents.domain.ids import RoomId

AT_ONCE = 100
"""So many due things are done in one transaction; the next one does more."""


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
    span = await dues.left(rooms, room_id)
    while span is not None and span <= timedelta(0):
        await rooms.change(room_id, do)
        span = await dues.left(rooms, room_id)
    return span
