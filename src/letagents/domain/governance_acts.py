"""What was done to how a board is governed: one act for each change and each decision."""

import enum
from datetime import datetime

import attrs

from letagents.domain.approvals import Intent, IntentStatus
from letagents.domain.events import Decision
from letagents.domain.governance import BoardSettings, Manager

MOST = 50
"""So many are shown. (Source: hosted-api 3.9.)"""


class ActType(enum.Enum):
    """What was done."""

    SET = "board_settings_changed"
    ASSIGNED = "board_manager_assigned"
    RELEASED = "board_manager_released"
    APPROVED = "board_intent_approved"
    DENIED = "board_intent_denied"


@attrs.frozen(kw_only=True)
class Act:
    """One thing that was done, by whom, and about what.

    `decision` says whether somebody let something through, refused it, or the room notes what was
    done; `actor` is a name, `actor_key` an agent's key where an agent acted.
    """

    number: int
    type: ActType
    at: datetime
    actor: str
    actor_key: str | None = None
    decision: str = Decision.RECORD.value
    reason: str | None = None
    detail: str | None = None
    task_id: str | None = None
    intent_id: str | None = None
    manager_id: str | None = None


DENY = "deny"


def changed(before: BoardSettings, after: BoardSettings) -> dict[str, str]:
    """Return what to tell of a change of the settings."""
    moves = (
        (name, getattr(before, name).value, getattr(after, name).value)
        for name in ("manager_mode", "manager_failover")
    )
    told = [f"{name}: {was} → {now_is}" for name, was, now_is in moves if was != now_is]
    return {"detail": ", ".join(told)}


def of_manager(one: Manager) -> dict[str, str | None]:
    """Return what to tell of an assignment, or of its end."""
    return {
        "manager_id": one.manager_id,
        "detail": one.actor_label,
        "reason": one.release_reason,
    }


def of_intent(one: Intent) -> dict[str, str | None]:
    """Return what to tell of a decision about an intent."""
    is_denied = one.status is IntentStatus.DENIED
    return {
        "intent_id": one.intent_id,
        "task_id": one.task_id,
        "decision": DENY if is_denied else Decision.ALLOW.value,
        "detail": one.action.value,
        "reason": one.decision_reason,
    }
