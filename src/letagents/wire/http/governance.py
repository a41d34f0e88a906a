"""Approvals, and who decides them, as a hosted board has them, and back.

Beside the fields of hosted-api 3.9 and 4.10, what only the server itself can reckon with goes
along: readings of its clock, how a task stood, what made an intent void. Of the token of an
approval nothing does, not even its digest.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from letagents.domain.approvals import Intent, IntentStatus, Proposer, Standing, Voided
from letagents.domain.errors import Malformed
from letagents.domain.events import Decision
from letagents.domain.governance import (
    BoardSettings,
    Candidate,
    Failover,
    Manager,
    ManagerMode,
    ManagerStatus,
    RuntimeSource,
)
from letagents.domain.governance_acts import Act, ActType
from letagents.domain.ids import MessageId, RoomId, SessionId
from letagents.domain.intents import Action, Payload, payload_hash
from letagents.domain.tasks import Task
from letagents.wire import moments
from letagents.wire.http import board, sessions, ticks
from letagents.wire.http.leases import UNBOUND
from letagents.wire.http.named import NamedIntent, NamedManager, number_in
from letagents.wire.http.reading import Fields, Unreadable

Plain = dict[str, Any]

_ACT = re.compile(r"act_([0-9]{1,10})")


# --- who governs ----------------------------------------


def plain_settings(governed: BoardSettings, room_id: RoomId) -> Plain:
    """Return the form of how a board is governed."""
    return {
        "room_id": str(room_id),
        "manager_mode": governed.manager_mode.value,
        "manager_failover": governed.manager_failover.value,
        "stall_nudged_at": _plain_moment(governed.stall_nudged_at),
        "updated_by": governed.updated_by,
        "created_at": _plain_moment(governed.created_at),
        "updated_at": _plain_moment(governed.updated_at),
        "revision": governed.revision,
    }


def settings(document: object) -> BoardSettings:
    """Return how a board is governed, as `document` spells it.

    Raises:
        Unreadable: it spells nothing of the kind.
    """
    fields = Fields(document)
    return BoardSettings(
        manager_mode=fields.parsed("manager_mode", ManagerMode),
        manager_failover=fields.parsed_or_none("manager_failover", Failover) or Failover.AUTO,
        revision=fields.integer_or_none("revision") or 0,
        updated_by=fields.text_or_none("updated_by"),
        created_at=fields.moment_or_none("created_at"),
        updated_at=fields.moment_or_none("updated_at"),
        stall_nudged_at=fields.moment_or_none("stall_nudged_at"),
    )


def plain_manager(one: Manager, room_id: RoomId, seen_at: datetime | None = None) -> Plain:
    """Return the form of an assignment; `seen_at` is when its session was there last."""
    return {
        "id": one.manager_id,
        "room_id": str(room_id),
        "agent_session_id": str(one.session_id),
        "agent_key": one.agent_key,
        "actor_label": one.actor_label,
        "runtime_source": one.runtime_source.value,
        "assigned_by": one.assigned_by,
        "status": one.status.value,
        "last_heartbeat_at": _plain_moment(seen_at),
        "released_by": one.released_by,
        "release_reason": one.release_reason,
        "released_at": _plain_moment(one.released_at),
        "created_at": moments.to_text(one.created_at),
        "updated_at": moments.to_text(one.updated_at),
        "assigned": ticks.plain(one.assigned),
        "outages": one.outages,
        "is_away": one.is_away,
    }


def manager(document: object) -> Manager:
    """Return the assignment that `document` spells.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    name = fields.text("id")
    number = number_in(name, "manager")
    facts: Plain = {
        "number": number or 0,
        "session_id": fields.parsed_or_none("agent_session_id", SessionId) or UNBOUND,
        "agent_key": fields.text("agent_key"),
        "actor_label": fields.text_or_none("actor_label") or fields.text("agent_key"),
        "runtime_source": _source(fields.document.get("runtime_source")),
        "assigned_by": fields.text_or_none("assigned_by") or "",
        "status": fields.parsed("status", ManagerStatus),
        "released_by": fields.text_or_none("released_by"),
        "release_reason": fields.text_or_none("release_reason"),
        "released_at": fields.moment_or_none("released_at"),
        "created_at": fields.moment("created_at"),
        "updated_at": fields.moment("updated_at"),
        "assigned": ticks.tick(fields, "assigned") or ticks.UNTOLD,
        "outages": fields.integer_or_none("outages") or 0,
        "is_away": fields.flag("is_away"),
    }
    return Manager(**facts) if number else NamedManager(name=name, **facts)


