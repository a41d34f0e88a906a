"""Which session a supervised agent speaks with, and who may be lent its credential.

A process of the agent binds its session: it says which agent, room, attempt and process it is of,
and shows the session's secret. The supervisor writes down all but the secret, which it keeps in
memory alone, and lends it to that process for one request at a time.

(Source: supervisor 3.2, 3.3, 3.6, 6.7, 6.9.)

J30  A session is bound only to the agent, room, attempt and living process that it names; of
     several faults the first in this order is told.
J31  Each binding has a higher epoch than any before it, whatever was unbound meanwhile; who binds
     again exactly what is bound, and shows the same secret, changes nothing.
J32  A cursor outlives a binding to the same session, and no other.
J33  A cursor only goes forward.
J34  A session is verified only by its secret and its whole route, and verifying changes nothing.
J35  A credential is lent only over the exact route, under the generation of this supervisor, and to
     an agent of Cursor only in the turn that it names; all else is stale. Where only the secret is
     missing, it is deferred.
J36  Addresses of servers are compared by their origin.
J37  A credential goes to a server with HTTPS, to one on this machine, or to the supervisor's own
     rooms, and nowhere else.
"""

import enum
import re
from datetime import datetime

import attrs

from letagents.domain import generations
from letagents.domain.errors import LetAgentsError
from letagents.domain.ids import MessageId
from letagents.domain.surfaces import LOCAL_ROOMS

_ORIGIN = re.compile(
    r"(?P<scheme>https?|letagents-local)://(?P<host>\[[0-9a-f:.]+\]|[^\s/?#@:\[\]]+)"
    r"(?::(?P<port>[0-9]{1,5}))?(?=[/?#]|\Z)",
    re.IGNORECASE,
)
_PORTS = {"http": 80, "https": 443}
_HERE = ("localhost", "127.0.0.1", "[::1]")
_CURSOR = re.compile(r"(?:msg_)?0*([1-9][0-9]{0,9})")


class BindingRefused(LetAgentsError):
    """A session is not of the agent that it names. Nothing was changed."""

    code = "binding_refused"


_REMEDY = "Start the agent's process anew with the coordinates that its supervisor gives it."


@attrs.frozen
class Place:
    """Where an agent is now: its room, its attempt, and its process if one is alive."""

    entry_id: str
    room_id: str
    work_attempt_id: str
    execution_id: str | None
    has_ended: bool = False
    """Whether the process has."""


@attrs.frozen
class Claim:
    """What a process says it is."""

    entry_id: str
    room_id: str
    work_attempt_id: str
    execution_id: str
    session_id: str
    api_url: str = ""


@attrs.frozen
class Binding:
    """Which session an agent has, as the supervisor wrote it down."""

    entry_id: str
    room_id: str
    work_attempt_id: str
    execution_id: str
    session_id: str
    origin: str
    epoch: int
    updated_at: datetime
    cursor: MessageId | None = None


def origin(url: str) -> str | None:
    """Return the origin of an address, or None if it is none."""
    found = _ORIGIN.match(url.strip())
    if found is None:
        return None
    scheme = found["scheme"].lower()
    port = int(found["port"]) if found["port"] else _PORTS.get(scheme)
    is_usual = port == _PORTS.get(scheme)
    return f"{scheme}://{found['host'].lower()}{'' if is_usual else f':{port}'}"


def is_safe(url: str) -> bool:
    """Whether a credential may go to the server at an address."""
    found = _ORIGIN.match(url.strip())
    if found is None:
        return False
    scheme, host = found["scheme"].lower(), found["host"].lower()
    return scheme == "https" or url == LOCAL_ROOMS or (scheme == "http" and host in _HERE)


def check(claim: Claim, place: Place | None, *, about: str = "Worker session") -> None:
    """Let a claim pass that names the place where its agent is.

    Raises:
        BindingRefused: it names another; of several faults the first is told.
    """
    entry = "supervised manifest entry"
    if place is None or place.entry_id != claim.entry_id:
        raise _refused(f"Unknown daemon manifest entry: {claim.entry_id}")
    if claim.room_id != place.room_id:
        raise _refused(f"{about} room does not match the {entry}.")
    if claim.work_attempt_id != place.work_attempt_id:
        raise _refused(f"{about} work attempt does not match the {entry}.")
    if place.execution_id is not None and claim.execution_id != place.execution_id:
        raise _refused(f"{about} execution generation does not match the active {entry}.")
    if place.execution_id is None or place.has_ended:
        raise _refused(f"{about} execution generation is absent or terminal.")


