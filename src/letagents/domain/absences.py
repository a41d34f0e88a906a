"""When a room tells that somebody who holds work is gone, and that they are back.

D30  A process that is known to be there is a sign of its session's life, whenever somebody looks.
D31  A room tells of a worker with work in hand, once for each absence, that its process is known to
     have ended and no sign of it came for as long as the grace.
D32  It does not tell of one that ended its session, or holds nothing, or of whose process nothing
     is known; nor if nobody was there to be told until an hour later.
D33  It tells that somebody is back if it told that they were gone: who comes anew, and who is seen
     to be there again.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import attrs

from letagents.domain.ticks import Tick, elapsed

if TYPE_CHECKING:  # the settings know a grace, and are read before anything else is loaded
    from letagents.domain.sessions import Session

GRACE = timedelta(minutes=30)
"""(Source: hosted-api 5.9.)"""
SHORTEST_GRACE = timedelta(minutes=2)
LONGEST_GRACE = timedelta(hours=1)
STALE = timedelta(hours=1)
"""What is so much older than the grace is no news."""
LOOK_AGAIN = timedelta(minutes=3)
"""After so long it is looked again whether a process that was there still is."""
LISTED = 3

_MINUTE = timedelta(minutes=1)


@attrs.frozen
class Found:
    """What a look at a worker brought: whether it is there, is told of, and is looked at again."""

    is_there: bool = False
    gone_for: timedelta | None = None
    again_in: timedelta | None = None


def look(session: "Session", *, alive: bool | None, tick: Tick, grace: timedelta) -> Found:
    """Decide about a worker with work in hand; `alive` is of its process."""
    if session.ended_at is not None or session.seen is None:
        return Found()
    if alive is not False:
        return Found(is_there=alive is True, again_in=min(grace, LOOK_AGAIN))
    silent = elapsed(session.seen, tick)
    if silent < grace:
        return Found(again_in=grace - silent)
    return Found() if silent > grace + STALE else Found(gone_for=silent)


def gone(name: str, silent: timedelta, tasks: Sequence[str]) -> str:
    """Return what the room says of a worker that is gone."""
    return (
        f"[status] {name} has been offline for {_span(silent)} while holding {_listed(tasks)}. "
        "The work may still be in progress: claim it only once somebody has confirmed that it is "
        "not."
    )


def back(name: str) -> str:
    """Return what the room says of a worker that was told to be gone, and is back."""
    return f"[status] {name} is connected to the room again."


def _span(silent: timedelta) -> str:
    hours, minutes = divmod(silent // _MINUTE, 60)
    return f"{hours}h{minutes}m" if hours else f"{minutes}m"


def _listed(tasks: Sequence[str]) -> str:
    more = len(tasks) - LISTED
    shown = ", ".join(tasks[:LISTED])
    return f"{shown} and {more} more" if more > 0 else shown