def _source(told: object) -> RuntimeSource:
    """Return who runs a manager; words that a server may have added since say nothing."""
    try:
        return RuntimeSource(told)
    except ValueError:
        return RuntimeSource.UNKNOWN


def plain_candidate(one: Candidate) -> Plain:
    """Return the form of a worker that could manage a board."""
    return sessions.plain(one.session) | {"is_there": one.is_there}


def candidate(document: object) -> Candidate:
    """Return the worker that `document` spells.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    is_told = fields.document.get("is_there") is not None
    return Candidate(sessions.session(document), fields.flag("is_there") if is_told else None)


def plain_act(one: Act, room_id: RoomId) -> Plain:
    """Return the form of what was done to how a board is governed."""
    return {
        "id": f"act_{one.number}",
        "room_id": str(room_id),
        "event_type": one.type.value,
        "decision": one.decision,
        "actor_label": one.actor,
        "actor_key": one.actor_key,
        "reason": one.reason,
        "task_id": one.task_id,
        "metadata": {
            "intent_id": one.intent_id,
            "manager_id": one.manager_id,
            "detail": one.detail,
        },
        "created_at": moments.to_text(one.at),
    }


def act(document: object, number: int) -> Act | None:
    """Return the act that `document` spells; None for one of a kind that is not known here.

    `number` is its place, where a server calls it by no number of ours.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    try:
        what = ActType(fields.text("event_type"))
    except ValueError:
        return None
    found = _ACT.fullmatch(fields.text_or_none("id") or "")
    more = fields.part("metadata") or Fields({})
    return Act(
        number=int(found[1]) if found else number,
        type=what,
        at=fields.moment("created_at"),
        actor=fields.text_or_none("actor_label") or "",
        actor_key=fields.text_or_none("actor_key"),
        decision=fields.text_or_none("decision") or Decision.RECORD.value,
        reason=fields.text_or_none("reason"),
        task_id=fields.text_or_none("task_id"),
        detail=more.text_or_none("detail"),
        intent_id=more.text_or_none("intent_id"),
        manager_id=more.text_or_none("manager_id"),
    )


def acts(document: object) -> tuple[Act, ...]:
    """Return what an answer tells of how a board was governed. Raises Unreadable."""
    told = Fields(document).list("audit")
    found = (act(one, len(told) - place) for place, one in enumerate(told))
    return tuple(one for one in found if one is not None)


# --- intents ----------------------------------------


def plain_intent(one: Intent, room_id: RoomId) -> Plain:
    """Return the form of an intent."""
    return {
        "id": one.intent_id,
        "room_id": str(room_id),
        "task_id": one.task_id,
        "action_type": one.action.value,
        "payload": dict(one.payload),
        "payload_hash": payload_hash(one.payload),
        "status": one.status.value,
        **_plain_proposer(one.proposer),
        "decision_by": one.decision_by,
        "decision_reason": one.decision_reason,
        "decided_at": _plain_moment(one.decided_at),
        "expires_at": moments.to_text(one.expires_at),
        "escalated_at": _plain_moment(one.escalated_at),
        "auto_approved": one.auto_approved,
        "created_at": moments.to_text(one.created_at),
        "updated_at": moments.to_text(one.updated_at),
        "voided": one.voided and one.voided.value,
        "standing": one.standing and {"status": one.standing.status, "mark": one.standing.mark},
        "counted_from": ticks.plain(one.counted_from),
    }


