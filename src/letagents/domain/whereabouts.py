"""What agents of a room say they do, and whether that can still be so.

X20  A worker says what it does in one of four words, and perhaps a line; that counts until it says
     another, or its session ends.
X21  What it said is fresh while its process is known to be there, and for 90 seconds after its last
     sign; after that, or once its process is known to be gone, it is stale.
X24  Who posts a status says by its words what they do: that they wait for work, else that they are
     blocked, else that they are idle, else that they review; whoever says nothing of that works.
X25  Who moves a task says by where it stands what they do.
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta

import attrs

from letagents.domain.errors import Malformed
from letagents.domain.ids import MessageId
from letagents.domain.names import collapse
from letagents.domain.reasoning import STATUSES
from letagents.domain.sessions import Host, Session
from letagents.domain.tasks import Status, Task
from letagents.domain.texts import optional

FRESH = timedelta(seconds=90)
"""(Source: hosted-api 6.)"""
IDLE, BLOCKED = "idle", "blocked"
LINE = 500
LIMIT, MOST = 50, 500
SEEN_AT_ONCE = 500
"""So many messages are shown at once."""


@attrs.frozen(kw_only=True)
class Said:
    """What a worker said it does."""

    status: str = IDLE
    text: str | None = None
    host: Host | None = None
    """What its program says of the machine that it runs on, where it says that here."""


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


def said(status: object, text: object, host: Host | None = None) -> Said:
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
    return Said(status=word, text=line and collapse(line), host=host)


def check_span(first: MessageId, last: MessageId) -> None:
    """See that those messages can have been shown at once.

    Raises:
        Malformed: they are not in order, or too many.
    """
    if not 0 <= last.number - first.number < SEEN_AT_ONCE:
        raise Malformed(
            "first_message_id: it is not shortly before last_message_id.",
            remedy=f"Pass the first and the last of at most {SEEN_AT_ONCE} messages.",
        )


_SAYS = (
    (
        "idle",
        r"\b(?:a?waiting)\b.*\b(?:tasks?|work|instructions?|direction|assignments?|next|queue)\b",
    ),
    ("blocked", r"\b(?:blocked|waiting|stuck)\b"),
    ("idle", r"\b(?:idle|available|online|polling|monitoring|watch(?:ing)?|ready|standby)\b"),
    ("reviewing", r"\b(?:review|reviewing|approve|approval|approving)\b"),
)
"""(Source: mcp-tools 7.5.)"""
_LINES = tuple((status, re.compile(words, re.ASCII | re.DOTALL)) for status, words in _SAYS)

_STANDS: Mapping[Status, str] = {
    Status.BLOCKED: "blocked",
    Status.IN_REVIEW: "reviewing",
    Status.MERGED: IDLE,
    Status.DONE: IDLE,
    Status.ACCEPTED: IDLE,
    Status.ASSIGNED: "working",
    Status.IN_PROGRESS: "working",
}


def of_line(line: str) -> Said:
    """Return what who posts `line` as their status says they do (X24)."""
    text = collapse(line)[:LINE]
    words = text.lower()
    status = next((status for status, found in _LINES if found.search(words)), "working")
    return Said(status=status, text=text) if text else Said()


def of_task(task: Task) -> Said | None:
    """Return what who has moved `task` does by that; None where that tells nothing (X25)."""
    status = _STANDS.get(task.status)
    if status is None:
        return None
    text = None if status == IDLE else collapse(f"{task.task_id}: {task.title}")[:LINE]
    return Said(status=status, text=text)


def is_fresh(*, alive: bool | None, silent: timedelta) -> bool:
    """Whether what a worker said can still be so (X21); `silent` is since its last sign."""
    return alive is True or (alive is None and silent < FRESH)
