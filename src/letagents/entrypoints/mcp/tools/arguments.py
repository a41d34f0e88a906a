"""What several tools take, read into values of the domain."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from letagents.application.callers import Claim
from letagents.domain import rooms
from letagents.domain.errors import Malformed, SessionUnknown, UnknownRoom, UnknownWorker
from letagents.domain.ids import ClientKey, MessageId, RoomId, SessionId, WorkerId
from letagents.entrypoints.mcp.tool import Arguments

T = TypeVar("T")


def claim(arguments: Arguments) -> Claim:
    """Return what a call says about who it is from.

    Raises:
        Malformed: it says it in two ways, or names no possible room.
        UnknownWorker, SessionUnknown: what it shows cannot be an id of that kind.
    """
    worker, session = arguments.get("worker_id"), arguments.get("agent_session_id")
    if worker is not None and session is not None:
        raise Malformed(
            "worker_id: agent_session_id was passed too.",
            remedy="Choose one: worker_id where register_agent_session returned one.",
        )
    return Claim(worker_of(worker), _session_of(session), room_of(arguments.get("room_id")))


def worker_of(value: object) -> WorkerId | None:
    """Return the handle; what has not the form of one is a worker that nobody knows.

    It is not shown: it may be the registration key, passed in the wrong place.
    """
    if value is None:
        return None
    if not WorkerId.fits(value):
        raise UnknownWorker("of a form that no handle has")
    return WorkerId(str(value))


def _session_of(value: object) -> SessionId | None:
    if value is None:
        return None
    if not SessionId.fits(value):
        raise SessionUnknown(
            "agent_session_id: what was passed is not the id of a session.",
            remedy="Call register_agent_session and pass the agent_session_id that it returns.",
        )
    return SessionId(str(value))


def room_of(value: object, field: str = "room_id") -> RoomId | None:
    """Return the room that a call names."""
    return None if value is None else named_room(str(value), field)


def named_room(text: str, field: str) -> RoomId:
    """Return the room that `text` names."""
    return named(field, rooms.canonical, text)


@contextmanager
def naming(field: str) -> Iterator[None]:
    """Let the refusal of a room name the field in which the room was passed."""
    try:
        yield
    except UnknownRoom as error:
        raise UnknownRoom(f"{field}: {error.happened}", remedy=error.remedy) from error


def message_of(value: object, field: str) -> MessageId | None:
    """Return the message that a call names."""
    return None if value is None else MessageId.parse(str(value).strip(), field)


def key_of(value: object) -> ClientKey | None:
    """Return the idempotency key of a call."""
    return None if value is None else named("client_message_id", ClientKey, str(value))


def named(field: str, read: Callable[[str], T], text: str) -> T:
    """Return what `read` makes of `text`; its refusal names the field in which it was passed."""
    try:
        return read(text)
    except Malformed as error:
        raise Malformed(f"{field}: {error.happened}", remedy=error.remedy) from error


def epoch_of(arguments: Arguments) -> int | None:
    """Return the epoch that a call names, if it does."""
    given = arguments.get("epoch")
    return given if isinstance(given, int) else None


def text_of(arguments: Arguments, name: str) -> str | None:
    """Return a text that was passed, without blanks at its ends; None if nothing is left."""
    value = arguments.get(name)
    return str(value).strip() or None if value is not None else None
