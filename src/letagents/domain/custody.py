"""Polls of an agent that waits by itself, under its supervisor's eyes.

Each poll is admitted before it is made, from the cursor that the supervisor keeps, and what it
brought is offered before it is shown. What the agent passes as its cursor next acknowledges that.

(Source: supervisor 3.5, 4.9, 5.5, 6.12.)

J90  A wait shows the id of its request as it was sent: a number is another one than its text.
J91  What a wait offers is the end of what it shows: never behind where it began, and there only if
     nothing was shown, passed over or left out.
J92  A cursor that is passed acknowledges the last offer, if that was made to the same process and
     ends just there; nothing else moves the agent's cursor.
J93  An offer begins at the agent's cursor and ends ahead of it. Made again, as long as it is the
     last, it is the same; another under the same id is refused, and one that another has followed.
J94  What was offered is not acknowledged by that: the next process is offered it again.
J95  Polls are admitted only while the agent's process polls, over its exact route, and in nothing
     that has changed since.
J100  An agent polls in one turn of each of its processes. A turn that may have begun is not begun
     again in that process; its end is written down once, and ends the process.
J101  Polls are admitted from when that turn may have begun until it is known to be over.
J104  Who polls is lent a bearer of its own; where its server gives none, it is not started.

(10.4: without cutovers the turn is begun as soon as the process is there.)
"""

import enum
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import attrs

from letagents.domain import bindings
from letagents.domain.bindings import Binding, BindingRefused
from letagents.domain.errors import LetAgentsError, Retry
from letagents.domain.ids import Credential, MessageId

CONTRACT = "custodial_polling_v1"
_CHANGED = "Polling offer invocation changed or was superseded."
NOT_BOUND = "Custodial polling is not authorized by the current worker binding."
FOLLOWED = 64
"""So many offers that others have followed are remembered."""
WAIT, READ = "wait_for_messages", "read_messages"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LARGEST = 2**53 - 1
RequestId = str | int
_REMEDY = "Tell your user: this agent has to be started anew by its supervisor."


class PollRefused(LetAgentsError):
    """A poll was not admitted, or what it brought may not be shown. Its result is withheld."""

    code = "poll_refused"


class PollDeferred(PollRefused):
    """The supervisor has just begun, and does not know the agent's session yet."""

    code = "poll_deferred"
    retry: ClassVar[Retry] = Retry.LATER


def refused(happened: str, remedy: str = _REMEDY) -> PollRefused:
    """Return what is said of a poll that is not admitted."""
    return PollRefused(happened, remedy=remedy)


# --- as the agent's process sees it ---------------------------------------------------------------


@attrs.frozen
class Invocation:
    """One wait: the process that makes it, the id of its request, and the cursor it was passed."""

    process_id: str
    request_id: RequestId
    cursor: str | None
    room_id: str | None = None
    session_id: str | None = None
    """The room and the session that the call names, if it does."""


@attrs.frozen
class Admission:
    """A poll may be made: in that room, from that cursor. `via` is how it was asked for."""

    room_id: str
    cursor: str | None
    revision: int
    invocation: Invocation | None = None
    activation_id: str | None = None
    epoch: int | None = None
    via: Any = attrs.field(default=None, eq=False, repr=False)


def invocation(
    process_id: str,
    request_id: object,
    cursor: object,
    *,
    room_id: str | None = None,
    session_id: str | None = None,
) -> Invocation:
    """Return the wait that a call asks for.

    Raises:
        PollRefused: it shows no exact id, or no cursor.
    """
    is_number = isinstance(request_id, int) and not isinstance(request_id, bool)
    is_exact = isinstance(request_id, str) or (is_number and abs(int(request_id)) <= _LARGEST)  # type: ignore[call-overload]  # it is a number
    if not is_exact:
        raise refused("Custodial wait is missing its exact MCP request id.")
    is_cursor = cursor is None or (isinstance(cursor, str) and bindings.cursor(cursor) is not None)
    if not is_cursor:
        raise refused(
            "Custodial wait requires a valid requested cursor.",
            "Pass the last_observed_message_id of an earlier wait, or leave after_message_id out.",
        )
    return Invocation(process_id, request_id, cursor, room_id, session_id)  # type: ignore[arg-type]  # both were seen


def frontier(result: object, admission: Admission) -> MessageId:
    """Return where the page of a wait ends (J91).

    Raises:
        PollRefused: it is no page, or does not say.
    """
    page = _page(result, admission.room_id)
    began = bindings.cursor(admission.cursor or "")
    if began is None:
        raise refused("Custodial polling has no durable cursor; refusing a tail fallback.")
    is_empty = not _progress(page)
    told = page.get("last_observed_message_id")
    if told is None:
        if not is_empty:
            raise refused("Custodial wait is missing its bounded observed frontier.")
        return began
    ends = bindings.cursor(told) if isinstance(told, str) else None
    if ends is None or ends < began or (ends == began and not is_empty):
        raise refused("Custodial wait returned an invalid observed frontier.")
    return ends


def _page(result: object, room_id: str) -> Mapping[str, object]:
    page = result if isinstance(result, Mapping) else {}
    room = page.get("room_id")
    if not isinstance(page.get("messages"), Sequence) or room not in (None, room_id):
        raise refused("Custodial wait returned no valid bounded page.")
    return page


def _progress(page: Mapping[str, object]) -> bool:
    """Whether a page shows, passes over, or leaves out anything."""
    return any(
        page.get(name)
        for name in (
            "messages",
            "truncated",
            "omitted_message_count",
            "omitted_message_ids",
            "skipped_message_count",
            "skipped_message_ids",
        )
    )


# --- as its supervisor keeps it -------------------------------------------------------------------


