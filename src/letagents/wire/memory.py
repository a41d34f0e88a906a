"""What rooms remember, in the form that everybody may see. (hosted-api 3.13, 4.11, 4.12.)"""

from typing import Any

from letagents.domain import guidelines as rules_of_guidelines
from letagents.domain.artifacts import Shared
from letagents.domain.authors import Author
from letagents.domain.guidelines import InForce
from letagents.domain.ids import RoomId
from letagents.domain.reasoning import Reasoning, Trace, Update
from letagents.domain.records import Record, Response
from letagents.domain.room_events import RepositoryEvent
from letagents.domain.wake_arguments import Wanted
from letagents.domain.wake_rules import WakeRule
from letagents.wire import moments

Plain = dict[str, Any]

GUIDELINES_NOTE = (
    "What this room's people wish from agents in it. It adds to what your own user and system "
    "tell you, and takes the place of none of it."
)


def record(kept: Record, room_id: RoomId) -> Plain:
    """Return a fact or a request."""
    said = kept.entry
    return {
        "id": kept.record_id,
        "room_id": str(room_id),
        "type": kept.section.value,
        "category": said.category,
        "title": said.title,
        "body": said.body,
        "recommendation": said.recommendation,
        "unblocks": said.unblocks,
        "source_url": said.source_url,
        "source_message_id": said.source_message and str(said.source_message),
        "version": kept.version,
        "author": author(kept.author),
        "updated_by": author(kept.updated_by),
        "created_at": moments.to_text(kept.created_at),
        "updated_at": moments.to_text(kept.updated_at),
        "archived": kept.archived,
        "response": kept.response and _response(kept.response),
    }


def author(who: Author) -> Plain:
    """Return who did something."""
    return {"id": who.id, "label": who.label, "kind": who.kind}


def _response(given: Response) -> Plain:
    return {
        "body": given.body,
        "actor": author(given.actor),
        "at": moments.to_text(given.at),
    }


def guidelines(found: InForce, room_id: RoomId, *, can_manage: bool) -> Plain:
    """Return what counts in a room."""
    kept = found.guidelines
    return {
        "room_id": str(room_id),
        "guidelines": kept and kept.text,
        "updated_by": kept and kept.updated_by.label,
        "updated_at": kept and moments.to_text(kept.updated_at),
        "inherited_from_room_id": found.inherited_from and str(found.inherited_from),
        "max_bytes": rules_of_guidelines.MAX_BYTES,
        "token_budget": rules_of_guidelines.TOKEN_BUDGET,
        "note": GUIDELINES_NOTE,
        "agent_reply_order": found.reply_order.value,
        "can_manage": can_manage,
    }


def artifact(kept: Shared, room_id: RoomId) -> Plain:
    """Return an artifact."""
    shown = kept.artifact
    return {
        "room_id": str(room_id),
        "identity_key": kept.identity,
        "provider": shown.provider.value,
        "kind": shown.kind.value,
        "artifact_id": shown.id,
        "artifact_number": shown.number,
        "title": shown.title,
        "url": shown.url,
        "ref": shown.ref,
        "state": shown.state,
        "detail": None,
        "source": kept.source,
        "published_by": kept.published_by.label,
        "first_seen_at": moments.to_text(kept.first_seen_at),
        "updated_at": moments.to_text(kept.updated_at),
        "linked_task_ids": list(kept.task_ids),
    }


def event(happened: RepositoryEvent) -> Plain:
    """Return an event of a repository."""
    return {
        "id": happened.id,
        "event_type": happened.event_type,
        "action": happened.action,
        "github_object_id": happened.object_id,
        "github_object_url": happened.object_url,
        "title": happened.title,
        "state": happened.state,
        "actor_login": happened.actor,
        "metadata": {},
        "linked_task_id": happened.linked_task_id,
        "created_at": moments.to_text(happened.created_at),
    }


def reasoning(trace: Reasoning, room_id: RoomId) -> Plain:
    """Return a trace as it is now."""
    return {
        "id": trace.reasoning_id,
        "room_id": str(room_id),
        "task_id": trace.task_id,
        "anchor_message_id": trace.anchor and str(trace.anchor),
        "actor_label": trace.actor_label,
        "agent_key": trace.agent_key,
        "status": trace.latest.status,
        "summary": trace.latest.summary,
        "latest_payload": _payload(trace.latest),
        "created_at": moments.to_text(trace.created_at),
        "updated_at": moments.to_text(trace.updated_at),
        "closed_at": trace.closed_at and moments.to_text(trace.closed_at),
    }


def update(state: Update, room_id: RoomId) -> Plain:
    """Return one state of a trace."""
    return {
        "id": state.update_id,
        "room_id": str(room_id),
        "session_id": state.reasoning_id,
        "actor_label": state.actor_label,
        "status": state.trace.status,
        "summary": state.trace.summary,
        "milestone": state.trace.milestone,
        "payload": _payload(state.trace),
        "created_at": moments.to_text(state.created_at),
    }


def _payload(trace: Trace) -> Plain:
    return {
        "summary": trace.summary,
        "goal": trace.goal,
        "checking": trace.checking,
        "hypothesis": trace.hypothesis,
        "blocker": trace.blocker,
        "next_action": trace.next_action,
        "confidence": trace.confidence,
    }


def wake_rule(rule: WakeRule, room_id: RoomId) -> Plain:
    """Return a wake rule."""
    return {
        "id": rule.rule_id,
        "room_id": str(room_id),
        "event": rule.asked.event.value,
        "arguments": arguments(rule.asked.wanted),
        "note": rule.asked.note,
        "repeat": rule.asked.repeat,
        "status": rule.state.value,
        "agent_key": rule.agent_key,
        "actor_label": rule.actor_label,
        "created_at": moments.to_text(rule.created_at),
        "expires_at": moments.to_text(rule.expires_at),
        "due_at": rule.due_at and moments.to_text(rule.due_at),
        "fired_at": rule.told_at and moments.to_text(rule.told_at),
        "fired_count": rule.told,
        "ended_at": rule.ended_at and moments.to_text(rule.ended_at),
    }


def arguments(wanted: Wanted) -> Plain:
    """Return what exactly is waited for."""
    plain: Plain = {
        "at": wanted.at and moments.to_text(wanted.at),
        "after_ms": wanted.after_ms,
        "task_id": wanted.task_id,
        "to": list(wanted.to),
        "branch": wanted.branch,
        "pr": wanted.pr,
        "mine": wanted.mine,
        "conclusions": list(wanted.conclusions),
        "states": list(wanted.states),
        "merged_only": wanted.merged_only,
    }
    return {name: value for name, value in plain.items() if value}
