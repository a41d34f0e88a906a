"""What a room says of approvals and of who manages its board, each thing once."""

import shlex
from collections.abc import Sequence
from datetime import timedelta

from letagents.adapters.rooms.book import Book
from letagents.domain import intents, names
from letagents.domain.approvals import Intent, IntentStatus
from letagents.domain.audience import SETTINGS
from letagents.domain.governance import BoardSettings, Manager
from letagents.domain.ids import MessageId, SessionId
from letagents.domain.tasks import Task
from letagents.ports.governance import Notice

LIVENESS = "agent_liveness"
AUTO = "auto"
"""The source, and the prompt, of what the room notices itself. (Source: hosted-api 5.10.)"""
REASON_SHOWN = 300
LISTED = 5
_DECIDING = "approve_board_intent and deny_board_intent decide what agents ask for"


def asked(book: Book, intent: Intent, manager: Manager | None, *, is_needed: bool) -> Notice:
    """Tell the manager of an intent; without one, whoever reads, if nothing goes on without it."""
    if intent.status is not IntentStatus.PENDING:
        return Notice()
    wants = f"[approval] {intent.intent_id}: {_proposer(intent)} asks to {_words(intent)}."
    if manager is not None:
        calls = f"approve_board_intent(intent_id={intent.intent_id!r}) or deny_board_intent"
        text = f"{wants} @agent:{manager.agent_key} decides: {calls}."
    elif is_needed:
        text = f"{wants} Nobody manages the board: {_by_hand(book, intent)}."
    else:
        return Notice()
    key = f"board_intent:{intent.intent_id}:manager_notify"
    by = intent.proposer.session_id if intent.proposer else None
    said = book.say(text, key=key, session_id=by)
    return Notice(manager.session_id if manager else None, said)


def decided(book: Book, intent: Intent) -> Notice:
    """Tell the proposer what was decided."""
    proposer = intent.proposer
    if proposer is None:
        return Notice()
    session = book.session(proposer.session_id)
    verb = "denied" if intent.status is IntentStatus.DENIED else "approved"
    said = book.say(
        f"[approval] {intent.intent_id} {verb} by {_name(intent.decision_by)}"
        f"{_reason(intent.decision_reason)}. @agent:{proposer.agent_key} {_what_now(intent)}",
        key=f"board_intent:{intent.intent_id}:{verb}:proposer_notify",
    )
    is_there = session is not None and session.ended_at is None
    return Notice(proposer.session_id if is_there else None, said)


def _what_now(intent: Intent) -> str:
    if intent.status is IntentStatus.DENIED:
        return f"may not {_words(intent)}."
    if intent.task_id is not None and intent.action is intents.Action.TASK_CREATE:
        return f"has its task: {intent.task_id}."
    call = intents.using(intent.action, intent.payload, intent.intent_id)
    return f"has 30 minutes for it: {call}."


def _reason(reason: str | None) -> str:
    return f": “{intents.cut(reason, REASON_SHOWN)}”" if reason else ""


def escalated(book: Book, intent: Intent, waited: timedelta, why: str | None) -> MessageId:
    """Tell the people of an intent that nobody decides."""
    minutes = int(waited / timedelta(minutes=1))
    reason = f" ({intents.cut(why, REASON_SHOWN)})" if why else ""
    text = (
        f"[status] {intent.intent_id} has been waiting for {minutes} minutes and no manager is "
        f"there: {_proposer(intent)} asks to {_words(intent)}{reason}. "
        f"A person decides: {_by_hand(book, intent)}."
    )
    return _noticed(book, text, f"board_intent_escalation:{intent.intent_id}")


def let_through(book: Book, intent: Intent, task: Task) -> Notice:
    """Tell the proposer that the room has created its task, since nobody else decided."""
    assert intent.proposer is not None  # noqa: S101  # else it is not let through
    proposer = intent.proposer
    said = _noticed(
        book,
        f"[status] {intent.intent_id} was approved by itself, since no manager was there to "
        f"decide: {task.task_id} is accepted. @agent:{proposer.agent_key} can claim it: "
        f"claim_task(task_id={task.task_id!r}).",
        f"board_intent:{intent.intent_id}:approved:proposer_notify",
    )
    return Notice(proposer.session_id, said)


