"""What the tools that enter rooms do."""

from contextlib import suppress

from letagents.application.places import BEARER, SUPERVISED, Entered
from letagents.domain import identity, rooms
from letagents.domain.errors import (
    NotAvailable,
    SignInFirst,
    StateDamaged,
    StateUnavailable,
    UnknownRoom,
)
from letagents.domain.ids import RoomId
from letagents.entrypoints.mcp.tool import Arguments
from letagents.entrypoints.mcp.tools.arguments import claim, named_room, naming, text_of
from letagents.entrypoints.mcp.tools.entering import sign_in_first
from letagents.entrypoints.mcp.visit import Visit
from letagents.wire import public

Result = dict[str, object]


async def create_room(visit: Visit, _arguments: Arguments) -> Result:
    return await _welcome(visit, await visit.client.places.create())


async def join_code(visit: Visit, arguments: Arguments) -> Result:
    mode = _mode(visit, arguments)
    room_id = rooms.invite_code(str(arguments["code"]))
    with naming("code"):
        entered = await visit.client.places.join(room_id, via="join_code", create=False)
    return {**await _welcome(visit, entered), **await _live(visit, entered, mode)}


async def join_room(visit: Visit, arguments: Arguments) -> Result:
    mode = _mode(visit, arguments)
    room_id = named_room(str(arguments["name"]), "name")
    try:
        with naming("name"):
            entered = await visit.client.places.join(room_id)
    except SignInFirst as error:
        return await sign_in_first(visit, room_id, error)
    return {**await _welcome(visit, entered), **await _live(visit, entered, mode)}


async def get_current_room(visit: Visit, arguments: Arguments) -> Result:
    here = visit.client.places.current
    if here is not None and here.joined_via in (SUPERVISED, BEARER):
        return _as_lent(visit, here)
    codex = await _codex(visit)
    if here is None:
        message = "This chat has joined no room. Call join_room(name=...) or join_code(code=...)."
        return {"connected": False, "message": message, **codex}
    auth = await _auth(visit)
    conversation = text_of(arguments, "conversation_id")
    return {
        "connected": True,
        **await _welcome(visit, here, conversation),
        **codex,
        "auth": auth,
    }


def _as_lent(visit: Visit, here: Entered) -> Result:
    """Return the room of who acts with a credential which is not its own; no state is read."""
    own = visit.client.connections.own(here.room.room_id)
    who = identity.of_session(own.session) if own is not None else None
    told: Result = {
        "connected": True,
        **public.room(here.room),
        "joined_via": here.joined_via,
        "current_local_codex_session": None,
        "local_codex_session_count": 0,
        "agent_identity": who and public.identity(who, visit.client.chat.instance),
        "auth": None,
    }
    if here.is_supervised:
        told |= {"joined_via": None, "is_local": None, "room_binding": SUPERVISED}
    return told


async def _auth(visit: Visit) -> Result | None:
    """Return how this chat is signed in, without any secret; None if it is not."""
    directory = visit.client.onboarding.directory
    stored = await visit.client.chat.auth()
    if directory is None:
        return stored
    from letagents.application.credentials import STORED

    shown = await directory.credentials.shown()
    if shown is None or shown.source == STORED:
        return stored
    account = await directory.account()
    who = account and {
        "id": account.id,
        "login": account.login,
        "display_name": account.display_name,
    }
    return {"source": shown.source, "expires_at": None, "account": who}


async def resume_room_session(visit: Visit, arguments: Arguments) -> Result:
    client = visit.client
    asked = claim(arguments)
    shown = await client.callers.shown(asked)
    try:
        entered, before = await client.places.resume(
            shown.session.room_id if shown is not None else asked.room_id
        )
    except UnknownRoom as error:
        return {"success": False, "error": str(error)}
    except SignInFirst as error:
        if error.room_id is None or not RoomId.fits(error.room_id):
            raise
        return await sign_in_first(visit, RoomId(error.room_id), error)
    welcome = await _welcome(visit, entered)
    return {
        "success": True,
        "rejoined_from_local_state": True,
        "server_session_resumed": False,
        "last_message_id_before_restart": before,
        "room": public.room(entered.room),
        **{name: welcome[name] for name in ("agent_identity", "agent_prompt_kind", "agent_prompt")},
    }


async def _welcome(visit: Visit, entered: Entered, conversation: str | None = None) -> Result:
    chat = visit.client.chat
    return {
        **public.room(entered.room),
        "joined_via": entered.joined_via,
        "agent_identity": public.identity(await chat.identity(conversation), chat.instance),
        "agent_prompt_kind": "join",
        "agent_prompt": visit.prompts.dispense("join"),
    }


async def _codex(visit: Visit) -> Result:
    """Return which live session the room has, as it was seen last: of this nothing is loaded.

    Only where one has lasted too long is it loaded, to end that, whoever was to look after it.
    Where the state cannot be read, nothing is said of them: to see one's room it is not needed.
    """
    chat = visit.client.chat
    from letagents.domain import live_sessions

    try:
        state = await chat.state.read()
        if live_sessions.overdue(state, chat.clock.now()):
            with suppress(NotAvailable):
                await visit.client.live.sessions.end_overdue()
            state = await chat.state.read()
    except (StateDamaged, StateUnavailable):
        return {}
    there = visit.client.places.current_id
    session = live_sessions.current(state, there) if there is not None else None
    return {
        "current_local_codex_session": session and session.public(),
        "local_codex_session_count": len(live_sessions.known(state)),
    }


async def _live(visit: Visit, entered: Entered, mode: str) -> Result:
    """Start a live session in the room that was entered, if one is asked for."""
    if mode != "live":
        return {"session_mode": mode}
    from letagents.entrypoints.mcp.tools.codex_calls import live

    return {"session_mode": mode, **await live(visit, entered)}


def _mode(visit: Visit, arguments: Arguments) -> str:
    """Return whether the room is to get a live session.

    Raises:
        NotAvailable: it is, and none can be had; nothing was entered.
    """
    mode = str(arguments.get("session_mode", "current"))
    if mode == "live":
        visit.client.live.check()
    return mode
