"""The intents of a room within one transaction: how they stand, and what they become."""

from datetime import timedelta

import attrs

from letagents.adapters.rooms.book import Book, Where
from letagents.adapters.rooms.kept import board_records, dues
from letagents.adapters.rooms.kept import governance_acts as kept_acts
from letagents.adapters.rooms.kept import notices as kept_notices
from letagents.adapters.rooms.kept import tasks as kept_tasks
from letagents.adapters.rooms.kept.board_records import TASKS
from letagents.adapters.rooms.kept.board_sheet import Sheet
from letagents.adapters.rooms.kept.intents import ESCALATION_DUE, INTENTS, put_settled
from letagents.domain import approvals, governance, governance_acts, prospects
from letagents.domain.approvals import OPEN_LIMIT, Intent, IntentStatus, Standing, Voided
from letagents.domain.events import Decision
from letagents.domain.governance_acts import ActType
from letagents.domain.ids import MessageId
from letagents.domain.intents import Action, ApprovalToken, Payload, digest
from letagents.domain.leases import Lease, LeaseKind
from letagents.domain.sessions import Session
from letagents.domain.tasks import Proposal, Task
from letagents.ports.governance import Decided

PATIENCE = timedelta(minutes=10)

_OPEN = Where(is_open=True, limit=OPEN_LIMIT)


def actor(book: Book) -> str:
    """Return who acts, by name."""
    return book.caller.actor_label if book.caller else governance.OWNER


def task_standing(book: Book, task_id: str | None) -> Standing | None:
    """Return how that task stands; None if there is none."""
    task = book.get(TASKS, task_id) if task_id else None
    return board_records.standing(task) if task else None


def _about(book: Book, payload: Payload) -> Task | None:
    """Return the task that is to be changed; None if one is to be created."""
    return book.get(TASKS, payload.get("task_id") or "")


def _work_on(book: Book, task: Task | None) -> Lease | None:
    return board_records.active(book, LeaseKind.WORK, task.task_id) if task else None


def as_it_stands(book: Book, intent: Intent) -> Intent:
    """Return what has become of an intent by time and by its task."""
    standing = task_standing(book, intent.task_id)
    return approvals.as_it_stands(intent, book.now, standing, book.tick)


def is_unsettled(book: Book) -> bool:
    """Whether something has become of an open intent that is not kept yet."""
    return any(as_it_stands(book, one) != one for one in book.find(INTENTS, _OPEN))


def settled(book: Book) -> list[Intent]:
    """Keep what has become of open intents; return those that are still open."""
    before = book.find(INTENTS, _OPEN)
    after = [as_it_stands(book, one) for one in before]
    for was, now_is in zip(before, after, strict=True):
        if was != now_is:
            put_settled(book, now_is)
    return [one for one in after if one.status.is_open]


def open_of(book: Book, by: Session | None) -> list[Intent]:
    """Return the open intents of one proposer; None stands for all that no worker proposed."""
    where = attrs.evolve(_OPEN, by=by.agent_key if by else None)
    found = [as_it_stands(book, one) for one in book.find(INTENTS, where)]
    return [one for one in found if one.status.is_open and (by or one.proposer is None)]


def waiting(book: Book) -> list[Intent]:
    """Return the intents that wait for a decision, oldest first."""
    opened = [as_it_stands(book, one) for one in book.find(INTENTS, _OPEN)]
    return [one for one in opened if one.status is IntentStatus.PENDING]


def void_all(book: Book) -> int:
    """Make all open intents void; return how many there were."""
    opened = settled(book)
    for intent in opened:
        put_settled(book, approvals.superseded(intent, Voided.MODE_CHANGED, book.now))
    return len(opened)


def proposed(
    book: Book,
    action: Action,
    payload: Payload,
    by: Session | None,
    standing: Standing | None,
    own: list[Intent],
) -> Intent:
    """Keep a new intent of somebody who has `own` open ones; return it."""
    all_open = book.count(INTENTS, _OPEN)
    if all_open >= OPEN_LIMIT:
        all_open = len(settled(book))
    approvals.check_room_for_more(all_open, len(own))
    if action is Action.TASK_CREATE:
        kept_tasks.check_admission(_sheet(book), _proposal(payload))
    elif (task := _about(book, payload)) is not None:
        prospects.check_follows(payload, task, _work_on(book, task))
    intent = approvals.propose(
        book.next_number(INTENTS),
        action,
        payload,
        by=by,
        standing=standing,
        now=book.now,
        tick=book.tick,
    )
    book.put(INTENTS, intent)
    dues.ask(book, ESCALATION_DUE, intent.intent_id, book.now + PATIENCE)
    return intent


def approved(book: Book, intent: Intent, *, reason: str | None) -> Decided:
    """Keep a pending intent as approved; return it with what came of that."""
    creates = intent.action is Action.TASK_CREATE
    about = _about(book, intent.payload)
    prospects.check_to_approve(intent, about, _work_on(book, about))
    task = created(book, intent) if creates else None
    token = None if creates else ApprovalToken(book.ids.token().value)
    after = approvals.approve(
        intent,
        by=actor(book),
        reason=reason,
        token_digest=digest(token) if token else None,
        standing=task_standing(book, intent.task_id),
        now=book.now,
        tick=book.tick,
    )
    if task is not None:
        after = approvals.used(after, book.now, task_id=task.task_id)
    put_settled(book, after)
    note(book, after)
    return Decided(after, kept_notices.decided(book, after), token, task)


def denied(book: Book, intent: Intent, *, reason: str | None) -> Decided:
    """Keep a pending intent as denied; return it."""
    after = approvals.deny(intent, by=actor(book), reason=reason, now=book.now)
    put_settled(book, after)
    note(book, after)
    return Decided(after, kept_notices.decided(book, after))


def note(book: Book, after: Intent) -> None:
    """Keep that an intent was decided."""
    what = ActType.DENIED if after.status is IntentStatus.DENIED else ActType.APPROVED
    by = after.decision_by or actor(book)
    kept_acts.note(book, what, by, **governance_acts.of_intent(after))


def again(book: Book, intent: Intent | None) -> Decided:
    """Return what was decided before."""
    assert intent is not None  # noqa: S101  # what was decided is there
    return Decided(intent, kept_notices.decided(book, intent), task=_task_of(book, intent))


def created(book: Book, intent: Intent, *, by_itself: str | None = None) -> Task:
    """Create the task that an intent asks for. Refuses before anything is put or said.

    `by_itself` is the name of what lets it through, accepted at once, where nobody decides.
    """
    sheet, proposal = _sheet(book, by_itself), _proposal(intent.payload)
    proposer = intent.proposer
    kept_tasks.check_admission(sheet, proposal)
    return kept_tasks.put(
        sheet,
        proposal,
        created_by=proposer.actor_label if proposer else actor(book),
        created_by_key=proposer.agent_key if proposer else None,
        accept=by_itself is not None,
        decision=Decision.RECORD,
    )


def _sheet(book: Book, itself: str | None = None) -> Sheet:
    return Sheet(book, timedelta.max, itself)  # no lease is given up here


def _proposal(payload: Payload) -> Proposal:
    source = payload["source_message_id"]
    return Proposal(
        title=payload["title"],
        description=payload["description"],
        source_message=MessageId.parse(source) if source else None,
    )


def _task_of(book: Book, intent: Intent) -> Task | None:
    creates = intent.action is Action.TASK_CREATE and intent.task_id is not None
    return book.get(TASKS, intent.task_id or "") if creates else None
