"""Tools that need a supervisor or a server: they are there, and say that this version has none."""

from letagents.domain.errors import NotAvailable
from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.tool import Arguments, Progress, Run, Tool
from letagents.entrypoints.mcp.tools import schemas
from letagents.entrypoints.mcp.tools.usual import SESSION_ID, WORKER_ID
from letagents.entrypoints.mcp.visit import Visit

Result = dict[str, object]

REPLY_LIMIT = 32_768
"""Bytes of a turn's reply."""


def _saying(error: str, hint: str) -> Run[Visit]:
    async def run(_visit: Visit, _arguments: Arguments, _progress: Progress) -> Result:
        return {"success": False, "error": error, "hint": hint}

    return run


def _outside_a_turn(name: str) -> Run[Visit]:
    async def run(_visit: Visit, _arguments: Arguments, _progress: Progress) -> Result:
        raise NotAvailable(
            f"{name} requires the active daemon-owned room turn.",
            remedy="Call send_message or send_thread_message instead.",
        )

    return run


_NO_CAPTURE = _saying(
    "Captured workspaces are kept by a server with rooms, and this version has none.",
    "Say with send_message what was changed, and in which commit.",
)
_SUCCESS = schemas.result({"success": schemas.BOOLEAN})


def _tool(name: str, purpose: str, run: Run[Visit], *parameters: Parameter) -> Tool[Visit]:
    return Tool(
        name=name,
        purpose=purpose,
        parameters=parameters,
        result=_SUCCESS,
        read_only=False,
        idempotent=False,
        open_world=False,
        run=run,
    )


CAPTURE = (
    _tool(
        "begin_workspace_capture",
        "Needs rooms on a server.",
        _NO_CAPTURE,
        Parameter("room_id", "string", required=True, ceiling=512),
        Parameter("cwd", "string", ceiling=4096),
        WORKER_ID,
        SESSION_ID,
    ),
    _tool(
        "publish_workspace_capture",
        "Needs rooms on a server.",
        _NO_CAPTURE,
        Parameter("room_id", "string", required=True, ceiling=512),
        Parameter("capture_id", "string", required=True, ceiling=36),
        Parameter("summary", "string", required=True, max_length=400, free_text=True),
        WORKER_ID,
        SESSION_ID,
    ),
)

TURN = (
    _tool(
        "set_reply_thread",
        "Answer this turn in a thread. Ordinary top-level questions are answered in the main room "
        "by default; replies in an existing thread stay there by themselves.",
        _outside_a_turn("set_reply_thread"),
    ),
    _tool(
        "complete_room_turn",
        "End this turn with its reply, or with none.",
        _outside_a_turn("complete_room_turn"),
        Parameter("outcome", "string", required=True, enum=("reply", "no_reply")),
        Parameter("text", "string", max_length=REPLY_LIMIT, free_text=True),
    ),
)
