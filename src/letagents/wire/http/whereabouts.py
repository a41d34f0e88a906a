"""Who is in a hosted room, and what they say they do. (Source: hosted-api 4.7, 4.9.)"""

from typing import Any

from letagents.domain.accounts import login_of_person
from letagents.domain.ids import RoomId
from letagents.domain.names import sender_form
from letagents.domain.sessions import SessionKind
from letagents.domain.whereabouts import Whereabouts
from letagents.wire import moments, public
from letagents.wire.http import sessions

Plain = dict[str, Any]

OF_SESSION = (
    "room_id",
    "actor_label",
    "agent_key",
    "agent_instance_id",
    "session_kind",
    "runtime",
    "display_name",
    "owner_label",
    "ide_label",
    "repo_branch",
)


def plain(one: Whereabouts) -> Plain:
    """Return the form of one who is there."""
    shown = public.session(one.session)
    return {name: shown[name] for name in OF_SESSION} | {
        "agent_session_id": shown["session_id"],
        "status": one.said.status,
        "status_text": one.said.text,
        "last_heartbeat_at": moments.to_text(one.session.last_seen_at),
        "created_at": moments.to_text(one.since),
        "updated_at": moments.to_text(one.updated_at),
        "freshness": "active" if one.is_fresh else "stale",
        "activity_state": _state(one),
        "source_flags": _flags(one),
        "liveness_observation": _observation(one),
    }


def _observation(one: Whereabouts) -> Plain | None:
    """Return what is known of the machine that somebody's program runs on, if anything is."""
    told = sessions.plain_host(one.said.host or one.session.host)
    if not any(told.values()):
        return None
    return {"source": "agent_session", "observed_at": moments.to_text(one.updated_at), **told}


def plain_participant(one: Whereabouts, room_id: RoomId) -> Plain:
    """Return the form of a participant."""
    seen, is_person = one.session, one.session.kind is SessionKind.PERSON
    last = moments.to_text(seen.last_seen_at)
    key = seen.agent_key if is_person else f"agent:{sender_form(seen.actor_label)}"
    return {
        "room_id": str(room_id),
        "participant_key": key,
        "kind": "human" if is_person else "agent",
        "actor_label": seen.actor_label,
        "agent_key": None if is_person else seen.agent_key,
        "github_login": login_of_person(seen.agent_key) if is_person else None,
        "display_name": seen.display_name,
        "owner_label": seen.owner_label,
        "ide_label": seen.ide_label,
        "hidden_at": None,
        "hidden_by": None,
        "last_seen_at": last,
        "last_room_activity_at": last,
        "last_live_heartbeat_at": last,
        "activity_state": _state(one),
        "source_flags": _flags(one),
        "created_at": moments.to_text(seen.created_at),
        "updated_at": moments.to_text(seen.updated_at),
    }


def _flags(one: Whereabouts) -> list[str]:
    return ["presence", "delivery"] if one.has_delivery else ["presence"]


def _state(one: Whereabouts) -> str:
    return "online" if one.is_fresh else "away"
