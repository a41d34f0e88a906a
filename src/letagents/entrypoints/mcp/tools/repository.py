"""Tools that tell which room goes with a folder, choose one for it, and ask who may see it."""

from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.tool import Tool
from letagents.entrypoints.mcp.tools import schemas
from letagents.entrypoints.mcp.tools.later import calling

CWD = Parameter("cwd", "string", "Default: where this server runs.", ceiling=4096)


INSPECTION = (
    Tool(
        name="check_repo",
        purpose="Which room goes with a folder, and why.",
        parameters=(CWD,),
        result=schemas.result(
            {
                "cwd": schemas.STRING,
                "repo_context_status": schemas.STRING,
                "detected_room_from_context": schemas.TEXT_OR_NULL,
                "current_room_scope": schemas.STRING,
                "warning": schemas.TEXT_OR_NULL,
                "join_hint": schemas.TEXT_OR_NULL,
            }
        ),
        read_only=True,
        idempotent=True,
        open_world=False,
        run=calling("repository_calls", "check_repo"),
    ),
)

SETTING_UP = (
    Tool(
        name="initialize_repo",
        purpose="Write .letagents.json, which chooses the room of this checkout, and enter it.",
        parameters=(
            Parameter("room", "string", "Default: the remote's.", ceiling=200),
            CWD,
        ),
        result=schemas.result(
            {"success": schemas.BOOLEAN},
            {"created": schemas.STRING, "room_id": schemas.STRING, "joined": schemas.BOOLEAN},
        ),
        read_only=False,
        idempotent=False,
        open_world=False,
        run=calling("repository_calls", "initialize_repo"),
    ),
)

VISIBILITY = (
    Tool(
        name="check_repo_visibility",
        purpose="Ask GitHub, GitLab or Bitbucket, as a stranger, whether the repository is public.",
        parameters=(CWD,),
        result=schemas.result(
            {},
            {"visibility": schemas.STRING, "roomType": schemas.STRING, "error": schemas.STRING},
        ),
        read_only=True,
        idempotent=True,
        open_world=True,
        run=calling("repository_calls", "check_repo_visibility"),
    ),
)
