"""What a room has to do at a certain time: asked for in one transaction, done in a later one.

Nobody keeps a clock for a room. Who waits in it looks when the next thing is due, and lets the
room do it; where nobody waits, the next one who waits or asks for the board does. So a thing is
done soon after its time where somebody is there to learn of it, and once, whoever is first.
"""

from datetime import UTC, datetime, timedelta

import attrs

from letagents.adapters.rooms.book import Book, ByName, Keeping, Kind, Where
from letagents.domain.ids import RoomId

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


@attrs.frozen
class Due:
    """Something to do at `at`. `what` names who does it, `key` which thing it is about."""

    what: str
    key: str
    at: datetime
    is_open: bool = True


DUES = Kind(
    name="due",
    of=Due,
    key=lambda due: f"{due.what}:{due.key}",
    number=lambda due: (due.at - _EPOCH) // _MILLISECOND,
    is_open=lambda due: due.is_open,
)

_OPEN = Where(is_open=True, limit=1)


def named(what: str, key: str) -> ByName:
    """Return by which name it is looked up whether something is due for that thing."""
    return DUES, f"{what}:{key}"


def ask(book: Book, what: str, key: str, at: datetime) -> None:
    """Let it be done at `at`; asked for again, the later asking counts."""
    book.put(DUES, Due(what, key, at))


def ask_by(book: Book, what: str, key: str, at: datetime) -> None:
    """Let it be done by `at`: what is asked for sooner already stays as it is."""
    due = book.get(*named(what, key))
    if due is None or not due.is_open or due.at > at:
        ask(book, what, key, at)


def forget(book: Book, what: str, key: str) -> None:
    """Let it not be done."""
    due = book.get(*named(what, key))
    if due is not None and due.is_open:
        book.put(DUES, attrs.evolve(due, is_open=False))


def first(book: Book) -> datetime | None:
    """Return when the next thing is due."""
    found = book.find(DUES, _OPEN)
    return found[0].at if found else None


async def left(rooms: Keeping, room_id: RoomId) -> timedelta | None:
    """Return how long until the next thing is due, if any is; nothing left if it is now."""

    def left(book: Book) -> timedelta | None:
        at = first(book)
        return None if at is None else at - book.now

    return await rooms.look(room_id, left)
