"""What may happen to a message on its way to an agent and back. (Source: supervisor 6.10.)"""

import enum
from datetime import datetime

import attrs

REMEMBERED = 64
"""So many events of an item are remembered."""
LONGEST_DETAIL = 200
"""Characters of what is told of one."""


class Phase(enum.Enum):
    """What happened."""

    RECEIVED = "received"
    QUEUED = "queued"
    TURN_STARTED = "turn_started"
    TURN_FINISHED = "turn_finished"
    RESULT_UNREADABLE = "result_unreadable"
    PUBLISH_STARTED = "publish_started"
    PUBLISHED = "published"
    NO_REPLY = "no_reply"
    RETRY_SCHEDULED = "retry_scheduled"
    BLOCKED = "blocked"
    ROOM_MOVE_CANCELLED = "room_move_cancelled"
    USER_CANCELLED = "user_cancelled"


@attrs.frozen
class ItemEvent:
    """That it happened, and when."""

    phase: Phase
    at: datetime
    detail: str | None = None
