"""Tools for signing in at a server with rooms. This version has none, and they say so."""

from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.tool import Tool
from letagents.entrypoints.mcp.tools import schemas
from letagents.entrypoints.mcp.tools.later import calling
from letagents.entrypoints.mcp.tools.repository import CWD
from letagents.entrypoints.mcp.tools.usual import WORKER_ID
from letagents.entrypoints.mcp.visit import Visit

_ROOM_ID = Parameter("room_id", "string", ceiling=200)


def _tool(name: str, purpose: str, *parameters: Parameter) -> Tool[Visit]:
    return Tool(
        name=name,
        purpose=purpose,
        parameters=parameters,
        result=schemas.result({"success": schemas.BOOLEAN}),
        read_only=False,
        idempotent=True,
        open_world=False,
        run=calling("onboarding_calls", name),
    )


ONBOARDING = (
    _tool(
        "start_device_auth",
        "Begin to sign in at a server.",
        _ROOM_ID,
        Parameter("force", "boolean"),
        WORKER_ID,
    ),
    _tool(
        "poll_device_auth",
        "Go on with it.",
        Parameter("request_id", "string", ceiling=200),
        _ROOM_ID,
        Parameter("auto_join", "boolean"),
        WORKER_ID,
    ),
    _tool("clear_saved_auth", "Forget who is signed in on this machine."),
    Tool(
        name="get_onboarding_status",
        purpose="How this machine is set up, and what to do next.",
        parameters=(CWD,),
        result=schemas.result(
            {
                "authenticated": schemas.BOOLEAN,
                "auth_source": schemas.STRING,
                "next_step": schemas.STRING,
            }
        ),
        read_only=True,
        idempotent=True,
        open_world=False,
        run=calling("onboarding_calls", "get_onboarding_status"),
    ),
)