@attrs.frozen
class Offer:
    """What one wait was about to show. `request` is its id as JSON, so that 1 and "1" differ."""

    process_id: str
    request: str
    began: MessageId
    ends: MessageId
    is_acknowledged: bool = False


class Phase(enum.Enum):
    """How far the turn is in which an agent polls."""

    DISPATCHING = "dispatching"
    ACTIVE = "active"
    UNCERTAIN = "uncertain"
    COMPLETE = "complete"


class End(enum.Enum):
    """How that turn ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    LOST = "lost"


@attrs.frozen
class Polling:
    """That an agent's process polls by itself, its turn, and the last offer made to it."""

    activation_id: str
    execution_id: str
    revision: int = 1
    last: Offer | None = None
    phase: Phase = Phase.DISPATCHING
    turn_id: str | None = None
    end: End | None = None
    session_id: str = ""
    """The session that the process was told of when it was started."""
    superseded: tuple[tuple[str, str], ...] = ()
    """Which processes and requests made the offers that were followed since the cursor moved."""


def active(polling: Polling, turn_id: str) -> Polling:
    """Return the polling once its turn has begun (J100).

    Raises:
        PollRefused: it is over, or another turn is.
    """
    if polling.phase is Phase.COMPLETE or polling.turn_id not in (None, turn_id):
        raise refused("Custodial polling activation changed during admission.")
    return attrs.evolve(polling, phase=Phase.ACTIVE, turn_id=turn_id)


def uncertain(polling: Polling) -> Polling:
    """Return the polling once nobody here knows what became of its turn."""
    if polling.phase is Phase.COMPLETE:
        return polling
    return attrs.evolve(polling, phase=Phase.UNCERTAIN)


def over(polling: Polling, end: End) -> Polling:
    """Return the polling once its turn is over; one that has no name cannot be told of."""
    if polling.phase is Phase.COMPLETE:
        return polling
    known = End.LOST if polling.turn_id is None else end
    return attrs.evolve(polling, phase=Phase.COMPLETE, end=known)


def check_bearer(bearer: Credential | None) -> None:
    """Let an agent be started to which its server has given a bearer (J104).

    Raises:
        PollRefused: it has given none.
    """
    if bearer is None:
        raise refused(
            "The server gives workers no bearers, and an agent that waits by itself needs one.",
            "Set LETAGENTS_AGENT_SESSION_BEARER_ENABLED=1 where the server is started, or add the "
            "agent without --polling.",
        )


def check_process(process_id: str) -> None:
    """Let a process call whose name is one that no other has.

    Raises:
        PollRefused: it shows none.
    """
    if not _UUID.fullmatch(process_id):
        raise refused(
            "Custodial polling requires an exact invocation and BEFORE receipt; upgrade the MCP "
            "runtime."
        )


def check_active(polling: Polling | None, execution_id: str) -> Polling:
    """Return the polling of an agent's process (J95, J101).

    Raises:
        PollRefused: it does not poll.
    """
    is_its = polling is not None and polling.execution_id == execution_id
    if polling is None or not is_its or polling.phase is Phase.COMPLETE:
        raise refused("Custodial polling authority is stale or unsupported.")
    return polling


def check_same(
    polling: Polling,
    binding: Binding,
    *,
    revision: int,
    is_wait: bool,
    activation_id: str,
    epoch: int,
) -> None:
    """Let what was polled be shown while all is as it was when it was admitted (J95).

    Raises:
        PollRefused: something has changed since.
    """
    if polling.revision != revision:
        raise refused("Custodial polling authority changed before receipt commit.")
    if is_wait and activation_id != polling.activation_id:
        raise refused("Custodial polling BEFORE receipt names a stale activation.")
    if is_wait and epoch != binding.epoch:
        raise refused("Custodial polling authority changed before receipt commit.")


def acknowledged(
    polling: Polling, process_id: str, passed: MessageId | None
) -> tuple[Polling, MessageId | None]:
    """Return the polling after a cursor was passed, and up to where that acknowledges (J92)."""
    last = polling.last
    is_it = last is not None and last.process_id == process_id and last.ends == passed
    if last is None or not is_it:
        return polling, None
    seen = attrs.evolve(last, is_acknowledged=True)
    return attrs.evolve(polling, last=seen), last.ends


def offered(polling: Polling, offer: Offer, *, at: MessageId | None) -> Polling:
    """Return the polling once an offer is made to an agent whose cursor stands `at` (J93).

    Raises:
        PollRefused: it is none that can follow.
    """
    last, wait = polling.last, (offer.process_id, offer.request)
    if last is not None and (last.process_id, last.request) == wait:
        if (last.began, last.ends) == (offer.began, offer.ends):
            return polling
        raise refused(_CHANGED)
    if wait in polling.superseded:
        raise refused(_CHANGED)
    if offer.began != at:
        raise refused("Polling offer input is not the durable acknowledged cursor.")
    if offer.ends < offer.began:
        raise refused("Polling offer cannot move behind its input cursor.")
    if offer.ends == offer.began:
        return polling
    return attrs.evolve(polling, last=offer, superseded=_followed(polling))


def _followed(polling: Polling) -> tuple[tuple[str, str], ...]:
    last = polling.last
    if last is None or last.is_acknowledged:
        return ()
    return (*polling.superseded, (last.process_id, last.request))[-FOLLOWED:]


def check_checkpoint(polling: Polling | None) -> None:
    """Let a cursor be moved on by its own word, of an agent that does not poll by itself.

    Raises:
        BindingRefused: it polls, and acknowledges what it was offered.
    """
    if polling is not None:
        raise BindingRefused(
            "Custodial polling requires exact offer acknowledgement; legacy cursor checkpoints are "
            "disabled.",
            remedy="Pass the cursor to wait_for_messages.",
        )
