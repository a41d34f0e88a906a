"""What a hosted room says where it does not do what was asked, and back to our own errors.

A body has the fields of hosted-api 1.2: `error` and often `code`. Our server adds `problem`, with
the error as it was raised, so that its client raises the same one; of other servers' answers the
status and the code decide.
"""

import importlib
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import attrs

from letagents.domain.accounts import WorkerSessionRequired
from letagents.domain.authors import HumansOnly
from letagents.domain.denials import NotTheManager
from letagents.domain.errors import (
    ConnectionLost,
    LetAgentsError,
    Malformed,
    NameTaken,
    NotAvailable,
    OutcomeUnknown,
    RegistrationConflict,
    RoomsUnavailable,
    SessionEnded,
    SignInFirst,
    UnknownMessage,
    UnknownRoom,
)
from letagents.domain.governance import NoSuchSession
from letagents.domain.locks import UnknownLock
from letagents.domain.moves import ReviewWorkerRequired
from letagents.domain.path_claims import UnknownClaim
from letagents.domain.reasoning import ForeignReasoning, UnknownReasoning
from letagents.domain.records import UnknownRecord
from letagents.domain.serving import AskedTooOften, JoinedTooOften
from letagents.domain.targets import UnknownTarget
from letagents.domain.tasks import AdminRequired, InvalidTransition, UnknownTask, WorkerRequired
from letagents.domain.wake_rules import ForeignWakeRule, UnknownWakeRule
from letagents.wire.http.reading import Fields, Unreadable

Plain = dict[str, Any]

ENDED = "This agent session has ended."
"""By these words a client knows that its session is over. (Source: hosted-api 2.3.)"""
BAD_CREDENTIALS = "Invalid agent session credentials."


def _nothing(_error: LetAgentsError) -> Plain:
    return {}


def _as_it_is(error: LetAgentsError) -> str:
    return str(error)


def _happened(error: LetAgentsError) -> str:
    return error.happened


def _with_an_arrow(error: LetAgentsError) -> str:
    return error.happened.replace(" -> ", " → ")


def _ended(error: LetAgentsError) -> str:
    return f"{ENDED} {error.remedy}"


@attrs.frozen
class Form:
    """How an error is answered: the status, and what else the interface has of its own for it."""

    status: int
    code: str | None = None
    text: str | None = None
    spelt: Callable[[LetAgentsError], str] = _as_it_is
    more: Callable[[LetAgentsError], Plain] = _nothing


Forms = Mapping[type[LetAgentsError], Form]
"""Of an error's class or, without an entry, of the next above it."""

_FORMS: Forms = {
    LetAgentsError: Form(409),
    UnknownRoom: Form(404, "ROOM_NOT_FOUND", "Room not found"),
    RegistrationConflict: Form(
        409,
        "agent_instance_already_active",
        "This exact agent instance is already active on another live transport.",
    ),
    NameTaken: Form(
        409,
        "agent_session_display_name_exhausted",
        "Could not allocate a unique active worker display name for this room.",
    ),
    Malformed: Form(400),
    UnknownMessage: Form(400),
    RoomsUnavailable: Form(503),
    OutcomeUnknown: Form(500),
    NotAvailable: Form(501),
    SessionEnded: Form(401, spelt=_ended),
    ConnectionLost: Form(401, text=BAD_CREDENTIALS),
    WorkerSessionRequired: Form(403, spelt=_happened),
    UnknownTask: Form(404, text="Task not found"),
    InvalidTransition: Form(400, spelt=_with_an_arrow),
    AdminRequired: Form(403, text="Admin privileges required"),
    WorkerRequired: Form(403, text="Worker session is required for agent write actions."),
    ReviewWorkerRequired: Form(403),
    UnknownTarget: Form(404, spelt=_happened),
    UnknownLock: Form(404),
    UnknownClaim: Form(404),
    HumansOnly: Form(403),
    UnknownRecord: Form(404),
    UnknownReasoning: Form(404, text="Reasoning session not found"),
    ForeignReasoning: Form(403),
    UnknownWakeRule: Form(404),
    ForeignWakeRule: Form(403),
    NoSuchSession: Form(404, text="Active agent session not found"),
    NotTheManager: Form(
        403,
        text="Only the active Board Manager can decide board intents with worker credentials.",
    ),
    AskedTooOften: Form(429, "RATE_LIMITED", spelt=_happened),
    JoinedTooOften: Form(429, "RATE_LIMITED", "Too many join attempts. Please slow down."),
}

