"""The board of one room within one transaction, as the verbs write on it.

Whatever is put down for a task brings its event, what the room says of it, and what hangs on it:
the files that are claimed for it, and those who wait for it.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import attrs

from letagents.adapters.rooms.book import SYSTEM, Book, ByName, Kind
from letagents.adapters.rooms.kept import absences as kept_absences
from letagents.adapters.rooms.kept import board_records, links, path_records, stall_records
from letagents.adapters.rooms.kept import intents as kept_intents
from letagents.adapters.rooms.kept import wakes as kept_wakes
from letagents.adapters.rooms.kept.board_records import EVENTS, LEASES, LOCKS, TASKS
from letagents.domain import leases, locks
from letagents.domain.audience import OFFER, SETTINGS
from letagents.domain.board import TaskView
from letagents.domain.events import Decision, Event, EventType
from letagents.domain.leases import Lease, LeaseKind, LeaseStatus
from letagents.domain.locks import Lock
from letagents.domain.names import primary_label
from letagents.domain.sessions import Session, SessionKind
from letagents.domain.tasks import CLOSED, Assignee, Status, Task, WorkerRequired

OWNER = "the room's owner"
"""Who acts where nobody shows a session."""
TITLE_SHOWN = 80

OFFERED = frozenset({Status.ACCEPTED, Status.IN_REVIEW})
"""Where a task stands when there is something to do for whoever wants it."""


@attrs.define
class Sheet:
    """A room's board in one transaction, by whom it is written on, and the term of its leases.

    `itself` is the name of what acts in the room where nobody does. What was looked up is not
    looked up again.
    """

    book: Book
    term: timedelta
    itself: str | None = None
    _newest: dict[tuple[LeaseKind, str], Lease | None] = attrs.field(factory=dict)
    _locks: list[Lock] | None = None

    @property
    def actor(self) -> str:
        """Who acts, by name."""
        if self.itself is not None:
            return self.itself
        return self.book.caller.actor_label if self.book.caller else OWNER

    def worker(self) -> Session | None:
        """Return the worker that acts, or None if a person does.

        Raises:
            WorkerRequired: a session acts that only watches.
        """
        caller = self.book.caller
        if caller is None or caller.kind is SessionKind.PERSON:
            return None
        if caller.kind is not SessionKind.WORKER:
            raise _no_worker()
        return caller

    def sole_worker(self) -> Session:
        """Return the worker that acts. Raises WorkerRequired."""
        if (worker := self.worker()) is None:
            raise _no_worker()
        return worker

    def task(self, task_id: str, *, to_claim: bool = False) -> Task:
        """Return the task of that name. Raises UnknownTask.

        What is asked next about nearly every task is brought with it, and what a claim asks.
        """
        waiting = kept_intents.beside(task_id), kept_wakes.beside(task_id)
        caller = self.book.caller
        named: list[ByName] = [(TASKS, task_id)]
        numbered: list[Kind[Any]] = [EVENTS]
        if to_claim and caller is not None:
            named += [*kept_absences.beside(caller), *links.beside(caller)]
            numbered.append(LEASES[LeaseKind.WORK])
        self.book.bring(
            *board_records.beside(task_id),
            *kept_intents.GOVERNING,
            *waiting,
            named=named,
            numbered=numbered,
        )
        return board_records.task(self.book, task_id)

    def newest(self, kind: LeaseKind, task: Task) -> Lease | None:
        """Return the newest lease of a task, ended or not."""
        key = kind, task.task_id
        if key not in self._newest:
            self._newest[key] = board_records.newest(self.book, kind, task.task_id)
        return self._newest[key]

    def active(self, kind: LeaseKind, task: Task) -> Lease | None:
        """Return the lease of a task that has not ended."""
        found = self.newest(kind, task)
        return found if found is not None and found.is_active else None

    def is_held(self, lease: Lease) -> bool:
        """Whether nobody but its holder has what the lease is of."""
        return board_records.is_held(self.book, lease, self.term)

    def locks(self, task: Task | None) -> list[Lock]:
        """Return the locks on a task, and on the whole board."""
        if self._locks is None:
            self._locks = board_records.locks(self.book)
        return board_records.locks_on(task.task_id if task else None, self._locks)

    def view(self, task: Task) -> TaskView:
        """Return a task with who holds it and what stops it."""
        held = [self.active(kind, task) for kind in LEASES]
        shown = [board_records.lease_view(self.book, one, self.term) for one in held if one]
        return TaskView(
            task=task,
            leases=tuple(shown),
            locks=tuple(self.locks(task)),
            stale=board_records.stale(self.book, task, shown),
        )

    def check_locks(self, task: Task | None = None) -> None:
        """Let nothing pass by a lock. Raises Locked."""
        locks.check(self.locks(task))

    def claim(self, kind: LeaseKind, task: Task, by: Session) -> Lease:
        """Give `by` the lease, and put it down with the one that it ends. Raises LeaseHeld."""
        current = self.newest(kind, task)
        claimed = leases.claim(
            current,
            by,
            kind=kind,
            about=task.task_id,
            number=self.book.next_number(LEASES[kind]),
            evidence=_evidence(self.book, current),
            now=self.book.now,
            tick=self.book.tick,
            term=self.term,
            intent=task.title if kind is LeaseKind.WORK else None,
        )
        if claimed.expired is not None:
            self.put_lease(claimed.expired)
            self.note(task, EventType.EXPIRED, lease=claimed.expired, decision=Decision.RECORD)
            if kind is LeaseKind.WORK:
                path_records.task_lease_moved(self.book, task.task_id, None)
        self.put_lease(claimed.lease)
        if kind is LeaseKind.WORK:
            kept_absences.watch(self.book, by.session_id)
        return claimed.lease

    def put_lease(self, lease: Lease) -> None:
        """Keep a lease."""
        self.book.put(LEASES[lease.kind], lease)
        self._newest[lease.kind, lease.about] = lease

    def put_lock(self, lock: Lock) -> None:
        """Keep a lock, and tell of it."""
        self.book.put(LOCKS, lock)
        self._locks = None
        what = "locked" if lock.is_active else "unlocked"
        key = f"{lock.lock_id}:{what}"
        why = f" ({shown(lock.message)})" if lock.message and lock.is_active else ""
        told = f"{what} by {primary_label(self.actor)}{why}"
        if lock.task_id is None:
            caller = self.book.caller
            by = caller.session_id if caller else None
            self.book.say(f"[board] The board is {told}.", key=key, source=SETTINGS, session_id=by)
            return
        kind = EventType.LOCKED if lock.is_active else EventType.UNLOCKED
        task = self.task(lock.task_id)
        self.note(task, kind, reason=lock.message, detail=lock.lock_id)
        self.say(task, told, key=key, concerns=self._those_on(task), is_offer=not lock.is_active)

    def _those_on(self, task: Task) -> list[str | None]:
        held = [self.active(kind, task) for kind in LEASES]
        return [task.assignee_key, *(lease.agent_key for lease in held if lease is not None)]

    def renew(self, lease: Lease) -> None:
        """Note that its holder has acted."""
        book = self.book
        self.put_lease(leases.renewed(lease, now=book.now, tick=book.tick, term=self.term))

    def let_go(
        self, lease: Lease, reason: str | None = None, *, is_handed_on: bool = False
    ) -> Lease:
        """End a lease, as who acts, and what is claimed under it unless it is handed on."""
        over = leases.let_go(lease, self.book.caller, now=self.book.now, reason=reason)
        self.put_lease(over)
        if lease.kind is LeaseKind.WORK and not is_handed_on:
            path_records.task_lease_moved(self.book, lease.about, None)
        return over

    def end_own_review(self, task: Task, agent_key: str) -> None:
        """End the review of who works on the task from now on."""
        review = self.active(LeaseKind.REVIEW, task)
        if review is not None and review.agent_key == agent_key:
            self.let_go(review, "works on it now")

    def put_task(
        self, before: Task | None, after: Task, *, concerns: Iterable[str | None] = ()
    ) -> None:
        """Keep a task; where it moved, say so, and let those know who wait for it.

        `concerns` are the keys of the agents that have to act on it, or have it no more.
        """
        self.book.put(TASKS, after)
        if after.status in CLOSED and (before is None or before.status not in CLOSED):
            stall_records.closed(self.book)
        if before is not None and before.status is not after.status:
            came_from, to = before.status.value, after.status.value
            kept_intents.task_moved(self.book, after.task_id, board_records.standing(after))
            kept_wakes.task_moved(self.book, after.task_id, came_from, to)
        if before is None or _standing(before) != _standing(after):
            key = f"task:{after.task_id}:{after.revision}"
            self.say(after, self._told(before, after), key=key, concerns=concerns)

    def end_leases(self, task: Task, reason: str) -> list[Lease]:
        """End the leases of a task on which nobody is any more."""
        found = [self.active(kind, task) for kind in LEASES]
        return [self.let_go(lease, reason) for lease in found if lease is not None]

    def note(
        self,
        task: Task,
        kind: EventType,
        *,
        before: Status | None = None,
        lease: Lease | None = None,
        reason: str | None = None,
        detail: str | None = None,
        decision: Decision = Decision.ALLOW,
    ) -> Event:
        """Keep an event of a task; `before` is where it stood, if it moved."""
        caller = self.book.caller
        moved = before is not None and before is not task.status
        event = Event(
            number=self.book.next_number(EVENTS),
            task_id=task.task_id,
            type=kind,
            at=self.book.now,
            actor=self.actor,
            actor_key=caller.agent_key if caller else None,
            decision=decision,
            before=before.value if before and moved else None,
            after=task.status.value if moved else None,
            reason=reason or (lease.revoked_reason if lease else None),
            lease_id=lease.lease_id if lease else None,
            epoch=lease.epoch if lease else None,
            detail=detail,
        )
        self.book.put(EVENTS, event)
        return event

    def say(
        self,
        task: Task,
        what: str,
        *,
        key: str,
        concerns: Iterable[str | None] = (),
        is_offer: bool = True,
    ) -> None:
        """Let the room tell of a task, once for each `key`.

        Where it stands for whoever wants it and concerns nobody, `is_offer` says so to all.
        """
        caller = self.book.caller
        concerned = [key for key in dict.fromkeys(concerns) if key]
        mention = "".join(f" @agent:{key}" for key in concerned)
        self.book.say(
            f"[task] {task.task_id} {what}: {shown(task.title)}{mention}",
            key=key,
            source=OFFER if is_offer and task.status in OFFERED and not concerned else SYSTEM,
            session_id=caller.session_id if caller else None,
        )

    def _told(self, before: Task | None, after: Task) -> str:
        by = primary_label(self.actor)
        if before is None:
            return self._told_as_new(after)
        if before.status is not after.status:
            return f"{before.status.value} → {after.status.value} by {by}"
        whom = primary_label(after.assignee.label) if after.assignee else "nobody"
        return f"{after.status.value}, given to {whom} by {by}"

    def _told_as_new(self, task: Task) -> str:
        """Return who put it on the board, which is not always who acts."""
        proposed = f"proposed by {primary_label(task.created_by)}"
        if self.itself is not None and task.status is Status.ACCEPTED:
            return f"accepted by itself, {proposed}"
        if task.created_by == self.actor:
            return f"{task.status.value} by {primary_label(self.actor)}"
        return f"{proposed}, approved by {primary_label(self.actor)}"


def _standing(task: Task) -> tuple[Status, Assignee | None]:
    return task.status, task.assignee


def _evidence(book: Book, lease: Lease | None) -> leases.Evidence:
    if lease is None or lease.status is not LeaseStatus.ACTIVE:
        return leases.Evidence(ended=True)
    return board_records.evidence(book, lease)


def shown(title: str) -> str:
    """Return so much of a text of somebody's as the room says; it mentions nobody."""
    cut = title if len(title) <= TITLE_SHOWN else f"{title[:TITLE_SHOWN].rstrip()}…"
    return " ".join(cut.replace("@", "@ ").split())


def _no_worker() -> WorkerRequired:
    return WorkerRequired(
        "Worker session is required for agent write actions.",
        remedy="Call register_agent_session(session_kind='worker') first.",
    )
