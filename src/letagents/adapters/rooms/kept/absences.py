"""Looking after those who hold work: whether they are there, and telling where they are not."""

from collections.abc import Sequence
from datetime import datetime

import attrs

from letagents.adapters.rooms.book import Book, ByName, Kind, Where
from letagents.adapters.rooms.kept import dues, links
from letagents.adapters.rooms.kept.board_records import WORK_LEASES
from letagents.adapters.rooms.kept.notices import AUTO, LIVENESS
from letagents.domain import absences
from letagents.domain.deliveries import Delivery
from letagents.domain.ids import SessionId
from letagents.domain.leases import Lease, LeaseKind
from letagents.domain.sessions import Session
from letagents.wire import moments

DUE = "absence"
"""What the room is asked to do when somebody who holds work is to be looked at."""


@attrs.frozen
class Absence:
    """That the room told of a session's worker that it is gone. `number` is of the telling."""

    number: int
    session_id: SessionId
    told_at: datetime
    is_over: bool = False
    over_at: datetime | None = None


ABSENCES = Kind(
    name="absence",
    of=Absence,
    key=lambda absence: str(absence.session_id),
    number=lambda absence: absence.number,
    is_open=lambda absence: not absence.is_over,
)


def beside(session: Session) -> tuple[ByName, ...]:
    """Return what is looked up wherever a session is to be looked after."""
    return (dues.named(DUE, str(session.session_id)),)


def watch(book: Book, session_id: SessionId) -> None:
    """Look after a session that has work in hand from now on."""
    again_in = min(book.grace, absences.LOOK_AGAIN)
    dues.ask_by(book, DUE, str(session_id), book.now + again_in)


def due(book: Book, key: str) -> None:
    """Look whether a session that has work in hand is there."""
    session, held = book.session(SessionId(key)), _held(book, key)
    if session is None or not held:
        return
    alive = links.is_alive(book, session)
    found = absences.look(session, alive=alive, tick=book.tick, grace=book.grace)
    if found.is_there:
        book.saw(session.session_id)
        _back(book, session)
    if found.again_in is not None:
        dues.ask(book, DUE, key, book.now + found.again_in)
    if found.gone_for is not None:
        text = absences.gone(session.display_name, found.gone_for, [one.about for one in held])
        _say(book, f"offline:agent_session:{key}:{moments.to_text(session.last_seen_at)}", text)
        book.put(ABSENCES, Absence(book.next_number(ABSENCES), session.session_id, book.now))


def returned(book: Book, session: Session, held: Sequence[Lease]) -> None:
    """Tell that a session is connected again, if it was told to be gone; look after its work."""
    _back(book, session)
    if any(lease.kind is LeaseKind.WORK for lease in held):
        watch(book, session.session_id)


def seen(book: Book, session_id: SessionId) -> None:
    """Let it be told that somebody is back who was told to be gone, and is seen to be there."""
    absence = book.get(ABSENCES, str(session_id))
    if absence is not None and not absence.is_over:
        dues.ask(book, DUE, str(session_id), book.now)


def announced(book: Book, delivery: Delivery) -> Delivery:
    """Return a delivery with what the room told last of its session's absence."""
    absence = book.get(ABSENCES, str(delivery.session_id))
    if absence is None:
        return delivery
    return attrs.evolve(
        delivery,
        offline_announced_at=absence.told_at,
        recovery_announced_at=absence.over_at,
    )


def _back(book: Book, session: Session) -> None:
    key = str(session.session_id)
    absence = book.get(ABSENCES, key)
    if absence is not None and not absence.is_over:
        told_at = moments.to_text(absence.told_at)
        _say(book, f"recovered:agent_session:{key}:{told_at}", absences.back(session.display_name))
        book.put(ABSENCES, attrs.evolve(absence, is_over=True, over_at=book.now))


def _held(book: Book, key: str) -> list[Lease]:
    return book.find(WORK_LEASES, Where(is_open=True, by=key))


def _say(book: Book, key: str, text: str) -> None:
    book.say(text, key=f"agent_liveness:{key}", source=LIVENESS, prompt_kind=AUTO)
