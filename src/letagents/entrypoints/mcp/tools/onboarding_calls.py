"""What the tools for signing in do: nothing, where rooms are on this machine."""

from contextlib import suppress
from typing import TYPE_CHECKING

from letagents.application.onboarding import Installation, Known, shown_of
from letagents.application.signing_in import SignedIn
from letagents.domain import git_rooms
from letagents.domain.errors import LetAgentsError, RoomsUnavailable
from letagents.domain.ids import RoomId
from letagents.domain.local_state import RoomSession
from letagents.domain.rooms import path_of
from letagents.domain.sign_in import Over, UnknownSignIn, Waiting
from letagents.entrypoints.mcp.tool import Arguments
from letagents.entrypoints.mcp.tools.arguments import room_of, text_of, worker_of
from letagents.entrypoints.mcp.tools.repository_calls import rooms_of
from letagents.entrypoints.mcp.visit import Visit
from letagents.wire import moments, public

if TYPE_CHECKING:
    from letagents.application.directory import Directory
    from letagents.application.places import Entered

Result = dict[str, object]

NO_SERVER = "Nobody signs in here: rooms are on this machine, and no server is set."
NONE_BEGUN = "No sign-in was begun."
ANOTHER_WAY = "A person can set LETAGENTS_TOKEN to a token that whoever runs the server gives."
TYPE_IT = "Ask the person to type user_code at verification_uri, then call poll_device_auth()."
OVER = {"denied": "The person refused, or may not use this server.", "expired": "It took too long."}
GO_ON = "Rooms need no account: call join_room(name=...) or create_room(), then go on."


async def start_device_auth(visit: Visit, arguments: Arguments) -> Result:
    await _look_at(visit, arguments)
    signing = visit.client.onboarding.signing
    if signing is None:
        return {"success": False, "error": NO_SERVER, "hint": GO_ON}
    room_id = room_of(arguments.get("room_id")) or await _here(visit)
    try:
        pending, is_reused = await signing.begin(room_id, anew=arguments.get("force") is True)
    except RoomsUnavailable as error:
        return {"success": False, "error": error.happened, "hint": ANOTHER_WAY}
    reused = {"reused_existing_request": True} if is_reused else {}
    return {"success": True, **reused, **shown_of(pending), "hint": TYPE_IT}


async def poll_device_auth(visit: Visit, arguments: Arguments) -> Result:
    await _look_at(visit, arguments)
    signing = visit.client.onboarding.signing
    if signing is None:
        known = await visit.client.onboarding.known()
        is_begun = known.pending is not None or text_of(arguments, "request_id") is not None
        return {"success": False, "error": NO_SERVER if is_begun else NONE_BEGUN, "hint": GO_ON}
    try:
        stands = await signing.poll(text_of(arguments, "request_id"))
    except UnknownSignIn as error:
        return {"success": False, "error": error.happened, "hint": error.remedy}
    match stands:
        case Waiting(status, interval, left):
            until = {} if left is None else {"expires_in": left.total_seconds()}
            return {
                "success": True,
                "status": status,
                "interval": interval.total_seconds(),
                **until,
            }
        case Over(status):
            return {"success": False, "status": status, "error": OVER.get(status, status)}
        case SignedIn():
            return await _signed_in(visit, arguments, stands)


async def _signed_in(visit: Visit, arguments: Arguments, made: SignedIn) -> Result:
    joined = await _joined(visit, arguments, made) if arguments.get("auto_join") else None
    chat = visit.client.chat
    account = made.account
    return {
        "success": True,
        "status": "authorized",
        "account": {
            "id": account.id,
            "login": account.login,
            "display_name": account.display_name,
        },
        "expires_at": made.expires_at,
        "auto_joined_room": public.room(joined.room) if joined is not None else None,
        "agent_identity": public.identity(await chat.identity(), chat.instance),
        "hint": "Go on: register_agent_session(registration_key=..., room_id=...).",
    }


