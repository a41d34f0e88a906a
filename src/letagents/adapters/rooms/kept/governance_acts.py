"""What a room keeps of what was done to how its board is governed."""

from letagents.adapters.rooms.book import Book, Kind, Where
from letagents.domain.governance_acts import MOST, Act, ActType
from letagents.domain.sessions import SessionKind

ACTS = Kind(
    name="governance_act",
    of=Act,
    key=lambda act: str(act.number),
    number=lambda act: act.number,
    is_open=lambda _act: False,
)


def note(book: Book, what: ActType, by: str, **told: str | None) -> None:
    """Keep what was done by somebody of that name, in the transaction that does it."""
    caller = book.caller
    is_agent = caller is not None and caller.kind is SessionKind.WORKER and caller.actor_label == by
    act = Act(
        number=book.next_number(ACTS),
        type=what,
        at=book.now,
        actor=by,
        actor_key=caller.agent_key if caller is not None and is_agent else None,
        **told,  # type: ignore[arg-type]  # a decision is never left out as nothing
    )
    book.put(ACTS, act)


def newest(book: Book, limit: int) -> tuple[Act, ...]:
    """Return the last acts, the newest first."""
    most = max(1, min(limit, MOST))
    return tuple(book.find(ACTS, Where(newest_first=True, limit=most)))
