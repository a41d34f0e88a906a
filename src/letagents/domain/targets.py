"""To which session a lease goes that somebody gives to another.

T50  It goes to the one worker's session that fits what is said and has not ended; where none or
     several fit, the refusal names them.
T51  It goes to nobody whose process is known to be gone.
"""

from collections.abc import Callable, Sequence

from letagents.domain.board import Target
from letagents.domain.errors import LetAgentsError, Retry
from letagents.domain.ids import quoted
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
    if alive(fitting[0]) is False:
        raise TargetSessionUnreachable(
            f"{fitting[0].actor_label} is not there: its process has ended.",
            remedy="Give it to another, or release it, so that whoever is there can claim it.",
        )
    return fitting[0]


def _fits(target: Target, session: Session) -> bool:
    return target.instance_id in (None, session.instance_id) and target.session_id in (
        None,
        str(session.session_id),
    )


def _named(workers: Sequence[Session]) -> str:
    return ", ".join(one.agent_key for one in workers[:SHOWN]) or "nobody's, since nobody is here"
