"""Telling of a board that stands still, within one transaction."""

from itertools import islice

import attrs

from letagents.adapters.rooms.book import Book, Where
from letagents.adapters.rooms.kept import dues, mutes
from letagents.adapters.rooms.kept import intents as kept_intents
from letagents.adapters.rooms.kept import managers as kept_managers
from letagents.adapters.rooms.kept.board_records import TASKS
from letagents.adapters.rooms.kept.notices import AUTO, LIVENESS
from letagents.adapters.rooms.kept.stall_records import DUE, EMPTY, is_empty
from letagents.domain import stalls
from letagents.domain.audience import OFFER
from letagents.domain.sessions import SessionKind
from letagents.domain.tasks import Status
from letagents.wire import moments

_LOOKED_AT = 200


def due(book: Book, _key: str) -> None:
    """See whether the board is empty still, and tell of it once (D34)."""
    found = book.get(EMPTY, "board")
    if found is None or not is_empty(book):
        return
    if book.now - found.since < stalls.EMPTY or _somebody_sees_to_it(book):
        dues.ask(book, DUE, "board", book.now + stalls.EMPTY)
        return
    key = f"room_stall:{book.room_id}:{moments.to_text(found.since)}"
    book.say(stalls.empty(), key=key, source=LIVENESS, prompt_kind=AUTO)
    governed = kept_intents.settings(book)
    book.put(kept_intents.SETTINGS, attrs.evolve(governed, stall_nudged_at=book.now))


def _somebody_sees_to_it(book: Book) -> bool:
    """Whether a manager would, or nobody is there who could."""
    manager = kept_intents.manager(book)
    if manager is not None and kept_managers.is_reachable(book, manager):
        return True
    return all(one.kind is not SessionKind.WORKER for one in book.sessions())


def idle(book: Book) -> None:
    """Tell an agent that is idle, and the others, what waits for somebody (D35)."""
    tasks = book.find(TASKS, Where(is_open=True, limit=_LOOKED_AT))
    waiting = (one for one in stalls.waiting(tasks, book.now) if mutes.on(book, one) is None)
    for task in islice(waiting, stalls.AT_ONCE):
        stands_since = moments.to_text(task.updated_at)
        book.say(
            stalls.told(task, book.now),
            key=f"stale_work:{task.task_id}:{stalls.reason(task)}:{stands_since}",
            source=LIVENESS if task.status is Status.BLOCKED else OFFER,
            prompt_kind=AUTO,
        )
