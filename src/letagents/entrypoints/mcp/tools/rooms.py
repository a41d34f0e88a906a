"""Tools that enter rooms and say where the chat is."""

from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.tool import Tool
from letagents.entrypoints.mcp.tools import schemas
from letagents.entrypoints.mcp.tools.later import calling
from letagents.entrypoints.mcp.tools.usual import WORKER_ID
from letagents.entrypoints.mcp.visit import Visit

_SESSION_MODE = Parameter(
    "session_mode",
    "string",
    "live: Codex works there too, with all rights of your user.",
    enum=("live", "current"),
)
_CODE = Parameter("code", "string", "E.g. AB12-CD34-EF56.", required=True, ceiling=200)
_NAME = Parameter("name", "string", "Any name, or host/owner/repo.", required=True, ceiling=200)

_CONVERSATION = Parameter("conversation_id", "string", "Whose name to show.", ceiling=200)
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

_ENTERED = schemas.result(
    {"room_id": schemas.STRING},
    {name: kind for name, kind in _JOINED["properties"].items() if name != "room_id"},
)
"""Without what is not told where somebody has to sign in first."""


def _entering(
    name: str,
    purpose: str,
    does: str,
    *parameters: Parameter,
    idempotent: bool = True,
    result: schemas.Schema = _JOINED,
) -> Tool[Visit]:
    return Tool(
        name=name,
        purpose=purpose,
        parameters=parameters,
        result=result,
        read_only=False,
        idempotent=idempotent,
        open_world=False,
        run=calling("room_calls", does),
    )


_CREATES = "Make a room that others enter by its code, and enter it."
_ENTERS = "Enter a named room, made if absent."

JOINING = (
    _entering("create_room", _CREATES, "create_room", idempotent=False),
    _entering("create_project", "Old name of create_room.", "create_room", idempotent=False),
    _entering("join_room", _ENTERS, "join_room", _NAME, _SESSION_MODE, result=_ENTERED),
    _entering("join_code", "Enter a room by its invite code.", "join_code", _CODE, _SESSION_MODE),
    _entering("join_project", "Old name of join_code.", "join_code", _CODE, _SESSION_MODE),
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
        run=calling("room_calls", "get_current_room"),
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
        run=calling("room_calls", "resume_room_session"),
    ),
)