async def _joined(visit: Visit, arguments: Arguments, made: SignedIn) -> "Entered | None":
    """Enter the room that was meant, if any was. That somebody is signed in stands either way."""
    meant = room_of(arguments.get("room_id")) or _room(made.suggested_room) or await _here(visit)
    if meant is None:
        return None
    with suppress(LetAgentsError):
        return await visit.client.places.enter(git_rooms.behind(meant), via="join_room")
    return None


async def _here(visit: Visit) -> RoomId | None:
    """Return the room that this chat is in, or else the one that is chosen for its folder."""
    current = visit.client.places.current_id
    return current or (await visit.client.repository.look()).configured.active


def _room(text: str | None) -> RoomId | None:
    return RoomId(text) if text is not None and RoomId.fits(text) else None


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
    signed = await _sign_in(visit, known)
    folder = rooms_of(here)
    del folder["derived_room_from_git"]
    return {
        **await _server(visit),
        **signed,
        "agent_identity": public.identity(await client.chat.identity(), client.chat.instance),
        "current_room": public.room(current.room) if current is not None else None,
        "saved_current_room": known.saved_room and _saved(known.saved_room),
        **folder,
        "derived_active_git_room": str(here.derived.active) if here.derived.active else None,
        "repo_root": here.place.checkout and here.place.checkout.root,
        "next_step": _next_step(visit, known, signed),
    }


async def _server(visit: Visit) -> Result:
    onboarding = visit.client.onboarding
    directory, url = onboarding.directory, onboarding.installation.api_url
    status: int | None = None
    error: str | None = "It was not asked: rooms are on this machine."
    if directory is not None:
        url = directory.credentials.url
        status, error = await directory.server.health()
    return {
        "api_url": url,
        "api_health": {
            "url": f"{url}/api/health" if url else None,
            "reachable": status is not None,
            "status": status,
            "error": error,
        },
        "api_url_hint": _hint(onboarding.installation, url, is_hosted=directory is not None),
        "local_state_path": onboarding.installation.state_path,
    }


def _hint(installation: Installation, url: str | None, *, is_hosted: bool) -> str:
    if installation.rooms_are_apart:
        return "Rooms are on that server or on this machine, as chat-storage.json says of each."
    if is_hosted:
        return "Rooms are on that server."
    if url:
        return "LETAGENTS_API_URL is set, and rooms are on this machine all the same."
    return "No server is set; rooms are on this machine."


async def _sign_in(visit: Visit, known: Known) -> Result:
    auth = await visit.client.chat.auth()
    pending = known.pending and dict(known.pending)
    directory = visit.client.onboarding.directory
    if directory is not None:
        return {**await _at_server(directory, auth), "pending_device_auth": pending}
    has_token = visit.client.onboarding.installation.has_owner_token
    source = "env" if has_token else "local_state" if known.signed_in else "none"
    return {
        "authenticated": source != "none",
        "auth_source": source,
        "auth_hint": GO_ON if source == "none" else "Rooms on this machine make no use of it.",
        "account": auth and auth["account"],
        "token_expires_at": auth and auth["expires_at"],
        "pending_device_auth": pending,
    }


async def _at_server(directory: "Directory", auth: dict[str, object] | None) -> Result:
    shown, account = await directory.credentials.shown(), await directory.account()
    source = shown.source if shown is not None else "none"
    who = account and {
        "id": account.id,
        "login": account.login,
        "display_name": account.display_name,
    }
    if shown is None:
        hint = f"Call start_device_auth(). {ANOTHER_WAY}"
    elif who is None:
        hint = "The server does not say now whose the token is that is shown to it."
    else:
        hint = "Signed in."
    is_stored = source == "local_state" and auth is not None
    return {
        "authenticated": shown is not None,
        "auth_source": source,
        "auth_hint": hint,
        "account": who,
        "token_expires_at": auth["expires_at"] if is_stored and auth is not None else None,
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


def _next_step(visit: Visit, known: Known, signed: Result) -> str:
    """Return the tool to call. (Source: mcp-tools 8.4.)"""
    client = visit.client
    if known.pending is not None and client.onboarding.signing and not signed["authenticated"]:
        return "poll_device_auth"
    return "resume_room_session" if known.saved_room and not client.places.current else "join_room"
