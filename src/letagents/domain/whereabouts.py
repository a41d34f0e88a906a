"""What agents of a room say they do, and whether that can still be so.

X20  A worker says what it does in one of four words, and perhaps a line; that counts until it says
     another, or its session ends.
X21  What it said is fresh while its process is known to be there, and for 90 seconds after its last
     sign; after that, or once its process is known to be gone, it is stale.
"""

from datetime import datetime, timedelta

import attrs

from letagents.domain.errors import Malformed
from letagents.domain.names import collapse
from letagents.domain.reasoning import STATUSES
from letagents.domain.sessions import Session
from letagents.domain.texts import optional

FRESH = timedelta(seconds=90)
"""(Source: hosted-api 6.)"""
IDLE = "idle"
LINE = 500
LIMIT, MOST = 50, 500


@attrs.frozen(kw_only=True)
class Said:
    """What a worker said it does."""

    status: str = IDLE
    text: str | None = None


@attrs.frozen(kw_only=True)
class Whereabouts:
    """One session of a room: what it said it does, and since when that is so."""

    session: Session
    said: Said
    is_fresh: bool
    since: datetime
    updated_at: datetime
    has_delivery: bool = False
    """Whether it waits to be told of messages."""


def said(status: object, text: object) -> Said:
    """Return what a worker says it does.

    Raises:
        Malformed: it is none of the four words, or the line is no text (X20).
    """
    word = collapse(status).lower() if isinstance(status, str) else None
    if word not in STATUSES:
        raise Malformed(
            "actor_label, display_name, and a valid status are required",
            remedy=f"Pass one of these as status: {', '.join(STATUSES)}.",
        )
    line = optional(text, "status_text", LINE)
    return Said(status=word, text=line and collapse(line))


def is_fresh(*, alive: bool | None, silent: timedelta) -> bool:
    """Whether what a worker said can still be so (X21); `silent` is since its last sign."""
    return alive is True or (alive is None and silent < FRESH)
