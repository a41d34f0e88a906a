"""The manager of a room's board within one transaction: assigned, watched, succeeded."""

from datetime import timedelta

import attrs

from letagents.adapters.rooms.book import Book
from letagents.adapters.rooms.kept import decisions as kept_decisions
from letagents.adapters.rooms.kept import dues, links
from letagents.adapters.rooms.kept import governance_acts as kept_acts
from letagents.adapters.rooms.kept import intents as kept_intents
from letagents.adapters.rooms.kept import notices as kept_notices
from letagents.adapters.rooms.kept.intents import MANAGERS
from letagents.domain import governance, governance_acts
from letagents.domain.governance import Failover, Manager, RuntimeSource
from letagents.domain.governance_acts import ActType
from letagents.domain.sessions import Session

WATCH_DUE = "board_manager_watch"
"""What the room is asked to do to see whether the manager is there."""
EVERY = timedelta(minutes=1)
AWAY_AGAIN = timedelta(minutes=30)


def live(book: Book) -> Manager | None:
    """Return the assignment that holds, if its session has not ended."""
    manager = kept_intents.manager(book)
    return manager if manager and kept_intents.evidence(book, manager).is_live else None


def is_reachable(book: Book, manager: Manager) -> bool:
    """Whether the manager can be expected to decide."""
    return governance.is_reachable(manager, kept_intents.evidence(book, manager), book.tick)


def assign(
    book: Book,
    session: Session,
    runtime_source: RuntimeSource,
    *,
    by: str,
    before: Manager | None,
    why: str = "replaced",
) -> Manager:
    """Let a worker manage the board from now on, in place of `before`."""
    if before is not None:
        released(book, governance.release(before, by=by, reason=why, now=book.now), by=by)
    after = governance.assign(
        book.next_number(MANAGERS),
        session,
        runtime_source=runtime_source,
        by=by,
        now=book.now,
        tick=book.tick,
    )
    book.put(MANAGERS, after)
    kept_acts.note(book, ActType.ASSIGNED, by, **governance_acts.of_manager(after))
    dues.ask(book, WATCH_DUE, after.manager_id, book.now + EVERY)
    return after


def released(book: Book, after: Manager, *, by: str) -> None:
    """Keep an assignment that has ended."""
    book.put(MANAGERS, after)
    kept_acts.note(book, ActType.RELEASED, by, **governance_acts.of_manager(after))
    dues.forget(book, WATCH_DUE, after.manager_id)


def look_soon(book: Book) -> None:
    """Let it be seen to at the next occasion whether the manager is there."""
    if (manager := kept_intents.manager(book)) is not None:
        dues.ask(book, WATCH_DUE, manager.manager_id, book.now)


def watch(book: Book, manager_id: str) -> None:
    """See whether the manager is there, and to it that somebody is (P36)."""
    manager = book.get(MANAGERS, manager_id)
    if manager is None or not manager.is_active:
        return
    failover = kept_intents.settings(book).manager_failover
    if not governance.is_dead(manager, kept_intents.evidence(book, manager), book.tick):
        if manager.is_away:
            book.put(MANAGERS, attrs.evolve(manager, is_away=False))
        dues.ask(book, WATCH_DUE, manager_id, book.now + EVERY)
    elif failover is Failover.AUTO and (next_one := _successor(book, manager)) is not None:
        _succeed(book, manager, next_one)
    else:
        _announce(book, manager, failover)
        dues.ask(book, WATCH_DUE, manager_id, book.now + AWAY_AGAIN)


def _successor(book: Book, manager: Manager) -> Session | None:
    live = [(one, links.is_alive(book, one)) for one in book.sessions()]
    return governance.successor(manager, live, book.tick)


def _succeed(book: Book, before: Manager, session: Session) -> None:
    after = assign(
        book,
        session,
        RuntimeSource.UNKNOWN,
        by=governance.FAILOVER,
        before=before,
        why="gone",
    )
    kept_notices.succeeded(book, before, after, kept_decisions.waiting(book))


def _announce(book: Book, manager: Manager, failover: Failover) -> None:
    if failover is Failover.OFF or manager.is_away:
        return
    away = attrs.evolve(manager, is_away=True, outages=manager.outages + 1)
    book.put(MANAGERS, away)
    kept_notices.is_away(book, away, is_asked=kept_intents.needs_intent(book))