def _refused(happened: str) -> BindingRefused:
    return BindingRefused(happened, remedy=_REMEDY)


def bind(
    claim: Claim,
    known: Binding | None,
    *,
    shows_same_secret: bool,
    highest: int,
    now: datetime,
) -> Binding:
    """Return the binding of a claim that passed; `highest` is the epoch of the last there was."""
    if known is not None and shows_same_secret and is_of(known, claim):
        return known
    same = known is not None and known.session_id == claim.session_id
    return Binding(
        entry_id=claim.entry_id,
        room_id=claim.room_id,
        work_attempt_id=claim.work_attempt_id,
        execution_id=claim.execution_id,
        session_id=claim.session_id,
        origin=_origin_of(claim),
        epoch=max(highest, known.epoch if known else 0) + 1,
        updated_at=now,
        cursor=known.cursor if known is not None and same else None,
    )


def _origin_of(claim: Claim) -> str:
    found = origin(claim.api_url)
    if found is None:
        raise _refused("Worker session API URL is not valid.")
    return found


def is_of(binding: Binding, claim: Claim) -> bool:
    """Whether the binding is what the claim says, its address included."""
    return is_of_process(binding, claim) and binding.origin == origin(claim.api_url)


def is_of_process(binding: Binding, claim: Claim) -> bool:
    """Whether the binding is what the claim says of agent, room, attempt, process and session."""
    return (
        binding.entry_id == claim.entry_id
        and binding.room_id == claim.room_id
        and binding.work_attempt_id == claim.work_attempt_id
        and binding.execution_id == claim.execution_id
        and binding.session_id == claim.session_id
    )


class Lent(enum.Enum):
    """Whether a credential is lent."""

    AVAILABLE = "available"
    DEFERRED = "deferred"
    STALE = "stale"


def lending(
    claim: Claim,
    place: Place | None,
    binding: Binding | None,
    *,
    generation: int,
    own: int,
    has_secret: bool,
    is_in_turn: bool = True,
) -> Lent:
    """Decide whether the credential of a binding is lent to who claims to be of it.

    `generation` is that of the supervisor under which it is asked for; this one's is `own`.
    `is_in_turn` is False where who asks has to be in a turn, and is not.
    """
    try:
        check(claim, place)
    except BindingRefused:
        return Lent.STALE
    if not is_in_turn or not generations.is_current(generation, own):
        return Lent.STALE
    if binding is None or not is_of(binding, claim):
        return Lent.STALE
    return Lent.AVAILABLE if has_secret else Lent.DEFERRED


def is_installable(
    claim: Claim, place: Place | None, binding: Binding | None, *, generation: int, own: int
) -> bool:
    """Whether the secret of a claim is that of a binding which this supervisor has."""
    if binding is None or place is None or place.has_ended:
        return False
    return generations.is_current(generation, own) and is_of_process(binding, claim)


def is_for(binding: Binding, execution_id: str, api_url: str) -> bool:
    """Whether a binding is that of a process, at the server where its agent's rooms are."""
    return binding.execution_id == execution_id and binding.origin == origin(api_url)


def cursor(text: str) -> MessageId | None:
    """Return the message that a cursor names, or None if it names none."""
    found = _CURSOR.fullmatch(text)
    number = int(found[1]) if found else 0
    return MessageId(number) if 1 <= number <= MessageId.LARGEST else None


def of_cursor(binding: Binding | None, claim: Claim) -> Binding:
    """Return the binding whose cursor a claim moves on.

    Raises:
        BindingRefused: it is another's, or there is none.
    """
    if binding is None or not is_of_process(binding, claim):
        raise BindingRefused(
            "Worker cursor checkpoint does not match the active supervised binding.",
            remedy="Bind the session of this process to its supervisor again.",
        )
    return binding


def checked_cursor(text: str) -> MessageId:
    """Return the message that a cursor names.

    Raises:
        BindingRefused: it names none.
    """
    to = cursor(text)
    if to is None:
        raise BindingRefused(
            "Compatibility worker cursor must be a numeric room message id.",
            remedy="Pass the id of a message, such as msg_3.",
        )
    return to


def advanced(binding: Binding, to: MessageId, *, now: datetime) -> Binding:
    """Return the binding with its cursor there, unless it is further already."""
    if binding.cursor is not None and binding.cursor >= to:
        return binding
    return attrs.evolve(binding, cursor=to, updated_at=now)
