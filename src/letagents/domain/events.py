"""What happened on the board: one event for each change, from which its standing can be explained.

T30  Every change of a task or of who holds it is an event of that task, in the order of numbers.
T31  An event says who acted, what moved, and under which lease and epoch.
T32  Events are kept for what was done; what was refused changed nothing and leaves none.
"""

import enum
from datetime import datetime

import attrs


class EventType(enum.Enum):
    """What happened."""

    ADMITTED = "task_admit"
    CLAIMED = "task_claim"
    UPDATED = "task_update"
    COMPLETED = "task_complete"
    CLOSED = "task_close"
    OVERRIDDEN = "task_override"
    ATTACHED = "workflow_artifact_attach"
    RELEASED = "lease_release"
    HANDED_OVER = "lease_handoff"
    EXPIRED = "lease_expire"
    ADOPTED = "lease_adopt"
    REVIEW_CLAIMED = "review_claim"
    REVIEW_RELEASED = "review_release"
    REVIEW_DECIDED = "review_verdict"
    LOCKED = "lock"
    UNLOCKED = "unlock"


class Decision(enum.Enum):
    """Whether somebody's call was let through, or the room notes what came of itself."""

    ALLOW = "allow"
    RECORD = "record"


@attrs.frozen(kw_only=True)
class Event:
    """One thing that happened to a task."""

    number: int
    task_id: str
    type: EventType
    at: datetime
    actor: str
    actor_key: str | None = None
    decision: Decision = Decision.ALLOW
    before: str | None = None
    after: str | None = None
    reason: str | None = None
    lease_id: str | None = None
    epoch: int | None = None
    detail: str | None = None