_ERRORS_IN = (
    "accounts",
    "attachments",
    "authors",
    "denials",
    "errors",
    "focus_rooms",
    "governance",
    "guidelines",
    "leases",
    "locks",
    "messages",
    "moves",
    "path_claims",
    "presence",
    "reasoning",
    "receipts",
    "records",
    "serving",
    "targets",
    "tasks",
    "threads",
    "verdicts",
    "wake_rules",
)


def plain(error: LetAgentsError, forms: Forms | None = None) -> tuple[int, Plain]:
    """Return the status and the body of an answer that tells of `error`.

    `forms` are those of the route where they are not everybody's.
    """
    form = _form(type(error), {**_FORMS, **(forms or {})})
    text = form.text or form.spelt(error)
    return form.status, {
        "error": text,
        "code": form.code or error.code,
        "problem": _problem(error),
        **form.more(error),
    }


def beside(error: LetAgentsError | None) -> Plain:
    """Return what an answer says beside all else, where something went wrong meanwhile."""
    return {"problem": _problem(error)} if error else {}


def _form(kind: type[LetAgentsError], forms: Forms) -> Form:
    return next(forms[one] for one in kind.__mro__ if one in forms)


def _problem(error: LetAgentsError) -> Plain:
    told: Plain = {
        "kind": _name(type(error)),
        "code": error.code,
        "happened": error.happened,
        "remedy": error.remedy,
    }
    if isinstance(error, ConnectionLost):
        told["about"] = [one if one is None else str(one) for one in error.about]
    return told


def error(document: object) -> LetAgentsError | None:
    """Return the error that our own server told of, or None where `document` tells of none."""
    try:
        told = Fields(document).part("problem")
        return _raised(told) if told else None
    except Unreadable:
        return None


def of_code(code: object, told: str) -> LetAgentsError | None:
    """Return the error that a code of the interface stands for, or None for one of no meaning here.

    `told` is what another server says of it.
    """
    kind = _by(_code).get(code)
    if kind is None or issubclass(kind, ConnectionLost):
        return None
    return _of(kind, told, "Nothing happened. Read the board, then decide: get_board.")


def _raised(told: Fields) -> LetAgentsError | None:
    kind = _by(_name).get(told.text_or_none("kind")) or _by(_code).get(told.text("code"))
    if kind is None:
        return None
    if issubclass(kind, ConnectionLost):
        return kind(*_about(told))
    if issubclass(kind, SignInFirst):
        return None  # what it knows besides is in other fields
    return _of(kind, told.text("happened"), told.text("remedy"))


def _about(told: Fields) -> tuple[str | None, str | None, str, str | None]:
    about = told.list("about")
    if len(about) != 4 or not all(one is None or isinstance(one, str) for one in about):
        raise Unreadable("about is not what it should be")
    worker_id, room_id, why, session_id = (None if one is None else str(one) for one in about)
    return worker_id, room_id, str(why), session_id


def _of(kind: type[LetAgentsError], happened: str, remedy: str) -> LetAgentsError:
    raised = kind.__new__(kind)
    LetAgentsError.__init__(raised, happened, remedy=remedy)
    return raised


def kinds() -> Collection[object]:
    """Return the names of all errors that are told of by name."""
    return _by(_name).keys()


def _name(kind: type[LetAgentsError]) -> str:
    return f"{kind.__module__.rpartition('.')[2]}.{kind.__name__}"


def _code(kind: type[LetAgentsError]) -> str:
    return kind.code


def _by(name: Callable[[type[LetAgentsError]], str]) -> dict[object, type[LetAgentsError]]:
    """Return the errors of the domain by a name of theirs; of several, the most general one."""
    for module in _ERRORS_IN:
        importlib.import_module(f"letagents.domain.{module}")
    found: dict[object, type[LetAgentsError]] = {}
    for kind in _below(LetAgentsError):
        if kind.__module__.startswith("letagents.domain."):
            found.setdefault(name(kind), kind)
    return found


def _below(kind: type[LetAgentsError]) -> Iterator[type[LetAgentsError]]:
    yield kind
    for one in kind.__subclasses__():
        yield from _below(one)
