"""Tools with which agents claim the files that they work on."""

from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.tool import Tool
from letagents.entrypoints.mcp.tools import schemas
from letagents.entrypoints.mcp.tools.later import calling
from letagents.entrypoints.mcp.tools.usual import EPOCH, ROOM_ID, SESSION_ID, WORKER_ID

_WHO = (ROOM_ID, WORKER_ID, SESSION_ID)
_CLAIM_ID = Parameter("claim_id", "string", ceiling=40)
_CLAIM = schemas.result(
    {
        "claim_id": schemas.STRING,
        "task_id": schemas.STRING,
        "repository": schemas.STRING,
        "patterns": schemas.STRINGS,
        "mode": schemas.STRING,
        "status": schemas.STRING,
        "holder": schemas.STRING,
        "agent_key": schemas.STRING,
        "epoch": schemas.NUMBER,
        "since": schemas.STRING,
    },
    {"is_held": schemas.BOOLEAN},
)
_CLAIMS = {"type": "array", "items": _CLAIM}

PATHS = (
    Tool(
        name="claim_paths",
        purpose="Claim files for your task, as long as you hold it; git then refuses others' "
        "commits to them (letagents guard). All or nothing.",
        parameters=(
            Parameter("task_id", "string", required=True, ceiling=40),
            Parameter(
                "patterns",
                "array",
                "From the repository's root: src/app.py, src/api/, src/**/test_*.py.",
                required=True,
                item=Parameter("pattern", "string", ceiling=512),
                min_items=1,
                max_items=64,
            ),
            Parameter("mode", "string", "Default exclusive.", enum=("exclusive", "shared")),
            Parameter("cwd", "string", "Your checkout, if not here.", ceiling=4096),
            Parameter("repository", "string", "Instead of cwd: its remote.", ceiling=512),
            EPOCH,
            *_WHO,
        ),
        result=schemas.result({"success": schemas.BOOLEAN, "claim": _CLAIM}),
        read_only=False,
        idempotent=True,
        open_world=False,
        run=calling("path_calls", "claim_paths"),
    ),
    Tool(
        name="release_paths",
        purpose="Let your claims for a task go, or one of them.",
        parameters=(
            Parameter("task_id", "string", required=True, ceiling=40),
            _CLAIM_ID,
            EPOCH,
            *_WHO,
        ),
        result=schemas.result({"success": schemas.BOOLEAN, "released": schemas.STRINGS}),
        read_only=False,
        idempotent=False,
        open_world=False,
        run=calling("path_calls", "release_paths"),
    ),
    Tool(
        name="list_path_claims",
        purpose="Who has claimed which files.",
        parameters=(
            Parameter("path", "string", "Only those that match it.", ceiling=4096),
            Parameter("task_id", "string", ceiling=40),
            Parameter("after", "string", "Cursor: next_after.", ceiling=40),
            *_WHO,
        ),
        result=schemas.result(
            {"success": schemas.BOOLEAN, "room_id": schemas.STRING, "claims": _CLAIMS},
            {"has_more": schemas.BOOLEAN, "next_after": schemas.STRING},
        ),
        read_only=True,
        idempotent=True,
        open_world=True,
        run=calling("path_calls", "list_path_claims"),
    ),
)