def mode_changed(book: Book, before: BoardSettings, after: BoardSettings, voided: int) -> None:
    """Say that the board is governed otherwise now."""
    void = f" {voided} open intents are void." if voided else ""
    book.say(
        f"[board] Approvals: {before.manager_mode.value} → {after.manager_mode.value}, set by "
        f"{_name(after.updated_by)}.{void}",
        key=f"board_mode:{after.revision}",
        source=SETTINGS,
        session_id=_caller(book),
    )


def failover_changed(book: Book, before: BoardSettings, after: BoardSettings) -> None:
    """Say that something else becomes of the board when its manager is dead now."""
    book.say(
        f"[board] When the manager is gone: {before.manager_failover.value} → "
        f"{after.manager_failover.value}, set by {_name(after.updated_by)}.",
        key=f"board_failover:{after.revision}",
        source=SETTINGS,
        session_id=_caller(book),
    )


def assigned(book: Book, manager: Manager, pending: Sequence[Intent]) -> None:
    """Tell a worker that it manages the board."""
    book.say(
        f"[board] @agent:{manager.agent_key} manages the board now, assigned by "
        f"{_name(manager.assigned_by)}: {_DECIDING}.{_waiting(pending)}",
        key=f"board_manager:{manager.manager_id}:assigned",
        session_id=_caller(book),
    )


def released(book: Book, manager: Manager) -> None:
    """Say that nobody manages the board any more."""
    book.say(
        f"[board] {_name(manager.actor_label)} does not manage the board any more, released by "
        f"{_name(manager.released_by)}{_reason(manager.release_reason)}.",
        key=f"board_manager:{manager.manager_id}:released",
        session_id=_caller(book),
    )


def succeeded(book: Book, before: Manager, after: Manager, pending: Sequence[Intent]) -> None:
    """Say who manages the board in place of a dead manager, and what waits for it."""
    key = f"board_manager_failover:{before.manager_id}"
    gone = _name(before.actor_label)
    text = f"[status] {gone} is gone, and @agent:{after.agent_key} manages the board: {_DECIDING}."
    _noticed(book, text, key)
    if pending:
        waits = f"[status] @agent:{after.agent_key}{_waiting(pending)}"
        _noticed(book, waits, f"{key}:intents")


def is_away(book: Book, manager: Manager, *, is_asked: bool) -> None:
    """Say that the manager is away and nobody takes its place; `is_asked`: approvals are needed."""
    who = _name(manager.actor_label)
    meanwhile = (
        "What needs an approval waits: a person decides with `letagents approve`, or lets another "
        "manage the board with assign_board_manager."
        if is_asked
        else "Until it is back, or another manages the board, nothing needs an approval."
    )
    text = f"[status] {who}, who manages the board, has been away for 5 minutes. {meanwhile}"
    _noticed(book, text, f"board_manager_offline:{manager.manager_id}:{manager.outages}")


def _noticed(book: Book, text: str, key: str) -> MessageId:
    return book.say(text, key=key, source=LIVENESS, prompt_kind=AUTO)


def _waiting(pending: Sequence[Intent]) -> str:
    if not pending:
        return ""
    shown = ", ".join(one.intent_id for one in pending[:LISTED])
    more = f" and {len(pending) - LISTED} more" if len(pending) > LISTED else ""
    verb = "waits" if len(pending) == 1 else "wait"
    return f" {shown}{more} {verb} for a decision: list_board_intents(status='pending')."


def _proposer(intent: Intent) -> str:
    return _name(intent.proposer.actor_label) if intent.proposer else "somebody"


def _name(label: str | None) -> str:
    """Return who is called so, in a form that mentions nobody."""
    return intents.cut(names.primary_label(label or ""))


def _words(intent: Intent) -> str:
    return intents.words(intent.action, intent.payload)


def _by_hand(book: Book, intent: Intent) -> str:
    named = f"{shlex.quote(str(book.room_id))} {intent.intent_id}"
    return f"`letagents approve {named}` or `letagents deny {named}`"


def _caller(book: Book) -> SessionId | None:
    return book.caller.session_id if book.caller else None
