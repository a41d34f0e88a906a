"""Tools that enter rooms and say where the chat is."""

from letagents.application.places import Entered
from letagents.domain import rooms
from letagents.domain.errors import NotAvailable, UnknownRoom
from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.tool import Progress, Run, Tool
from letagents.entrypoints.mcp.tools import schemas
from letagents.entrypoints.mcp.tools.arguments import (
    WORKER_ID,
    Arguments,
    claim,
    named_room,
    naming,
    text_of,
)
from letagents.entrypoints.mcp.visit import Visit
from letagents.wire import public

Result = dict[str, object]

_SESSION_MODE = Parameter(
    "session_mode", "string", "live needs a supervisor.", enum=("live", "current")
)
_CODE = Parameter("code", "string", "E.g. AB12-CD34-EF56.", required=True, ceiling=200)
_NAME = Parameter("name", "string", "Any name, or host/owner/repo.", required=True, ceiling=200)

_CONVERSATION = Parameter("conversation_id", "string", "See set_agent_name.", ceiling=200)
_SAVED_ROOM = Parameter("room_id", "string", "Default: the last.", ceiling=200)

_JOINED = schemas.result(
    {
        **schemas.ROOM,
        "joined_via": schemas.STRING,
        "agent_identity": schemas.IDENTITY,
        **schemas.PROMPT,
    },
    {"session_mode": schemas.STRING},
)


async def create_room(visit: Visit, _arguments: Arguments, _progress: Progress) -> Result:
    return await _welcome(visit, await visit.client.places.create())


async def join_code(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
    mode = _mode(arguments)
    room_id = rooms.invite_code(str(arguments["code"]))
    with naming("code"):
        entered = await visit.client.places.join(room_id, via="join_code", create=False)
    return {**await _welcome(visit, entered), "session_mode": mode}


async def join_room(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
    mode = _mode(arguments)
    room_id = named_room(str(arguments["name"]), "name")
    with naming("name"):
        entered = await visit.client.places.join(room_id)
    return {**await _welcome(visit, entered), "session_mode": mode}


async def get_current_room(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
    here = visit.client.places.current
    codex: Result = {"current_local_codex_session": None, "local_codex_session_count": 0}
    if here is None:
        message = "This chat has joined no room. Call join_room(name=...) or join_code(code=...)."
        return {"connected": False, "message": message, **codex}
    auth = await visit.client.chat.auth()
    conversation = text_of(arguments, "conversation_id")
    return {
        "connected": True,
        **await _welcome(visit, here, conversation),
        **codex,
        "auth": auth,
    }


async def resume_room_session(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
    client = visit.client
    asked = claim(arguments)
    shown = await client.callers.shown(asked)
    try:
        entered, before = await client.places.resume(
            shown.session.room_id if shown is not None else asked.room_id
        )
    except UnknownRoom as error:
        return {"success": False, "error": str(error)}
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


def _mode(arguments: Arguments) -> str:
    mode = str(arguments.get("session_mode", "current"))
    if mode == "live":
        raise NotAvailable(
            "session_mode: live needs a supervisor that runs agents, and none serves this chat.",
            remedy="Leave session_mode out.",
        )
    return mode


def _entering(
    name: str, purpose: str, run: Run[Visit], *parameters: Parameter, idempotent: bool = True
) -> Tool[Visit]:
    return Tool(
        name=name,
        purpose=purpose,
        parameters=parameters,
        result=_JOINED,
        read_only=False,
        idempotent=idempotent,
        open_world=False,
        run=run,
    )


_CREATES = "Make a room that others enter by its code, and enter it."

JOINING = (
    _entering("create_room", _CREATES, create_room, idempotent=False),
    _entering("create_project", "Old name of create_room.", create_room, idempotent=False),
    _entering("join_room", "Enter a named room, made if absent.", join_room, _NAME, _SESSION_MODE),
    _entering("join_code", "Enter a room by its invite code.", join_code, _CODE, _SESSION_MODE),
    _entering("join_project", "Old name of join_code.", join_code, _CODE, _SESSION_MODE),
)

INSPECTION = (
    Tool(
        name="get_current_room",
        purpose="Where this chat is, and who.",
        parameters=(_CONVERSATION,),
        result=schemas.result({"connected": schemas.BOOLEAN}),
        read_only=True,
        idempotent=True,
        open_world=False,
        run=get_current_room,
    ),
)

RESUMING = (
    Tool(
        name="resume_room_session",
        purpose="Enter again a room that this machine was in.",
        parameters=(_SAVED_ROOM, WORKER_ID),
        result=schemas.result({"success": schemas.BOOLEAN}),
        read_only=False,
        idempotent=True,
        open_world=False,
        run=resume_room_session,
    ),
)
