"""What the tools of workers do."""

from collections.abc import Sequence

import attrs

from letagents.application.registration import Registered, Wish
from letagents.domain import names
from letagents.domain.errors import (
    LetAgentsError,
    Malformed,
    NoRoom,
    SessionEnded,
    SessionUnknown,
)
from letagents.domain.ids import RegistrationKey, RoomId, quoted
from letagents.domain.local_state import with_context
from letagents.domain.sessions import Connection, Resumed, Session, SessionKind
from letagents.entrypoints.mcp.tool import Arguments
from letagents.entrypoints.mcp.tools.arguments import (
    claim,
    named,
    naming,
    room_of,
    text_of,
    worker_of,
)
from letagents.entrypoints.mcp.visit import Visit
from letagents.wire import public

Result = dict[str, object]

WAYS = ("recover_lost_worker", "worker_id", "registration_key")
"""What makes a registration that of a worker with a lasting handle."""

SHORTEST_NAME = 2
RESUMED_SHOWN = 20
"""So many of the tasks that a worker holds again are listed."""


async def register_agent_session(visit: Visit, arguments: Arguments) -> Result:
    with naming("room_id"):
        if any(arguments.get(name) for name in WAYS):
            return await _register_worker(visit, arguments)
        return await _register_plain(visit, arguments)


async def _register_worker(visit: Visit, arguments: Arguments) -> Result:
    wish = _durable_wish(arguments)
    entered = await visit.client.callers.room_entered(wish.room_id)
    wish = attrs.evolve(wish, room_id=entered)
    registration = visit.client.registration
    if arguments.get("recover_lost_worker"):
        registered = await registration.recover(wish)
    elif (worker_id := worker_of(arguments.get("worker_id"))) is not None:
        registered = await registration.reconnect(worker_id, wish)
    else:
        key = named("registration_key", RegistrationKey, str(arguments["registration_key"]))
        registered = await registration.register(key, wish)
    await _bind(visit, registered.connection, wish.cwd)
    return _registered(registered)


async def _bind(visit: Visit, connection: Connection, folder: str | None) -> None:
    """Let the chat's supervisor know the session, if it has one."""
    if visit.bridge is None:
        return
    state, session_id = visit.client.chat.state, str(connection.session.session_id)
    known = (await state.read()).sessions.get(session_id)
    remembered = known.supervisor_context_cwd if known is not None else None
    found = await visit.bridge.registered(connection, folder, remembered)
    if found is not None and found != remembered:
        await state.transact(lambda there: (with_context(there, session_id, found), None))


def _durable_wish(arguments: Arguments) -> Wish:
    if len(ways := [name for name in WAYS if arguments.get(name)]) > 1:
        raise Malformed(
            f"{ways[0]}: {' and '.join(ways[1:])} was passed too.",
            remedy="Pass registration_key for a new worker, worker_id for one that you have, or "
            "recover_lost_worker with display_name for one whose handle was lost.",
        )
    if arguments.get("session_kind") == SessionKind.CONTROLLER.value:
        raise Malformed(
            "session_kind: a lasting worker cannot be a controller.",
            remedy="Leave session_kind out.",
        )
    room_id = room_of(arguments.get("room_id"))
    if room_id is None:
        raise Malformed(
            "room_id: it is missing, and a lasting worker needs it.",
            remedy="Pass the room_id that join_room or create_room returned.",
        )
    wish = _wish(arguments, room_id)
    if arguments.get("recover_lost_worker") and wish.display_name is None:
        raise Malformed(
            "display_name: it is missing, and recovery goes by it.",
            remedy="Pass the display_name that the lost worker has in the room.",
        )
    return wish


def _wish(arguments: Arguments, room_id: RoomId) -> Wish:
    asked = text_of(arguments, "display_name")
    return Wish(
        room_id,
        display_name=asked and names.checked_display_name(asked),
        runtime=text_of(arguments, "runtime"),
        cwd=text_of(arguments, "cwd"),
    )


def _registered(registered: Registered) -> Result:
    session = registered.connection.session
    result: Result = {
        "success": True,
        "worker_id": str(registered.worker_id),
        "agent_session": public.session(session),
    }
    if registered.name_held_here is not None:
        result["name_notice"] = _name_notice(registered)
    result |= _resumed(registered.resumed)
    result["instruction"] = (
        f"In this room you are {session.display_name}{_instead(session)}. Keep worker_id for this "
        "chat and pass it to room tools. After a restart or disconnect, call "
        "register_agent_session with worker_id and room_id. Another chat needs a key of its own. "
        "Keep the key private."
    )
    return result


