"""Tools for a Codex that works in a room by itself, on this machine."""

from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.tool import Tool
from letagents.entrypoints.mcp.tools import schemas
from letagents.entrypoints.mcp.tools.later import calling
from letagents.entrypoints.mcp.visit import Visit

_SESSION = Parameter("session_id", "string", "Default: the current one.", ceiling=200)


def _tool(
    name: str, purpose: str, *parameters: Parameter, shows: schemas.Schema, read_only: bool = False
) -> Tool[Visit]:
    return Tool(
        name=name,
        purpose=purpose,
        parameters=parameters,
        result=schemas.result({"success": schemas.BOOLEAN}, shows),
        read_only=read_only,
        idempotent=True,
        open_world=True,
        run=calling("codex_calls", name),
    )


_SHOWN = {"session": schemas.OBJECT, "error": schemas.STRING}

CODEX = (
    _tool(
        "start_local_codex_session",
        "Start Codex here as a worker of a room, with all rights of your user and nobody to ask; "
        "do so only when they want it.",
        Parameter("room", "string", "Name or code.", required=True, ceiling=200),
        Parameter("cwd", "string", "Where it works.", ceiling=4096),
        Parameter("stop_phrase", "string", "Default: /stop-codex-room.", ceiling=200),
        Parameter("max_minutes", "number", "0: no limit.", minimum=0),
        shows={"local_codex_session": schemas.OBJECT, "room": schemas.OBJECT},
    ),
    _tool(
        "status_local_codex_session",
        "How such a session is, and what it did last.",
        _SESSION,
        shows=_SHOWN,
        read_only=True,
    ),
    _tool(
        "stop_local_codex_session",
        "Stop such a session.",
        _SESSION,
        Parameter("shutdown_server", "boolean", "Its Codex server too, if yours."),
        shows=_SHOWN,
    ),
)