def _plain_proposer(who: Proposer | None) -> Plain:
    return {
        "proposer_actor_label": who.actor_label if who else None,
        "proposer_actor_key": who.agent_key if who else None,
        "proposer_actor_instance_id": who.instance_id if who else None,
        "proposer_agent_session_id": str(who.session_id) if who else None,
    }


def intent(document: object) -> Intent:
    """Return the intent that `document` spells.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    name = fields.text("id")
    number = number_in(name, "intent")
    standing = fields.part("standing")
    facts: Plain = {
        "number": number or 0,
        "action": fields.parsed("action_type", Action),
        "payload": _payload(fields),
        "task_id": fields.text_or_none("task_id"),
        "status": fields.parsed("status", IntentStatus),
        "proposer": _proposer(fields),
        "decision_by": fields.text_or_none("decision_by"),
        "decision_reason": fields.text_or_none("decision_reason"),
        "decided_at": fields.moment_or_none("decided_at"),
        "expires_at": fields.moment("expires_at"),
        "escalated_at": fields.moment_or_none("escalated_at"),
        "auto_approved": fields.flag("auto_approved"),
        "created_at": fields.moment("created_at"),
        "updated_at": fields.moment("updated_at"),
        "voided": fields.parsed_or_none("voided", Voided),
        "standing": Standing(standing.text("status"), standing.text("mark")) if standing else None,
        "counted_from": ticks.tick(fields, "counted_from"),
    }
    return Intent(**facts) if number else NamedIntent(name=name, **facts)


def _payload(fields: Fields) -> dict[str, str | None]:
    told = fields.part("payload")
    if told is None:
        raise Unreadable("payload is left out")
    return {str(name): told.text_or_none(name) for name in told.document}


def _proposer(fields: Fields) -> Proposer | None:
    label, key = (fields.text_or_none(f"proposer_actor_{name}") for name in ("label", "key"))
    if label is None and key is None:
        return None
    return Proposer(
        label or key or "",
        key or "",
        fields.text_or_none("proposer_actor_instance_id") or "",
        fields.parsed_or_none("proposer_agent_session_id", SessionId) or UNBOUND,
    )


def asked_payload(fields: Fields) -> Mapping[str, object]:
    """Return the payload that a request carries. Raises Malformed."""
    told = fields.document.get("payload")
    if not isinstance(told, Mapping):
        raise Malformed("payload must be an object.", remedy="Pass payload as an object.")
    return told


def plain_asked(action: Action, payload: Payload) -> Plain:
    """Return the form of what somebody asks to be allowed."""
    asked = {"action_type": action.value, "payload": dict(payload)}
    return asked | {"task_id": payload.get("task_id")}


# --- what was told of them ----------------------------------------


def plain_told(to: SessionId | None, message_id: MessageId | None, *, reaches: str) -> Plain:
    """Return the form of what was told of an intent; `reaches` is the field for to whom."""
    return {
        "delivered": to is not None,
        reaches: to and str(to),
        "message_id": message_id and str(message_id),
    }


def told(fields: Fields | None, *, reaches: str) -> tuple[SessionId | None, MessageId | None]:
    """Return whom it reached, if anybody, and in which message.

    Raises:
        Unreadable: that is not told in this form.
    """
    if fields is None:
        return None, None
    return (
        fields.parsed_or_none(reaches, SessionId),
        fields.parsed_or_none("message_id", MessageId.parse),
    )


def plain_result(one: Intent, room_id: RoomId, task: Task | None, *, has_token: bool) -> Plain:
    """Return the form of what came of an approval."""
    if task is not None:
        return {"kind": "task_created", "task": board.plain_task(task, room_id)}
    if has_token:
        return {"kind": "approval_token", "requires_follow_up": True}
    is_open = one.status is IntentStatus.APPROVED
    return {"kind": "approval_recorded", "requires_follow_up": is_open}


def created(fields: Fields) -> Task | None:
    """Return the task that was created, or None where none was.

    Raises:
        Unreadable: that is not told in this form.
    """
    result = fields.part("result")
    task = result.part("task") if result else None
    return board.task(task.document) if task else None


def _plain_moment(moment: datetime | None) -> str | None:
    return None if moment is None else moments.to_text(moment)
