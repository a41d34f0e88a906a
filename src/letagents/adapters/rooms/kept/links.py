"""What a room keeps of the processes behind its sessions, and what it concludes from that.

A session that was opened on this machine names its process, of which the kernel tells. One that was
opened through a server has a *link* instead: whose it is, and what is known of its process.
"""

from collections.abc import Iterator
from datetime import timedelta

import attrs

from letagents.adapters.rooms.book import Book, ByName, Kind, Where
from letagents.adapters.rooms.kept import delivery_records
from letagents.domain import presence, ticks
from letagents.domain.ids import SessionId
from letagents.domain.presence import EXITED, Facts
from letagents.domain.sessions import Arrival, Session
from letagents.domain.ticks import Tick, elapsed

_AT_ONCE = 512


@attrs.frozen
class Link:
    """What is known of the process of one session. `account` is whose the session is.

    `connection` is the process's newest connection, `seen` when that was known to be open last.
    """

    session_id: SessionId
    number: int
    account: str
    host: str | None = None
    connection: str | None = None
    seen: Tick | None = None
    closed: Tick | None = None

    @property
    def is_open(self) -> bool:
        """Whether the process holds a connection, as far as it is known."""
        return self.connection not in (None, EXITED) and self.closed is None


LINKS = Kind(
    name="link",
    of=Link,
    key=lambda link: str(link.session_id),
    number=lambda link: link.number,
    is_open=lambda link: link.is_open,
    by=lambda link: link.account,
)


def beside(session: Session) -> tuple[ByName, ...]:
    """Return what is looked up wherever it is asked whether the process of a session is there."""
    if session.process is not None:
        return ()
    key = str(session.session_id)
    return (LINKS, key), (delivery_records.DELIVERIES, key)


def of(book: Book, session_id: SessionId) -> Link | None:
    """Return the link of a session that was opened through a server."""
    return book.get(LINKS, str(session_id))


def all_open(book: Book) -> Iterator[Link]:
    """Return the links of all processes that hold a connection."""
    after: int | None = None
    while True:
        found = book.find(LINKS, Where(is_open=True, after=after, limit=_AT_ONCE))
        yield from found
        if len(found) < _AT_ONCE:
            return
        after = found[-1].number


def arrived(book: Book, session: Session, arrival: Arrival) -> None:
    """Take note whose a session is that was just opened; nothing is known of its new process."""
    if arrival.account is None:
        return
    delivery_records.retire(book, session.session_id)
    before = of(book, session.session_id)
    number = before.number if before else book.next_number(LINKS)
    book.put(LINKS, Link(session.session_id, number, arrival.account, arrival.process_host))


def opened(book: Book, link: Link, connection: str) -> None:
    """Take note of a connection, which takes the place of the one before."""
    book.put(LINKS, attrs.evolve(link, connection=connection, seen=book.tick, closed=None))


def refreshed(book: Book, link: Link) -> None:
    """Take note that the connection is open still."""
    book.put(LINKS, attrs.evolve(link, seen=book.tick))


def closed(book: Book, link: Link) -> None:
    """Take note that the process has closed its connection."""
    book.put(LINKS, attrs.evolve(link, seen=book.tick, closed=book.tick))


def exited(book: Book, link: Link) -> None:
    """Take note that the process said that it exits."""
    book.put(LINKS, attrs.evolve(link, connection=EXITED, seen=book.tick, closed=book.tick))


def facts(book: Book, session: Session, link: Link) -> Facts:
    """Return what is known of the process of a session."""

    closed, heard = _ago(book, link.closed), _ago(book, session.seen)
    return Facts(
        is_durable=session.worker_id is not None,
        host=link.host,
        connection=link.connection,
        seen=_ago(book, link.seen),
        closed=closed,
        heard=heard,
        last_seen=book.now - session.last_seen_at if heard is None else heard,
        ended=_ended(book, session, closed),
        has_delivery=delivery_records.is_open(book, session),
    )


def _ago(book: Book, tick: Tick | None) -> timedelta | None:
    return None if tick is None else elapsed(tick, book.tick)


def _ended(book: Book, session: Session, closed: timedelta | None) -> timedelta | None:
    if session.ended_at is None:
        return None
    ended = max(book.now - session.ended_at, timedelta(0))
    # What closes after the end is not kept: so the end is later, however a clock was set.
    return ended if closed is None else min(ended, closed)


def is_alive(book: Book, session: Session) -> bool | None:
    """Whether the process of a session is there; None where that cannot be known."""
    if session.process is not None:
        return book.is_alive(session.process)
    link = of(book, session.session_id)
    if link is None:
        return None
    known = facts(book, session, link)
    if presence.is_there(known):
        return True
    return False if presence.gone(known, _host(book, book.caller)) else None


def has_exited(book: Book, session: Session, to: Session) -> bool:
    """Whether the process of a session is known to have exited, in the eyes of that of `to`."""
    if session.process is not None:
        return book.is_alive(session.process) is False
    link = of(book, session.session_id)
    return link is not None and presence.exited(facts(book, session, link), _host(book, to))


def have_one_owner(book: Book, one: Session, other: Session) -> bool:
    """Whether two sessions are of one account or, on one machine, of owners called alike."""
    if one.process is not None and other.process is not None:
        return one.owner_label == other.owner_label
    links = of(book, one.session_id), of(book, other.session_id)
    if links[0] is None or links[1] is None:
        return links[0] is links[1] and one.owner_label == other.owner_label
    return links[0].account == links[1].account


def last_sign(book: Book, session: Session) -> Tick | None:
    """Return the last sign of a session: a call, or that its process was known to be there."""
    if session.process is not None:
        return ticks.latest([session.seen, book.last_seen(session.process)], book.tick)
    link = of(book, session.session_id)
    delivery = delivery_records.of(book, session)
    signs = [session.seen, link.seen if link else None, delivery.seen if delivery else None]
    return ticks.latest(signs, book.tick)


def _host(book: Book, session: Session | None) -> str | None:
    link = of(book, session.session_id) if session else None
    return link.host if link else None
