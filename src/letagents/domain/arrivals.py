"""Who comes into a room through a server: which session it gets, and under which name.

On one machine every process is its owner's, and the kernel tells which are there (E1 to E8). Many
owners' processes come through a server, from many machines: so who is away keeps its name longer.

E30  A worker with a lasting handle gets its own session, and no other account ever does.
E31  A process without such a handle gets its session again if it shows the secret of it, or if that
     was silent for 100 seconds, or if it insists, as the successor of a killed supervisor does. If
     it makes its own secrets it gets a new one instead, and the one before it ends; else it is
     refused.
E32  A name of digits after the name that a client stands for is that name; any other is kept as it
     is. Who asks for a name of programs, such as `codex agent`, gets the codename of its key.
E33  Who comes anew gets the name that it asks for if nobody else bears it, be they there or away,
     or if all who do are gone and of the same account: those of them who are live are ended.
E34  Who comes back keeps its name. It reaches for the one that it asked for at first, and ends a
     live bearer of no other.
E35  Who cannot have its name gets a codename, never a number after the name.
E36  The end of an agent's key is a name that nobody else ever has.
"""

import re
from collections.abc import Sequence
from datetime import timedelta

import attrs

from letagents.domain import fencing, names
from letagents.domain.errors import RegistrationConflict
from letagents.domain.sessions import Arrival, Seat, Session

STALE = timedelta(seconds=100)
"""(Source: hosted-api 6, same-instance reclaim.)"""

_PROGRAMS = frozenset({
    "antigravity", "codex", "agent", "worker", "local", "claude", "cursor", "cline", "roo",
})  # fmt: skip
_BETWEEN_WORDS = re.compile(rf"[{names.WHITESPACE}_-]+")
_NUMBERED = re.compile(r"(?: +[0-9]+)+")
_SUPERVISED = "daemon:"


# --- which session ------------------------------------------------------------------------------


@attrs.frozen
class Place:
    """The session that an arrival takes over, and those that end by it.

    One that is `confirmed` was given to the same arrival before, and stays as it is.
    """

    seat: Seat | None = None
    ended: tuple[Seat, ...] = ()
    is_confirmed: bool = False


def place_of_worker(arrival: Arrival, seat: Seat | None, account: str | None) -> Place:
    """Return where a worker with a lasting handle belongs; `account` is that of its `seat`.

    Raises:
        RegistrationConflict: it does not show that it is the one that was there (E30).
    """
    if seat is None:
        if arrival.predecessor is not None and not arrival.insists:
            raise conflict(arrival, "is not known under the session that it shows")
        return Place()
    if account != arrival.account:
        raise conflict(arrival, "is active for another account")
    if fencing.proves(arrival.token, seat.standing) and seat.is_live:
        return Place(seat, is_confirmed=True)
    if not (_proves(arrival, seat) or arrival.insists):
        raise conflict(arrival, "went first")
    return Place(seat)


def place_of_process(
    arrival: Arrival,
    own: Sequence[Seat],
    confirmed: Seat | None,
    silent: Sequence[timedelta],
) -> Place:
    """Return where a process without a lasting handle belongs (E31).

    `own` are its live sessions, which were silent for so long, and `confirmed` is the one that was
    opened under the same secret.

    Raises:
        RegistrationConflict: one of them may be another's that is there.
    """
    if confirmed is not None:
        return Place(confirmed, is_confirmed=True)
    proven = next((seat for seat in own if _proves(arrival, seat)), None)
    unproven = [(seat, span) for seat, span in zip(own, silent, strict=True) if seat is not proven]
    if arrival.insists or all(span >= STALE for _, span in unproven):
        latest = min(unproven, key=lambda one: one[1], default=(None, None))[0]
        target = proven or latest
        return Place(target, tuple(seat for seat in own if seat is not target))
    if arrival.makes_its_secret:
        return Place(ended=tuple(own))
    raise conflict(arrival, "is active on another live transport")


def conflict(arrival: Arrival, why: str) -> RegistrationConflict:
    """Return the refusal of an arrival."""
    return RegistrationConflict(
        f"Another registration of {arrival.instance_id} {why}.",
        remedy="Call register_agent_session again with the same worker_id and room_id if this "
        "chat is still the one that works.",
    )


def _proves(arrival: Arrival, seat: Seat) -> bool:
    before = arrival.predecessor
    is_shown = before is not None and before.session_id == seat.session.session_id
    return fencing.proves(arrival.token, seat.standing) or (
        before is not None and is_shown and fencing.proves(before.token, seat.standing)
    )


def is_supervised(session: Session) -> bool:
    """Whether a supervisor keeps the session: it is told of by its instance."""
    return session.instance_id.startswith(_SUPERVISED)


# --- which name -----------------------------------------------------------------------------------


def base_of(requested: str, base: str | None) -> str:
    """Return the name that is asked for; `base` is the one that the client stands for (E32)."""
    if base and requested.startswith(base) and _NUMBERED.fullmatch(requested[len(base) :]):
        return base
    return requested or base or ""


def is_generic(name: str, ide_label: str) -> bool:
    """Whether a name says only which program bears it (E32)."""
    programs = _PROGRAMS | set(_words(ide_label))
    return all(word in programs for word in _words(name))


def key_name(agent_key: str) -> str:
    """Return the key of the name that the end of an agent's key is (E36)."""
    return names.name_key(agent_key.rpartition("/")[2])


def outranks(one: Session, other: Session) -> bool:
    """Whether of two live namesakes the first keeps the name: the older does."""
    born = (one.created_at, str(one.session_id)), (other.created_at, str(other.session_id))
    return born[0] < born[1]


def _words(text: str) -> list[str]:
    return [word for word in _BETWEEN_WORDS.split(text.lower()) if word]