def _resumed(resumed: Sequence[Resumed]) -> Result:
    if not resumed:
        return {}
    more = f" and {len(resumed) - RESUMED_SHOWN} more" if len(resumed) > RESUMED_SHOWN else ""
    listed = ", ".join(map(str, resumed[:RESUMED_SHOWN]))
    how = "Carry on with them, or release them with release_task_lease or release_task_review."
    return {"resumed_work": f"{listed}{more}. {how}"}


def _instead(session: Session) -> str:
    if session.base_name == session.display_name:
        return ""
    return f", since {session.base_name} is another worker's name here"


def _name_notice(registered: Registered) -> str:
    session = registered.connection.session
    asked = registered.name_held_here
    return (
        f"The name {asked} belongs to a worker that this server registered earlier and still "
        f"holds. This chat is {session.display_name}. If it is that worker and lost its handle, "
        f"call register_agent_session(recover_lost_worker=true, room_id={str(session.room_id)!r}, "
        f"display_name={asked!r}), then disconnect_agent_session for this worker_id."
    )


async def _register_plain(visit: Visit, arguments: Arguments) -> Result:
    room_id = room_of(arguments.get("room_id")) or visit.client.places.current_id
    if room_id is None:
        return _no_room()
    room_id = await visit.client.callers.room_entered(room_id)
    kind = SessionKind(str(arguments.get("session_kind", SessionKind.WORKER.value)))
    wish = _wish(arguments, room_id)
    connection = await visit.client.plain.register(wish, kind)
    await _bind(visit, connection, wish.cwd)
    session_id = str(connection.session.session_id)
    return {
        "success": True,
        "local": True,
        "agent_session": public.session(connection.session),
        "agent_session_id": session_id,
        **_resumed(connection.resumed),
        "use_agent_session_id": session_id,
        "instruction": "Pass agent_session_id to room tools. For a worker that is found again, "
        "register with a registration_key.",
    }


async def disconnect_agent_session(visit: Visit, arguments: Arguments) -> Result:
    client = visit.client
    asked = claim(arguments)
    try:
        connection = await client.callers.shown(asked)
        if connection is None:
            return _nobody() if asked.room_id or client.places.current_id else _no_room()
        session = await client.registration.disconnect(connection)
    except (SessionEnded, SessionUnknown):
        if (over := await client.callers.ended(asked)) is None:
            raise
        return {"success": True, "already_ended": True, "agent_session": public.session(over)}
    return {
        "success": True,
        "local": True,
        "room_id": str(session.room_id),
        "agent_session_id": str(session.session_id),
        "agent_session": public.session(session),
        "delivery_session": None,
        "local_state": "ended",
    }


async def set_agent_name(visit: Visit, arguments: Arguments) -> Result:
    if "worker_id" in arguments:
        raise Malformed(
            "worker_id: a lasting worker's name is chosen at its first registration and stays.",
            remedy="Leave worker_id out to name this chat's own identity.",
        )
    chat = visit.client.chat
    asked = str(arguments["name"]).strip()
    if not SHORTEST_NAME <= len(asked) <= names.DISPLAY_NAME_LIMIT:
        return {"success": False, "error": "name: it needs 2 to 64 characters."}
    name = _checked_name(asked)
    if (conversation := text_of(arguments, "conversation_id")) is not None:
        who = await chat.named_in(conversation, name)
    else:
        if (refused := await _unregistered(visit, name)) is not None:
            return {"success": False, "error": refused}
        chat.chosen_name = name
        who = await chat.identity()
    return {
        "success": True,
        "message": f"This chat is {who.display_name} now.",
        "agent_identity": public.identity(who, chat.instance),
    }


async def _unregistered(visit: Visit, name: str) -> str | None:
    """Return why the server of the rooms does not take the name, if it does not."""
    if (directory := visit.client.onboarding.directory) is None:
        return None
    owner = await visit.client.chat.owner()
    try:
        await directory.server.register_agent(names.base_name(name), name, owner.label)
    except LetAgentsError as error:
        return str(error)
    return None


def _checked_name(text: str) -> str:
    try:
        return names.checked_display_name(text)
    except Malformed as error:
        raise Malformed(
            f"name: {quoted(text)} is not a name that a room can show.",
            remedy="Pass a name of 2 to 64 characters, without control characters and without |.",
        ) from error


def _no_room() -> Result:
    error = NoRoom()
    return {"success": False, "error": error.happened, "hint": error.remedy}


def _nobody() -> Result:
    return {
        "success": False,
        "error": "The call does not say which session to end.",
        "hint": "Pass worker_id, or the agent_session_id that register_agent_session returned.",
    }
