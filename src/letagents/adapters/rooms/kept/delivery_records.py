"""What a room keeps of the deliveries of its sessions."""

from collections.abc import Iterator

from letagents.adapters.rooms.book import Book, Kind, Where
from letagents.domain import deliveries
from letagents.domain.deliveries import Delivery
from letagents.domain.ids import SessionId
from letagents.domain.sessions import Session

_AT_ONCE = 512

DELIVERIES = Kind(
    name="delivery",
    of=Delivery,
    key=lambda one: str(one.session_id),
    number=lambda one: one.number,
    is_open=lambda one: one.closed is None,
)


def of(book: Book, session: Session) -> Delivery | None:
    """Return the delivery of a session that has not ended, open or not (E54)."""
    return None if session.ended_at is not None else book.get(DELIVERIES, str(session.session_id))


def retire(book: Book, session_id: SessionId) -> None:
    """Let a session's delivery be over, which is of the process that had it before."""
    before = book.get(DELIVERIES, str(session_id))
    if before is not None:
        book.put(DELIVERIES, deliveries.retired(before, tick=book.tick, now=book.now))


def all_open(book: Book) -> Iterator[Delivery]:
    """Return the deliveries that were not closed."""
    after: int | None = None
    while True:
        found = book.find(DELIVERIES, Where(is_open=True, after=after, limit=_AT_ONCE))
        yield from found
        if len(found) < _AT_ONCE:
            return
        after = found[-1].number


def is_open(book: Book, session: Session) -> bool:
    """Whether a session can be told of messages now."""
    found = of(book, session)
    return found is not None and deliveries.is_open(found, book.tick)
