"""What a room keeps of its board, and how it is found again."""

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TypeVar

from letagents.adapters.rooms.book import Book, Kind, Lookup, Where
from letagents.adapters.rooms.kept import links
from letagents.domain import leases, stale_tasks
from letagents.domain.approvals import Standing
from letagents.domain.board import LeaseView, Stale, TaskView
from letagents.domain.events import Event
from letagents.domain.leases import Evidence, Lease, LeaseKind
from letagents.domain.locks import Lock
from letagents.domain.tasks import Task, UnknownTask
from letagents.domain.verdicts import Record

V = TypeVar("V")

BOARD = "board"
"""What a lock is about that is for all tasks."""

TASKS = Kind(
    name="task",
    of=Task,
    key=lambda task: task.task_id,
    number=lambda task: task.number,
    state=lambda task: task.status.value,
    is_open=lambda task: task.is_open,
    about=lambda task: str(task.source_message) if task.source_message else None,
    also=lambda task: task.client_task_id,
)


def _lease_kind(name: str) -> Kind[Lease]:
    return Kind(
        name=name,
        of=Lease,
        key=lambda lease: lease.lease_id,
        number=lambda lease: lease.number,
        state=lambda lease: lease.output_intent,
        is_open=lambda lease: lease.is_active,
        about=lambda lease: lease.about,
        by=lambda lease: str(lease.session_id),
    )


WORK_LEASES = _lease_kind("work_lease")
REVIEW_LEASES = _lease_kind("review_lease")
LEASES: Mapping[LeaseKind, Kind[Lease]] = {
    LeaseKind.WORK: WORK_LEASES,
    LeaseKind.REVIEW: REVIEW_LEASES,
}

LOCKS = Kind(
    name="board_lock",
    of=Lock,
    key=lambda lock: lock.lock_id,
    number=lambda lock: lock.number,
    is_open=lambda lock: lock.is_active,
    about=lambda lock: lock.task_id or BOARD,
)
EVENTS = Kind(
    name="task_event",
    of=Event,
    key=lambda event: str(event.number),
    number=lambda event: event.number,
    is_open=lambda _event: False,
    about=lambda event: event.task_id,
)
VERDICTS = Kind(
    name="review_verdict",
    of=Record,
    key=lambda record: record.record_id,
    number=lambda record: record.number,
    is_open=lambda _record: False,
    about=lambda record: record.task_id,
    also=lambda record: record.verdict.key,
)

_MOST = 500
_OPEN = Where(is_open=True, limit=_MOST)


def task(book: Book, task_id: str) -> Task:
    """Return the task of that name.

    Raises:
        UnknownTask: there is none.
    """
    found = book.get(TASKS, task_id)
    if found is None:
        raise UnknownTask(task_id)
    return found


def status_of(book: Book, task_id: str) -> str:
    """Return where that task stands. Raises UnknownTask."""
    return task(book, task_id).status.value


def standing(one: Task) -> Standing:
    """Return how a task stands, for whoever approves what becomes of it."""
    return Standing(one.status.value, str(one.revision))


def beside(task_id: str) -> tuple[Lookup, ...]:
    """Return what is looked up wherever a task is: its leases, and all locks."""
    newest = _newest_of(task_id)
    return (*((kind, newest) for kind in LEASES.values()), (LOCKS, _OPEN))


@functools.lru_cache(maxsize=64)
def _newest_of(task_id: str) -> Where:
    return Where(about=task_id, newest_first=True, limit=1)


def newest(book: Book, kind: LeaseKind, task_id: str) -> Lease | None:
    """Return the newest lease of a task, ended or not: the one with its highest epoch."""
    found = book.find(LEASES[kind], _newest_of(task_id))
    return found[0] if found else None


def active(book: Book, kind: LeaseKind, task_id: str) -> Lease | None:
    """Return the lease of a task that has not ended; whether it is held is another question."""
    found = newest(book, kind, task_id)
    return found if found is not None and found.is_active else None


def evidence(book: Book, lease: Lease) -> Evidence:
    """Return what is known of a lease's holder now."""
    caller = book.caller
    is_own = caller is not None and caller.session_id == lease.session_id
    session = caller if is_own else book.session(lease.session_id)
    if session is None:
        return Evidence(ended=True)
    return Evidence(
        alive=links.is_alive(book, session),
        seen=links.last_sign(book, session),
        ended=session.ended_at is not None,
    )


def is_held(book: Book, lease: Lease, term: timedelta) -> bool:
    """Whether nobody but its holder has what the lease is of."""
    return leases.is_held(lease, evidence(book, lease), book.tick, term)


def locks(book: Book) -> list[Lock]:
    """Return all locks that stop something."""
    return list(_open(book, LOCKS))


def locks_on(task_id: str | None, among: Iterable[Lock]) -> list[Lock]:
    """Return those on a task, or on the whole board."""
    return [lock for lock in among if lock.task_id in (None, task_id)]


def views(
    book: Book, several: Iterable[Task], term: timedelta, stops: Sequence[Lock]
) -> list[TaskView]:
    """Return tasks with one look for all of their leases; `stops` are the locks of the room."""
    held: dict[str, list[LeaseView]] = {}
    for kind in LEASES.values():
        for lease in _open(book, kind):
            held.setdefault(lease.about, []).append(lease_view(book, lease, term))
    return [
        TaskView(
            task=one,
            leases=tuple(held.get(one.task_id, ())),
            locks=tuple(locks_on(one.task_id, stops)),
            stale=stale(book, one, held.get(one.task_id, ())),
        )
        for one in several
    ]


def stale(book: Book, one: Task, held: Sequence[LeaseView]) -> Stale:
    """Return how a task waits on which these leases are."""
    is_worked_on = any(each.lease.kind is LeaseKind.WORK for each in held)
    return stale_tasks.look(one, book.now, is_worked_on=is_worked_on)


def _open(book: Book, kind: Kind[V]) -> Iterator[V]:
    after: int | None = None
    while True:
        found = book.find(kind, Where(is_open=True, after=after, limit=_MOST))
        yield from found
        if len(found) < _MOST:
            return
        after = kind.number(found[-1])


def lease_view(book: Book, lease: Lease, term: timedelta) -> LeaseView:
    """Return a lease as it stands now."""
    known = evidence(book, lease)
    silent_for = leases.silence(lease, known, book.tick)
    runs = known.alive is True and not known.ended
    return LeaseView(
        lease=lease,
        is_held=leases.is_held(lease, known, book.tick, term),
        alive=known.alive,
        has_left=known.ended,
        silent_for=silent_for,
        free_at=None if runs else book.now + (leases.term_of(lease, term) - silent_for),
    )
