"""Tasks, leases, locks and events as everybody may see them. (Source: hosted-api 4.8.)"""

from typing import Any

from letagents.domain.board import LeaseView, TaskView
from letagents.domain.events import Event
from letagents.domain.leases import Lease
from letagents.domain.locks import Lock
from letagents.domain.tasks import MOVES, Artifact, Task
from letagents.domain.verdicts import Record
from letagents.wire import bounds, moments

Plain = dict[str, Any]

NEWEST_ARTIFACTS = 4
"""So many of a task's artifacts are shown on the board. (Source: mcp-tools 9.5.)"""
PREVIEW = 120
"""So many characters of a description are shown on the board."""
ROWS_LIMIT = 23_000
"""Bytes of a page of the board."""
TASK_LIMIT = 36_000
"""Bytes of one task, shown whole."""


def task(view: TaskView, room_id: object, *, described_from: int = 0) -> Plain:
    """Return a task as a whole; a description that is too long is cut, and says where it goes on.

    `described_from` is the character at which the description begins.
    """
    one = view.task
    plain = {
        "id": one.task_id,
        "room_id": str(room_id),
        "title": one.title,
        "description": None,
        "status": one.status.value,
        **_assignee(one),
        "created_by": one.created_by,
        "source_message_id": str(one.source_message) if one.source_message else None,
        "pr_url": one.pr_url,
        "workflow_artifacts": [artifact(each) for each in one.artifacts],
        "workflow_refs": [],
        "created_at": moments.to_text(one.created_at),
        "updated_at": moments.to_text(one.updated_at),
        "active_leases": [lease_view(each, room_id) for each in view.leases],
        "active_locks": [lock(each, room_id) for each in view.locks],
    }
    if one.description is None:
        return plain
    return plain | _described(plain, one.description, described_from)


def _described(plain: Plain, description: str, described_from: int) -> Plain:
    rest = description[described_from:]
    marks = {"description_truncated": True, "description_next_offset": len(description)}
    shown: str = ""
    if rest:
        shown = bounds.cut(plain | marks | {"description": rest}, "description", TASK_LIMIT)[
            "description"
        ]
    if len(shown) == len(rest):
        return {"description": rest}
    return marks | {
        "description": shown,
        "description_next_offset": described_from + len(shown),
    }


def _assignee(one: Task) -> Plain:
    who = one.assignee
    return {
        "assignee": who.label if who else None,
        "assignee_agent_key": who.agent_key if who else None,
        "assignee_agent_instance_id": who.instance_id if who else None,
        "assignee_agent_session_id": str(who.session_id) if who and who.session_id else None,
    }


def row(view: TaskView) -> Plain:
    """Return a task as a line of the board: what is not there is left out."""
    one = view.task
    description = one.description or ""
    shown = {
        "id": one.task_id,
        "title": one.title,
        "description": description[:PREVIEW] or None,
        "description_truncated": len(description) > PREVIEW or None,
        "status": one.status.value,
        "assignee": one.assignee.label if one.assignee else None,
        "assignee_agent_key": one.assignee_key,
        "created_by": one.created_by,
        "source_message_id": str(one.source_message) if one.source_message else None,
        "pr_url": one.pr_url,
        **_newest_artifacts(one),
        "updated_at": moments.to_text(one.updated_at),
        "active_leases": [_short_lease(each) for each in view.leases] or None,
        "active_locks": [_short_lock(each) for each in view.locks] or None,
    }
    return {name: value for name, value in shown.items() if value is not None}


def _newest_artifacts(one: Task) -> Plain:
    if not one.artifacts:
        return {}
    return {
        "workflow_artifacts": [artifact(each) for each in one.artifacts[-NEWEST_ARTIFACTS:]],
        "workflow_artifact_count": len(one.artifacts),
        "workflow_artifacts_truncated": len(one.artifacts) > NEWEST_ARTIFACTS,
    }


def artifact(one: Artifact) -> Plain:
    """Return an artifact; what is not known of it is left out."""
    facts = ("id", "number", "title", "url", "ref", "state")
    known = {name: getattr(one, name) for name in facts}
    shown = {name: value for name, value in known.items() if value is not None}
    return {"provider": one.provider.value, "kind": one.kind.value, **shown}


def _short_lease(view: LeaseView) -> Plain:
    one = view.lease
    return {
        "id": one.lease_id,
        "kind": one.kind.value,
        "epoch": one.epoch,
        "actor_label": one.actor_label,
        "is_held": view.is_held,
    }


def _short_lock(one: Lock) -> Plain:
    return {"id": one.lock_id, "scope": one.scope, "reason": one.reason.value}


def lease(one: Lease, room_id: object) -> Plain:
    """Return a lease."""
    return {
        "id": one.lease_id,
        "room_id": str(room_id),
        "task_id": one.about,
        "kind": one.kind.value,
        "status": one.status.value,
        "agent_key": one.agent_key,
        "agent_instance_id": one.instance_id,
        "agent_session_id": str(one.session_id),
        "actor_label": one.actor_label,
        "epoch": one.epoch,
        "branch_ref": one.branch_ref,
        "pr_url": one.pr_url,
        "output_intent": one.output_intent,
        "expires_at": None,
        "last_heartbeat_at": moments.to_text(one.last_heartbeat_at),
        "revoked_reason": one.revoked_reason,
        "created_at": moments.to_text(one.created_at),
        "updated_at": moments.to_text(one.updated_at),
    }


def lease_view(view: LeaseView, room_id: object) -> Plain:
    """Return a lease as it stands: until when it is held without a sign of its holder."""
    return lease(view.lease, room_id) | {
        "expires_at": moments.to_text(view.free_at) if view.free_at else None,
        "is_held": view.is_held,
    }


def lock(one: Lock, room_id: object) -> Plain:
    """Return a lock."""
    return {
        "id": one.lock_id,
        "room_id": str(room_id),
        "task_id": one.task_id,
        "scope": one.scope,
        "reason": one.reason.value,
        "message": one.message,
        "created_by": one.created_by,
        "created_at": moments.to_text(one.created_at),
        "cleared_by": one.cleared_by,
        "cleared_at": one.cleared_at and moments.to_text(one.cleared_at),
    }


def event(one: Event) -> Plain:
    """Return what happened to a task."""
    return {
        "number": one.number,
        "task_id": one.task_id,
        "type": one.type.value,
        "at": moments.to_text(one.at),
        "actor": one.actor,
        "actor_key": one.actor_key,
        "decision": one.decision.value,
        "from": one.before,
        "to": one.after,
        "reason": one.reason,
        "lease_id": one.lease_id,
        "epoch": one.epoch,
        "detail": one.detail,
    }


def moves(one: Task) -> list[str]:
    """Return what may follow, by the table."""
    return [status.value for status in MOVES[one.status]]


def effect(record: Record) -> Plain:
    """Return what became of a verdict: it was recorded, and published nowhere."""
    return {
        "id": record.record_id,
        "state": "succeeded",
        "correlation_key": record.verdict.key,
        "attempt_count": 1,
        "external_id": None,
        "external_url": None,
        "last_error": None,
        "quarantined_at": None,
        "quarantine_reason": None,
        "published": False,
    }
