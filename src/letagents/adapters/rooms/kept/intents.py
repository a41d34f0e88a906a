"""What a room keeps of approvals, and the one place where an approval is used."""

import functools
from collections.abc import Callable

from letagents.adapters.rooms.book import Book, Kind, Lookup, Where
from letagents.adapters.rooms.kept import dues, links
from letagents.domain import approvals, denials, governance, intents, spending
from letagents.domain.approvals import OPEN_LIMIT, Intent, Standing
from letagents.domain.governance import BoardSettings, Evidence, Manager, ManagerMode
from letagents.domain.intents import Action, Approval, Payload
from letagents.domain.sessions import SessionKind

SETTINGS = Kind(
    name="board_settings", of=BoardSettings, key=lambda _one: "board", number=lambda _one: 1
)
MANAGERS = Kind(
    name="board_manager",
    of=Manager,
    key=lambda one: one.manager_id,
    number=lambda one: one.number,
    state=lambda one: one.status.value,
    is_open=lambda one: one.is_active,
    by=lambda one: one.agent_key,
)
INTENTS = Kind(
    name="board_intent",
    of=Intent,
    key=lambda one: one.intent_id,
    number=lambda one: one.number,
    state=lambda one: one.status.value,
    is_open=lambda one: one.status.is_open,
    about=lambda one: one.task_id,
    by=lambda one: one.proposer.agent_key if one.proposer else None,
    also=lambda one: one.token_digest,
)

ESCALATION_DUE = "board_intent_escalation"
"""What the room is asked to do when an intent has waited."""

_SET = Where(is_open=True, limit=1)
_HOLDS = Where(is_open=True, newest_first=True, limit=1)
GOVERNING: tuple[Lookup, ...] = ((SETTINGS, _SET), (MANAGERS, _HOLDS))
"""What is looked up wherever something may need an approval."""


@functools.lru_cache(maxsize=64)
def beside(task_id: str) -> Lookup:
    """Return what is looked up wherever a task is moved: the open intents about it."""
    return INTENTS, Where(is_open=True, about=task_id, limit=OPEN_LIMIT)


def settings(book: Book) -> BoardSettings:
    """Return how the board is governed."""
    found = book.find(SETTINGS, _SET)
    return found[0] if found else BoardSettings()


def manager(book: Book) -> Manager | None:
    """Return the assignment that holds."""
    found = book.find(MANAGERS, _HOLDS)
    return found[0] if found else None


def evidence(book: Book, one: Manager) -> Evidence:
    """Return what the room knows of that manager."""
    session = book.session(one.session_id)
    return Evidence(session, links.is_alive(book, session) if session else None)


def needs_intent(book: Book) -> bool:
    """Whether what agents do to the board has to be approved now."""
    mode = settings(book).manager_mode
    is_managed = mode is ManagerMode.MANAGER_OPTIONAL and _is_managed(book)
    return governance.needs_intent(mode, is_managed=is_managed)


def _is_managed(book: Book) -> bool:
    if (one := manager(book)) is None:
        return False
    known = evidence(book, one)
    acts_itself = book.caller is not None and book.caller.session_id == one.session_id
    return known.is_live if acts_itself else not governance.is_dead(one, known, book.tick)


def task_moved(book: Book, task_id: str, standing: Standing) -> None:
    """Keep what the move of a task has made void, in the transaction that moves it (P16).

    Left to the next look it would be open again if the task was moved back before that.
    """
    for intent in book.find(*beside(task_id)):
        now_is = approvals.as_it_stands(intent, book.now, standing, book.tick)
        if now_is != intent:
            put_settled(book, now_is)


def put_settled(book: Book, intent: Intent) -> None:
    """Keep an intent for which nobody has to be asked any more."""
    book.put(INTENTS, intent)
    dues.forget(book, ESCALATION_DUE, intent.intent_id)


def spend(
    book: Book,
    action: Action,
    asked: Callable[[], Payload],
    approval: Approval | None,
    *,
    task: Standing | None = None,
    always: bool = False,
) -> None:
    """Let the caller do `action` with the payload `asked`, using `approval` where one is shown.

    `task` is how the task that it is about stands before it; `always` says that an approval is
    needed in every manager mode. Call it inside the transaction of the effect, before anything is
    said; what people and the room itself do needs no approval.

    Raises:
        IntentRequired: an approval is needed, and none was shown.
        IntentNotFound, ManagerModeOff, and as `spending.spent`: what was shown does not let it.
    """
    caller = book.caller
    if caller is None or caller.kind is not SessionKind.WORKER:
        return
    if approval is None or approval == Approval():
        if always or needs_intent(book):
            payload = asked()
            raise spending.required(action, payload, _own(book, action, payload, task))
        return
    if not always and settings(book).manager_mode is ManagerMode.OFF:
        raise denials.ManagerModeOff
    payload = asked()
    intent = _shown(book, approval, intents.asking(action, payload))
    used = spending.spent(
        intent,
        action,
        payload,
        by=caller,
        token=approval.token,
        now=book.now,
        standing=task,
        tick=book.tick,
    )
    book.put(INTENTS, used)


def _own(book: Book, action: Action, payload: Payload, task: Standing | None) -> Intent | None:
    """Return the caller's open intent for the same, if there is one."""
    assert book.caller is not None  # noqa: S101  # only a worker needs an approval
    where = Where(is_open=True, by=book.caller.agent_key, newest_first=True)
    found = approvals.repeated(book.find(INTENTS, where), action, payload, book.caller)
    if found is None:
        return None
    return found if approvals.as_it_stands(found, book.now, task, book.tick) == found else None


def _shown(book: Book, approval: Approval, again: str) -> Intent:
    intent_id, token = approval.intent_id, approval.token
    if intent_id is not None:
        found = book.get(INTENTS, intent_id)
    else:
        digest = intents.digest(token) if token else None
        found = next(iter(book.find(INTENTS, Where(also=digest, limit=1))), None)
    if found is None:
        raise denials.IntentNotFound(
            f"board_intent_id: there is no such intent in {book.room_id}."
            if intent_id
            else "board_approval_token: it belongs to no intent in this room.",
            remedy=f"list_board_intents() shows those that are there; or {again}.",
        )
    return found
