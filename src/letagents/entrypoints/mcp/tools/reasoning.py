"""The tool with which an agent lets its reasoning be seen. (Source: mcp-tools 9.1.)"""

from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.tool import Tool
from letagents.entrypoints.mcp.tools import schemas
from letagents.entrypoints.mcp.tools.later import calling
from letagents.entrypoints.mcp.tools.usual import ROOM_ID, SESSION_ID, WORKER_ID


def _line(name: str, doc: str = "", *, required: bool = False) -> Parameter:
    ceiling = 4_000
    return Parameter(name, "string", doc, required=required, ceiling=ceiling, blank=True)


REASONING = (
    Tool(
        name="post_reasoning",
        purpose="Show where your thinking is, replacing what you showed before; 280 characters a "
        "line.",
        parameters=(
            _line("summary", required=True),
            _line("goal"),
            _line("checking"),
            _line("hypothesis"),
            _line("blocker"),
            _line("next_action"),
            _line("milestone", "Also said in the room."),
            Parameter("confidence", "number", minimum=0, maximum=1),
            Parameter("status", "string", enum=("idle", "working", "reviewing", "blocked")),
            ROOM_ID,
            WORKER_ID,
            SESSION_ID,
        ),
        result=schemas.result(
            {"success": schemas.BOOLEAN},
            {
                "error": schemas.STRING,
                "room_id": schemas.STRING,
                "session": schemas.OBJECT,
                "update": schemas.OBJECT,
                "milestone_message_id": schemas.TEXT_OR_NULL,
                "agent_identity": schemas.IDENTITY,
            },
        ),
        read_only=False,
        idempotent=False,
        open_world=False,
        run=calling("memory_calls", "post_reasoning"),
    ),
)
