"""What the tools for signing in say: this version has no server."""

from letagents.application.onboarding import Known
from letagents.domain.ids import RoomId
from letagents.domain.local_state import RoomSession
from letagents.domain.rooms import path_of
from letagents.entrypoints.mcp.tool import Arguments
from letagents.entrypoints.mcp.tools.arguments import room_of, text_of, worker_of
from letagents.entrypoints.mcp.tools.repository_calls import rooms_of
from letagents.entrypoints.mcp.visit import Visit
from letagents.wire import moments, public

Result = dict[str, object]

NO_SERVER = "Nobody signs in here: rooms are on this machine, and this version knows no server."
GO_ON = "Rooms need no account: call join_room(name=...) or create_room(), then go on."


async def start_device_auth(visit: Visit, arguments: Arguments) -> Result:
    await _look_at(visit, arguments)
    return {"success": False, "error": NO_SERVER, "hint": GO_ON}


async def poll_device_auth(visit: Visit, arguments: Arguments) -> Result:
    await _look_at(visit, arguments)
    known = await visit.client.onboarding.known()
    if known.pending is None and text_of(arguments, "request_id") is None:
        return {"success": False, "error": "No sign-in was begun.", "hint": GO_ON}
    return {"success": False, "error": NO_SERVER, "hint": GO_ON}


async def _look_at(visit: Visit, arguments: Arguments) -> None:
    """Refuse what could mean nothing on any server either."""
    room_of(arguments.get("room_id"))
    if (worker_id := worker_of(arguments.get("worker_id"))) is not None:
        await visit.client.onboarding.vouch(worker_id)


async def clear_saved_auth(visit: Visit, _arguments: Arguments) -> Result:
    await visit.client.onboarding.clear()
    return {
        "success": True,
        "env_token_still_present": visit.client.onboarding.installation.has_owner_token,
    }


async def get_onboarding_status(visit: Visit, arguments: Arguments) -> Result:
    client = visit.client
    here = await client.repository.look(text_of(arguments, "cwd"))
    known, current = await client.onboarding.known(), client.places.current
    folder = rooms_of(here)
    del folder["derived_room_from_git"]
    return {
        **_server(visit),
        **await _sign_in(visit, known),
        "agent_identity": public.identity(await client.chat.identity(), client.chat.instance),
        "current_room": public.room(current.room) if current is not None else None,
        "saved_current_room": known.saved_room and _saved(known.saved_room),
        **folder,
        "derived_active_git_room": str(here.derived.active) if here.derived.active else None,
        "repo_root": here.place.checkout and here.place.checkout.root,
        "next_step": _next_step(known, is_somewhere=current is not None),
    }


def _server(visit: Visit) -> Result:
    installation = visit.client.onboarding.installation
    url = installation.api_url
    return {
        "api_url": url,
        "api_health": {
            "url": f"{url}/api/health" if url else None,
            "reachable": False,
            "status": None,
            "error": "It was not asked: this version uses no server.",
        },
        "api_url_hint": (
            "LETAGENTS_API_URL is set, and rooms are on this machine all the same."
            if url
            else "No server is set; rooms are on this machine."
        ),
        "local_state_path": installation.state_path,
    }


async def _sign_in(visit: Visit, known: Known) -> Result:
    auth = await visit.client.chat.auth()
    has_token = visit.client.onboarding.installation.has_owner_token
    source = "env" if has_token else "local_state" if known.signed_in else "none"
    return {
        "authenticated": source != "none",
        "auth_source": source,
        "auth_hint": GO_ON if source == "none" else "Rooms on this machine make no use of it.",
        "account": auth and auth["account"],
        "token_expires_at": auth and auth["expires_at"],
        "pending_device_auth": known.pending and dict(known.pending),
    }


def _saved(room: RoomSession) -> Result:
    fits = RoomId.fits(room.room_id)
    return {
        "room_id": room.room_id,
        "code": room.code,
        "display_name": room.display_name,
        "git_room": room.git_room,
        "joined_via": room.joined_via,
        "joined_at": moments.to_text(room.joined_at),
        "last_seen_at": moments.to_text(room.last_seen_at),
        "last_message_id": room.last_message_id,
        "room_path": path_of(RoomId(room.room_id)) if fits else None,
        "room_url": None,
    }


def _next_step(known: Known, *, is_somewhere: bool) -> str:
    """Return the tool to call. A sign-in that was begun leads nowhere without a server."""
    return "resume_room_session" if known.saved_room and not is_somewhere else "join_room"
