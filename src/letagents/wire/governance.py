"""Approvals and who decides them, as everybody may see them. (Source: hosted-api 4.10.)"""

from datetime import datetime
from typing import Any

from letagents.domain.approvals import Intent, IntentStatus
from letagents.domain.governance import BoardSettings, Manager
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.intents import Action, payload_hash
from letagents.wire import bounds, moments

Plain = dict[str, Any]

PREVIEW = 300
"""So many characters of a task's description are shown in a list."""
INTENT_LIMIT = 34_000
"""Bytes of one intent, shown whole."""


def settings(governed: BoardSettings, room_id: RoomId) -> Plain:
    """Return how a board is governed."""
    return {
        "room_id": str(room_id),
        "manager_mode": governed.manager_mode.value,
        "manager_failover": governed.manager_failover.value,
        "stall_nudged_at": _moment(governed.stall_nudged_at),
        "updated_by": governed.updated_by,
        "created_at": _moment(governed.created_at),
        "updated_at": _moment(governed.updated_at),
    }


def manager(one: Manager, room_id: RoomId) -> Plain:
    """Return an assignment. When the manager was last heard is in the room's roster."""
    return {
        "id": one.manager_id,
        "room_id": str(room_id),
        "agent_session_id": str(one.session_id),
        "agent_key": one.agent_key,
        "actor_label": one.actor_label,
        "runtime_source": one.runtime_source.value,
        "assigned_by": one.assigned_by,
        "status": one.status.value,
        "last_heartbeat_at": None,
        "released_by": one.released_by,
        "release_reason": one.release_reason,
        "released_at": _moment(one.released_at),
        "created_at": moments.to_text(one.created_at),
        "updated_at": moments.to_text(one.updated_at),
    }


def intent(one: Intent, room_id: RoomId) -> Plain:
    """Return an intent; of a long description only the beginning, which it says."""
    proposer = one.proposer
    shown: Plain = {
        "id": one.intent_id,
        "room_id": str(room_id),
        "task_id": one.task_id,
        "action_type": one.action.value,
        "payload": dict(one.payload),
        "payload_hash": payload_hash(one.payload),
        "status": one.status.value,
        "proposer_actor_label": proposer.actor_label if proposer else None,
        "proposer_actor_key": proposer.agent_key if proposer else None,
        "proposer_actor_instance_id": proposer.instance_id if proposer else None,
        "proposer_agent_session_id": str(proposer.session_id) if proposer else None,
        "decision_by": one.decision_by,
        "decision_reason": one.decision_reason,
        "decided_at": _moment(one.decided_at),
        "expires_at": moments.to_text(one.expires_at),
        "escalated_at": _moment(one.escalated_at),
        "auto_approved": one.auto_approved,
        "created_at": moments.to_text(one.created_at),
        "updated_at": moments.to_text(one.updated_at),
    }
    description = one.payload.get("description")
    if description is None or len(description) <= PREVIEW:
        return shown
    payload = {**one.payload, "description": description[:PREVIEW]}
    return shown | {"payload": payload, "description_truncated": True}


def whole_intent(one: Intent, room_id: RoomId, described_from: int = 0) -> Plain:
    """Return an intent with its description from a character on, as far as it fits."""
    shown = intent(one, room_id)
    description = (one.payload.get("description") or "")[described_from:]
    if not description:
        return shown
    marks = {"description_truncated": True, "description_next_offset": 0}
    spent = bounds.size(shown | marks)
    fitting = bounds.cut({"text": description}, "text", INTENT_LIMIT - spent)["text"]
    shown = shown | {"payload": {**one.payload, "description": fitting}}
    shown.pop("description_truncated", None)
    if len(fitting) == len(description):
        return shown
    return shown | marks | {"description_next_offset": described_from + len(fitting)}


def manager_notification(to: object, message_id: MessageId | None) -> Plain:
    """Return what a manager was told of an intent."""
    return {
        "delivered": to is not None,
        "target_manager_agent_session_id": str(to) if to else None,
        "message_id": str(message_id) if message_id else None,
    }


def proposer_notification(to: object, message_id: MessageId | None) -> Plain:
    """Return what a proposer was told of a decision."""
    return {
        "delivered": to is not None,
        "message_id": str(message_id) if message_id else None,
    }


def came_of(one: Intent, task: Plain | None, *, has_token: bool) -> Plain:
    """Return what came of an approval."""
    if task is not None:
        return {"kind": "task_created", "task": task}
    if has_token:
        return {"kind": "approval_token", "requires_follow_up": True}
    is_open = one.status is IntentStatus.APPROVED and one.action is not Action.TASK_CREATE
    return {"kind": "approval_recorded", "requires_follow_up": is_open}


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moments.to_text(moment)
