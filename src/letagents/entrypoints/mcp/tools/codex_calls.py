"""What the tools for a Codex that works in a room by itself do. (Source: mcp-tools 8.6.)"""

from letagents.application.live_sessions import Asked
from letagents.application.places import Entered
from letagents.domain import rooms
from letagents.domain.errors import Malformed, SignInFirst
from letagents.domain.live_sessions import LiveSessionFailed
from letagents.domain.turns import ProviderMissing, ProviderUnusable
from letagents.entrypoints.mcp.tool import Arguments
from letagents.entrypoints.mcp.tools.arguments import named_room, naming, text_of
from letagents.entrypoints.mcp.tools.entering import sign_in_first
from letagents.entrypoints.mcp.visit import Visit
from letagents.ports.live_codex import CodexUnreachable
from letagents.wire import public

Result = dict[str, object]

NONE: Result = {
    "success": False,
    "error": "No local Codex live session found.",
    "hint": "Call start_local_codex_session(room=...) if your user wants one.",
}
NOT_STARTED = (ProviderMissing, ProviderUnusable, CodexUnreachable, LiveSessionFailed)
LONGEST_TEXT = 2_000
"""Characters of one text of a session that are shown."""
MOST_MINUTES = 525_600


async def start_local_codex_session(visit: Visit, arguments: Arguments) -> Result:
    sessions = visit.client.live.sessions  # before anything is joined
    minutes = float(str(arguments.get("max_minutes", 0)))
    if minutes > MOST_MINUTES:
        raise Malformed(f"max_minutes: {minutes:g} is more than a year.", remedy="Pass 0.")
    try:
        entered = await _entered(visit, str(arguments["room"]))
    except SignInFirst as error:
        return await sign_in_first(visit, named_room(str(arguments["room"]), "room"), error)
    asked = Asked(
        cwd=text_of(arguments, "cwd"),
        stop_phrase=text_of(arguments, "stop_phrase"),
        max_minutes=minutes,
    )
    try:
        session, was_there = await sessions.start(entered, asked)
    except NOT_STARTED as error:
        return {"success": False, "error": error.happened, "hint": error.remedy}
    chat = visit.client.chat
    return {
        "success": True,
        "room": public.room(entered.room),
        **_started(session.public(), was_there=was_there),
        "agent_identity": public.identity(await chat.identity(None), chat.instance),
    }


async def live(visit: Visit, entered: Entered) -> Result:
    """Return what a chat that enters a room with a live session is told of that."""
    session, was_there = await visit.client.live.sessions.start(entered, Asked())
    return _started(session.public(), was_there=was_there)


def _started(session: Result, *, was_there: bool) -> Result:
    return {
        "local_codex_session": session,
        "local_codex_session_started": not was_there,
        "local_codex_session_reused": was_there,
    }


async def status_local_codex_session(visit: Visit, arguments: Arguments) -> Result:
    sessions = visit.client.live.sessions
    found = await sessions.inspect(text_of(arguments, "session_id"))
    if found is None:
        return NONE
    seen = found.seen
    return {
        "success": True,
        "session": found.session.public(),
        "server_reachable": found.is_reachable,
        "thread_status": seen and seen.thread_status,
        "turn_status": seen and seen.turn_status,
        "recent_items": [_cut(item) for item in found.items],
    }


async def stop_local_codex_session(visit: Visit, arguments: Arguments) -> Result:
    stopped = await visit.client.live.sessions.stop(
        text_of(arguments, "session_id"), shutdown=arguments.get("shutdown_server") is True
    )
    return NONE if stopped is None else {"success": True, "session": stopped.public()}


async def _entered(visit: Visit, name: str) -> Entered:
    with naming("room"):
        if rooms.looks_like_code(name):
            code = rooms.invite_code(name)
            return await visit.client.places.join(code, via="join_code", create=False)
        return await visit.client.places.join(named_room(name, "room"))


def _cut(item: dict[str, object]) -> Result:
    text = item.get("text")
    if not isinstance(text, str) or len(text) <= LONGEST_TEXT:
        return dict(item)
    return {**item, "text": text[:LONGEST_TEXT], "text_cut": len(text) - LONGEST_TEXT}
