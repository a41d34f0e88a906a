"""Which session somebody means, for a lease or for the board.

T50  It goes to the one worker's session that fits what is said and has not ended; where none or
     several fit, the refusal names them.
T51  It goes to nobody whose process is known to be gone.
T52  A person means a worker by its display name, written in any way that is the same name, by its
     key or by its session; where none or several fit, the refusal names them.
"""

from collections.abc import Callable, Sequence

from letagents.domain.board import Target
from letagents.domain.errors import LetAgentsError, Retry
from letagents.domain.ids import quoted
from letagents.domain.names import name_key
from letagents.domain.sessions import Session, SessionKind

SHOWN = 5
"""So many sessions that fit are named."""


class UnknownTarget(LetAgentsError):
    """No agent of that key is in the room."""

    code = "unknown_target"


class TargetSessionRequired(LetAgentsError):
    """It cannot be told which session is meant."""

    code = "coordination_target_session_required"


class TargetSessionUnreachable(LetAgentsError):
    """Who is meant is not there."""

    code = "coordination_target_session_unreachable"
    retry = Retry.LATER


def resolved(
    target: Target, live: Sequence[Session], alive: Callable[[Session], bool | None]
) -> Session:
    """Return the session that `target` means; `live` are those that have not ended.

    Raises:
        UnknownTarget, TargetSessionRequired, TargetSessionUnreachable: it means none, not one, or
            one that is not there.
    """
    workers = [one for one in live if one.kind is SessionKind.WORKER]
    of_key = [one for one in workers if one.agent_key == target.agent_key]
    if not of_key:
        raise UnknownTarget(
            f"Unknown target actor_key {quoted(target.agent_key)}: no such agent has a live "
            "session here.",
            remedy=f"Pass target_agent_key as one of: {_named(workers)}.",
        )
    fitting = [one for one in of_key if _fits(target, one)]
    if len(fitting) != 1:
        raise TargetSessionRequired(
            f"{len(fitting)} live sessions of {target.agent_key} fit.",
            remedy="Pass target_agent_session_id as one of: "
            f"{', '.join(str(one.session_id) for one in of_key[:SHOWN])}.",
        )
    check_there(fitting[0], alive(fitting[0]))
    return fitting[0]


def named(said: str, live: Sequence[Session]) -> Session:
    """Return the worker that a person means by what they said (T52).

    Raises:
        UnknownTarget, TargetSessionRequired: they mean none, or several.
    """
    workers = [one for one in live if one.kind is SessionKind.WORKER]
    exact = [one for one in workers if said in (one.agent_key, str(one.session_id))]
    key = name_key(said.strip().removeprefix("@"))
    found = exact or [one for one in workers if name_key(one.display_name) == key]
    if not found:
        names = ", ".join(one.display_name for one in workers[:SHOWN])
        raise UnknownTarget(
            f"{quoted(said)} is no worker that is in this room.",
            remedy=f"Name one of these: {names}." if names else "Let an agent join it first.",
        )
    if len(found) > 1:
        sessions = ", ".join(str(one.session_id) for one in found[:SHOWN])
        raise TargetSessionRequired(
            f"{quoted(said)} can be {len(found)} workers of this room.",
            remedy=f"Name one by its session: {sessions}.",
        )
    return found[0]


def check_there(session: Session, is_there: bool | None) -> None:
    """Let nothing be given to whose process is known to be gone (T51).

    Raises:
        TargetSessionUnreachable: it is.
    """
    if is_there is False:
        raise TargetSessionUnreachable(
            f"{session.actor_label} is not there: its process has ended.",
            remedy="Give it to another, or release it, so that whoever is there can claim it.",
        )


def _fits(target: Target, session: Session) -> bool:
    return target.instance_id in (None, session.instance_id) and target.session_id in (
        None,
        str(session.session_id),
    )


def _named(workers: Sequence[Session]) -> str:
    return ", ".join(one.agent_key for one in workers[:SHOWN]) or "nobody's, since nobody is here"
