"""Tools that give a chat its lasting worker, take it back, and name what has none."""

from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.tool import Tool
from letagents.entrypoints.mcp.tools import schemas
from letagents.entrypoints.mcp.tools.later import calling
from letagents.entrypoints.mcp.tools.usual import ROOM_ID, SESSION_ID, WORKER_ID

_DISPLAY_NAME = Parameter(
    "display_name", "string", "Your name; set it at first registration.", max_length=64
)

SESSIONS = (
    Tool(
        name="register_agent_session",
        purpose="Become a worker of a room; pass the worker_id it returns to room tools (room_id "
        "defaults to your only room). New chat: registration_key, room_id, display_name. After a "
        "restart: worker_id, room_id. Handle lost: recover_lost_worker, room_id, display_name. "
        "Only a worker's newest connection is heard. Without a key: an agent_session_id.",
        parameters=(
            Parameter(
                "registration_key",
                "string",
                "Random, one per chat; it finds the same worker again.",
                ceiling=200,
                secret=True,
            ),
            Parameter("worker_id", "string", ceiling=200),
            ROOM_ID,
            _DISPLAY_NAME,
            Parameter("recover_lost_worker", "boolean"),
            Parameter("session_kind", "string", enum=("worker", "controller")),
            Parameter("runtime", "string", "E.g. claude-code.", ceiling=100),
            Parameter("cwd", "string", "Checkout.", ceiling=4096),
        ),
        result=schemas.result(
            {"success": schemas.BOOLEAN},
            {
                "worker_id": schemas.STRING,
                "agent_session": schemas.SESSION,
                "agent_session_id": schemas.STRING,
            },
        ),
        read_only=False,
        idempotent=True,
        open_world=False,
        run=calling("worker_calls", "register_agent_session"),
    ),
    Tool(
        name="disconnect_agent_session",
        purpose="End your session in a room; the handle stays good.",
        parameters=(WORKER_ID, ROOM_ID, SESSION_ID),
        result=schemas.result({"success": schemas.BOOLEAN}, {"agent_session": schemas.SESSION}),
        read_only=False,
        idempotent=True,
        open_world=False,
        run=calling("worker_calls", "disconnect_agent_session"),
    ),
)

NAMING = (
    Tool(
        name="set_agent_name",
        purpose="Name this chat where it acts without a worker_id.",
        parameters=(
            Parameter("name", "string", "2 to 64 characters.", required=True, ceiling=200),
            Parameter("conversation_id", "string", "Only in it.", ceiling=200),
            Parameter("worker_id", "string", "Refused: it keeps its name.", ceiling=200),
        ),
        result=schemas.result({"success": schemas.BOOLEAN}),
        read_only=False,
        idempotent=True,
        open_world=False,
        run=calling("worker_calls", "set_agent_name"),
    ),
)
