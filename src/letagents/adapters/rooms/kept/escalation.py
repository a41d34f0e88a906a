"""Intents that nobody decides: let through by themselves, or shown to the people."""

from datetime import timedelta

import attrs

from letagents.adapters.rooms.book import Book, Where
from letagents.adapters.rooms.kept import decisions as kept_decisions
from letagents.adapters.rooms.kept import dues
from letagents.adapters.rooms.kept import intents as kept_intents
from letagents.adapters.rooms.kept import managers as kept_managers
from letagents.adapters.rooms.kept import notices as kept_notices
from letagents.adapters.rooms.kept.intents import ESCALATION_DUE, INTENTS
from letagents.domain import approvals, governance
from letagents.domain.approvals import Intent, IntentStatus
from letagents.domain.errors import LetAgentsError
from letagents.domain.governance import ManagerMode
from letagents.domain.intents import Action

EVERY = timedelta(minutes=1)
WINDOW = timedelta(hours=1)
BY_ITSELF = 5
"""So many tasks of one proposer create themselves within the window. (Source: hosted-api 6.)"""


def escalate(book: Book, intent_id: str) -> None:
    """See to an intent that has waited: let it through, or tell the people (P35)."""
    found = book.get(INTENTS, intent_id)
    intent = kept_decisions.as_it_stands(book, found) if found else None
    if intent is None or intent.status is not IntentStatus.PENDING:
        return
    manager = kept_intents.manager(book)
    if manager is not None and kept_managers.is_reachable(book, manager):
        dues.ask(book, ESCALATION_DUE, intent_id, book.now + EVERY)
        return
    why = None
    if _may_create_itself(book, intent):
        if (why := _let_through(book, intent)) is None:
            return
        dues.ask(book, ESCALATION_DUE, intent_id, book.now + EVERY)
    if intent.escalated_at is None:
        waited = book.now - intent.created_at
        kept_notices.escalated(book, intent, waited, why)
        book.put(INTENTS, attrs.evolve(intent, escalated_at=book.now, updated_at=book.now))


def _may_create_itself(book: Book, intent: Intent) -> bool:
    mode = kept_intents.settings(book).manager_mode
    is_simple = intent.action is Action.TASK_CREATE and intent.proposer is not None
    return is_simple and mode is ManagerMode.MANAGER_OPTIONAL


def _let_through(book: Book, intent: Intent) -> str | None:
    """Create the task of an intent without anybody's word; return why it is not, if so."""
    assert intent.proposer is not None  # noqa: S101  # else nothing creates itself
    if _lately_by_itself(book, intent.proposer.agent_key) >= BY_ITSELF:
        return f"{BY_ITSELF} tasks of this agent were let through within the hour"
    try:
        task = kept_decisions.created(book, intent, by_itself=governance.ESCALATION)
    except LetAgentsError as refused:
        return refused.happened.rstrip(".")
    approved = approvals.approve(
        intent,
        by=governance.ESCALATION,
        reason=None,
        token_digest=None,
        standing=None,
        now=book.now,
    )
    used = approvals.used(approved, book.now, task_id=task.task_id)
    book.put(INTENTS, attrs.evolve(used, auto_approved=True))
    kept_decisions.note(book, used)
    kept_notices.let_through(book, intent, task)
    return None


def _lately_by_itself(book: Book, agent_key: str) -> int:
    where = Where(state=IntentStatus.USED.value, by=agent_key, newest_first=True)
    return sum(
        one.auto_approved and one.decided_at is not None and one.decided_at > book.now - WINDOW
        for one in book.find(INTENTS, where)
    )
