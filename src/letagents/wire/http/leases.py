"""Leases, locks and events as a hosted board has them, and back. (Source: hosted-api 4.8.)

Beside the fields of that page, a lease says on which reading of the server's clock it was renewed
and for how long it was given, and a lease of a task, how it stands. Where another server says
nothing of that, an active lease is taken to be held.
"""

from datetime import datetime, timedelta
from typing import Any

from letagents.domain.board import LeaseView
from letagents.domain.events import Decision, Event, EventType
from letagents.domain.ids import SessionId
from letagents.domain.leases import Lease, LeaseKind, LeaseStatus
from letagents.domain.locks import Lock, LockReason
from letagents.wire import board, moments
from letagents.wire.http import ticks
from letagents.wire.http.named import NamedLease, NamedLock, number_in
from letagents.wire.http.reading import Fields

Plain = dict[str, Any]

UNBOUND = SessionId("unbound")
"""Of whom a lease is that another server has bound to no session."""


def plain(one: Lease, room_id: object) -> Plain:
    """Return the form of a lease."""
    return board.lease(one, room_id) | {
        "created_by": one.actor_label,
        "renewed": ticks.plain(one.renewed),
        "term_seconds": one.term_seconds,
    }


def lease(document: object) -> Lease:
    """Return the lease that `document` spells.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    name, kind = fields.text("id"), fields.parsed("kind", LeaseKind)
    number = number_in(name, f"{kind.value}_lease")
    updated_at = fields.moment("updated_at")
    facts: dict[str, Any] = {
        "number": number or 0,
        "kind": kind,
        "about": fields.text("task_id"),
        "agent_key": fields.text("agent_key"),
        "session_id": fields.parsed_or_none("agent_session_id", SessionId) or UNBOUND,
        "instance_id": fields.text_or_none("agent_instance_id") or "",
        "actor_label": fields.text_or_none("actor_label") or fields.text("agent_key"),
        "epoch": fields.integer("epoch"),
        "renewed": ticks.tick(fields, "renewed") or ticks.UNTOLD,
        "created_at": fields.moment("created_at"),
        "updated_at": updated_at,
        "last_heartbeat_at": fields.moment_or_none("last_heartbeat_at") or updated_at,
        "status": fields.parsed("status", LeaseStatus),
        "branch_ref": fields.text_or_none("branch_ref"),
        "pr_url": fields.text_or_none("pr_url"),
        "output_intent": fields.text_or_none("output_intent"),
        "revoked_reason": fields.text_or_none("revoked_reason"),
        "term_seconds": fields.number_or_none("term_seconds"),
    }
    return Lease(**facts) if number else NamedLease(name=name, **facts)


def plain_view(view: LeaseView, room_id: object) -> Plain:
    """Return the form of a lease as it stands."""
    return plain(view.lease, room_id) | {
        "expires_at": _moment(view.free_at),
        "is_held": view.is_held,
        "holder_is_there": view.alive,
        "holder_has_left": view.has_left,
        "silent_seconds": view.silent_for.total_seconds(),
    }


def view(document: object) -> LeaseView:
    """Return the lease, as it stands, that `document` spells.

    Raises:
        Unreadable: it spells none.
    """
    fields, one = Fields(document), lease(document)
    is_told = fields.document.get("is_held") is not None
    is_there = fields.document.get("holder_is_there")
    return LeaseView(
        lease=one,
        is_held=fields.flag("is_held") if is_told else one.is_active,
        alive=None if is_there is None else fields.flag("holder_is_there"),
        has_left=fields.flag("holder_has_left"),
        silent_for=timedelta(seconds=fields.number_or_none("silent_seconds") or 0),
        free_at=fields.moment_or_none("expires_at"),
    )


def plain_lock(one: Lock, room_id: object) -> Plain:
    """Return the form of a lock."""
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
        "cleared_at": _moment(one.cleared_at),
    }


def lock(document: object) -> Lock:
    """Return the lock that `document` spells.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    name = fields.text("id")
    number = number_in(name, "lock")
    facts: dict[str, Any] = {
        "number": number or 0,
        "task_id": fields.text_or_none("task_id"),
        "reason": fields.parsed("reason", LockReason),
        "message": fields.text_or_none("message"),
        "created_by": fields.text_or_none("created_by") or "",
        "created_at": fields.moment("created_at"),
        "cleared_by": fields.text_or_none("cleared_by"),
        "cleared_at": fields.moment_or_none("cleared_at"),
    }
    return Lock(**facts) if number else NamedLock(name=name, **facts)


def plain_event(one: Event) -> Plain:
    """Return the form of what happened to a task."""
    return {
        "number": one.number,
        "task_id": one.task_id,
        "event_type": one.type.value,
        "created_at": moments.to_text(one.at),
        "actor_label": one.actor,
        "actor_key": one.actor_key,
        "decision": one.decision.value,
        "from_status": one.before,
        "to_status": one.after,
        "reason": one.reason,
        "lease_id": one.lease_id,
        "epoch": one.epoch,
        "detail": one.detail,
    }


def event(document: object) -> Event:
    """Return what happened to a task, as `document` spells it.

    Raises:
        Unreadable: it spells nothing of the kind.
    """
    fields = Fields(document)
    return Event(
        number=fields.integer("number"),
        task_id=fields.text("task_id"),
        type=fields.parsed("event_type", EventType),
        at=fields.moment("created_at"),
        actor=fields.text("actor_label"),
        actor_key=fields.text_or_none("actor_key"),
        decision=fields.parsed("decision", Decision),
        before=fields.text_or_none("from_status"),
        after=fields.text_or_none("to_status"),
        reason=fields.text_or_none("reason"),
        lease_id=fields.text_or_none("lease_id"),
        epoch=fields.integer_or_none("epoch"),
        detail=fields.text_or_none("detail"),
    )


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moments.to_text(moment)
