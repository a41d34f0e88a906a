"""What a hosted room says where it does not do what was asked, and back to our own errors.

A body has the fields of hosted-api 1.2: `error` and often `code`. Our server adds `problem`, with
the error as it was raised, so that its client raises the same one; of other servers' answers the
status and the code decide.
"""

import importlib
from collections.abc import Iterator
from typing import Any

from letagents.domain.errors import (
    ConnectionLost,
    KeyReused,
    LetAgentsError,
    Malformed,
    NameTaken,
    OutcomeUnknown,
    RegistrationConflict,
    RoomsUnavailable,
    SessionEnded,
    UnknownMessage,
    UnknownRoom,
)
from letagents.wire.http.reading import Fields, Unreadable

Plain = dict[str, Any]

ENDED = "This agent session has ended."
"""By these words a client knows that its session is over. (Source: hosted-api 2.3.)"""
BAD_CREDENTIALS = "Invalid agent session credentials."

_STATUS: dict[type[LetAgentsError], tuple[int, str | None, str | None]] = {
    UnknownRoom: (404, "ROOM_NOT_FOUND", "Room not found"),
    RegistrationConflict: (
        409,
        "agent_instance_already_active",
        "This exact agent instance is already active on another live transport.",
    ),
    NameTaken: (
        409,
        "agent_session_display_name_exhausted",
        "Could not allocate a unique active worker display name for this room.",
    ),
    KeyReused: (409, None, None),
    Malformed: (400, None, None),
    UnknownMessage: (400, None, None),
    RoomsUnavailable: (503, None, None),
    OutcomeUnknown: (500, None, None),
    SessionEnded: (401, None, None),
    ConnectionLost: (401, None, BAD_CREDENTIALS),
}
"""Status, code and fixed text of an error's class or, without an entry, of the next above it."""

_ERRORS_IN = (
    "accounts",
    "authors",
    "denials",
    "errors",
    "governance",
    "guidelines",
    "leases",
    "locks",
    "messages",
    "moves",
    "path_claims",
    "reasoning",
    "records",
    "targets",
    "tasks",
    "verdicts",
    "wake_rules",
)


def plain(error: LetAgentsError) -> tuple[int, Plain]:
    """Return the status and the body of an answer that tells of `error`."""
    status, code, text = _form(type(error))
    if isinstance(error, SessionEnded):
        text = f"{ENDED} {error.remedy}"
    body = {"error": text or str(error), "code": code or error.code, "problem": _problem(error)}
    return status, body


def _form(kind: type[LetAgentsError]) -> tuple[int, str | None, str | None]:
    return next((_STATUS[one] for one in kind.__mro__ if one in _STATUS), (409, None, None))


def _problem(error: LetAgentsError) -> Plain:
    told: Plain = {"code": error.code, "happened": error.happened, "remedy": error.remedy}
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


def _raised(told: Fields) -> LetAgentsError | None:
    kind = _kinds().get(told.text("code"))
    if kind is None:
        return None
    if issubclass(kind, ConnectionLost):
        worker_id, room_id, why, session_id = told.list("about")
        return kind(worker_id, room_id, str(why), session_id)
    raised = kind.__new__(kind)
    LetAgentsError.__init__(raised, told.text("happened"), remedy=told.text("remedy"))
    return raised


def _kinds() -> dict[str, type[LetAgentsError]]:
    for module in _ERRORS_IN:
        importlib.import_module(f"letagents.domain.{module}")
    return {kind.code: kind for kind in _below(LetAgentsError) if "code" in vars(kind)}


def _below(kind: type[LetAgentsError]) -> Iterator[type[LetAgentsError]]:
    yield kind
    for one in kind.__subclasses__():
        yield from _below(one)
