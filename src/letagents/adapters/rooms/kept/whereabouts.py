"""Who is in a room and what they say they do, as rooms keep it."""

from datetime import datetime, timedelta

import attrs

from letagents.adapters.rooms.book import Book, Kind, Noting
from letagents.adapters.rooms.kept import delivery_records, links, stalls
from letagents.domain import whereabouts
from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId, SessionId
from letagents.domain.sessions import Session, SessionKind
from letagents.domain.tasks import WorkerRequired
from letagents.domain.ticks import elapsed
from letagents.domain.whereabouts import BLOCKED, IDLE, LIMIT, MOST, Said, Whereabouts


@attrs.frozen(kw_only=True)
class Noted:
    """What a session said it does, and when first and last."""

    session_id: SessionId
    number: int
    said: Said
    since: datetime
    at: datetime


NOTED = Kind(
    name="whereabouts",
    of=Noted,
    key=lambda one: str(one.session_id),
    number=lambda one: one.number,
)


@attrs.frozen
class KeptRoster:
    """Who is in rooms that are kept in books."""

    _rooms: Noting

    async def note(self, room_id: RoomId, said: Said, fence: Fence) -> Whereabouts:
        """Keep what a session says it does."""

        def note(book: Book) -> Whereabouts:
            session = _worker(book)
            before = book.get(NOTED, str(session.session_id))
            noted = Noted(
                session_id=session.session_id,
                number=before.number if before else book.next_number(NOTED),
                said=said,
                since=before.since if before else book.now,
                at=book.now,
            )
            book.put(NOTED, noted)
            book.tell_receipts(session.session_id, is_blocked=said.status == BLOCKED)
            if said.status == IDLE:
                stalls.idle(book)
            return seen(book, session)

        return await self._rooms.change(room_id, note, fence)

    async def observed(
        self, room_id: RoomId, first: MessageId, last: MessageId, fence: Fence
    ) -> bool:
        """Keep that a session was shown messages; return whether that is news."""
        whereabouts.check_span(first, last)

        def observed(book: Book) -> bool:
            return book.show_receipts(_worker(book), first.number, last.number)

        return await self._rooms.note(room_id, observed, fence)

    async def present(
        self, room_id: RoomId, *, limit: int = LIMIT, viewer: Fence | None = None
    ) -> tuple[Whereabouts, ...]:
        """Return who is there."""

        def present(book: Book) -> tuple[Whereabouts, ...]:
            return tuple(seen(book, one) for one in book.sessions()[: min(limit, MOST)])

        return await self._rooms.look(room_id, present, viewer)


def _worker(book: Book) -> Session:
    caller = book.caller
    if caller is None or caller.kind is not SessionKind.WORKER:
        raise WorkerRequired(
            "Only a worker says what it does.", remedy="Call register_agent_session first."
        )
    return caller


def seen(book: Book, session: Session) -> Whereabouts:
    """Return what is known of a session, ended or not."""
    noted = book.get(NOTED, str(session.session_id))
    is_caller = book.caller is not None and book.caller.session_id == session.session_id
    alive = True if is_caller else links.is_alive(book, session)
    return Whereabouts(
        session=session,
        said=noted.said if noted else Said(),
        is_fresh=whereabouts.is_fresh(alive=alive, silent=_silent(book, session)),
        since=noted.since if noted else session.created_at,
        updated_at=noted.at if noted else session.updated_at,
        has_delivery=delivery_records.is_open(book, session),
    )


def _silent(book: Book, session: Session) -> timedelta:
    sign = links.last_sign(book, session)
    return elapsed(sign, book.tick) if sign else max(book.now - session.last_seen_at, timedelta(0))
