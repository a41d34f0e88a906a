"""Sessions, rooms and identities in the form that everybody may see: never with a secret."""

from typing import TYPE_CHECKING, Any

from letagents.domain.identity import Identity
from letagents.domain.rooms import Room
from letagents.domain.sessions import Session
from letagents.wire import moments

if TYPE_CHECKING:
    from letagents.domain.focus_rooms import Focus

Plain = dict[str, Any]


def session(seen: Session) -> Plain:
    """Return a session's public object. (Source: mcp-tools 7.3.)"""
    return {
        "session_id": str(seen.session_id),
        "room_id": str(seen.room_id),
        "session_kind": seen.kind.value,
        "runtime": seen.runtime,
        "host_id": seen.host.host_id,
        "host_kind": seen.host.kind,
        "host_label": seen.host.label,
        "liveness_capability": seen.host.liveness_capability,
        "tool_bridge_id": seen.host.tool_bridge_id,
        "actor_label": seen.actor_label,
        "agent_key": seen.agent_key,
        "agent_instance_id": seen.instance_id,
        "display_name": seen.display_name,
        "owner_label": seen.owner_label,
        "ide_label": seen.ide_label,
        "repo_branch": seen.repo_branch,
        "created_at": moments.to_text(seen.created_at),
        "updated_at": moments.to_text(seen.updated_at),
        "last_seen_at": moments.to_text(seen.last_seen_at),
        "ended_at": seen.ended_at and moments.to_text(seen.ended_at),
    }


def room(entered: Room) -> Plain:
    """Return a room's public object; a room of this machine has no address on the web."""
    return {
        "room_id": str(entered.room_id),
        "code": entered.code,
        "display_name": entered.display_name,
        "git_room": None,
        "is_local": entered.is_local,
        "room_path": entered.path,
        "room_url": None,
        **_focus(entered.focus),
    }


def _focus(focus: "Focus | None") -> Plain:
    """Return what is told of a focus room beside what is told of any."""
    if focus is None:
        return {}
    return {
        "kind": "focus",
        "parent_room_id": str(focus.parent),
        "focus_key": focus.key,
        "source_task_id": focus.task_id,
        "focus_status": "active" if focus.is_active else "concluded",
        "focus_settings": {
            name: getattr(focus.settings, name).value
            for name in ("parent_visibility", "activity_scope", "github_event_routing")
        },
    }


def identity(who: Identity, instance: str) -> Plain:
    """Return an identity's public object; `instance` is the process's own id. (Source: 7.1.)"""
    return {
        "name": who.name,
        "display_name": who.display_name,
        "owner_label": who.owner_label,
        "owner_attribution": who.owner_attribution,
        "ide_label": who.ide_label,
        "actor_label": who.actor_label,
        "canonical_key": who.canonical_key,
        "runtime_key": who.runtime_key,
        "agent_instance_id": instance,
        "source": who.source,
    }
