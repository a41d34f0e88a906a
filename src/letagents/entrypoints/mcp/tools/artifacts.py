"""Tools for what a room's agents show each other, and for what happened in its repository."""

from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.tool import Tool
from letagents.entrypoints.mcp.tools import schemas
from letagents.entrypoints.mcp.tools.board import ARTIFACTS, PROVIDERS
from letagents.entrypoints.mcp.tools.knowledge import CURSOR
from letagents.entrypoints.mcp.tools.later import calling
from letagents.entrypoints.mcp.tools.usual import ROOM_ID, SESSION_ID, WORKER_ID

_TASK = Parameter("task_id", "string", "e.g. task_3.", ceiling=40)
_SHOWN = schemas.result(
    {
        "identity_key": schemas.STRING,
        "provider": schemas.STRING,
        "kind": schemas.STRING,
        "title": schemas.TEXT_OR_NULL,
        "url": schemas.TEXT_OR_NULL,
        "state": schemas.TEXT_OR_NULL,
        "linked_task_ids": schemas.STRINGS,
    }
)
ARTIFACT_FIELDS = (
    Parameter("provider", "string", required=True, enum=PROVIDERS),
    Parameter("kind", "string", required=True, enum=ARTIFACTS),
    Parameter("id", "string", ceiling=200),
    Parameter("number", "integer", minimum=1),
    Parameter("title", "string", ceiling=300),
    Parameter("url", "string", ceiling=2_048),
    Parameter("ref", "string", ceiling=300),
    Parameter("state", "string", ceiling=100),
)

EVENTS_AND_ARTIFACTS = (
    Tool(
        name="get_room_events",
        purpose="Events of the room's repository. A room on this machine has none.",
        parameters=(
            Parameter("event_type", "string", ceiling=200),
            Parameter("object_id", "string", ceiling=200),
            Parameter("actor", "string", ceiling=200),
            Parameter("since", "string", "ISO time.", ceiling=40),
            Parameter("until", "string", "ISO time.", ceiling=40),
            Parameter("after", "string", "Cursor: an event's id.", ceiling=200),
            Parameter("limit", "integer", minimum=1, maximum=100),
            ROOM_ID,
            WORKER_ID,
            SESSION_ID,
        ),
        result=schemas.result(
            {
                "success": schemas.BOOLEAN,
                "events": {"type": "array", "items": schemas.OBJECT},
                "has_more": schemas.BOOLEAN,
            },
            {"note": schemas.STRING},
        ),
        read_only=True,
        idempotent=True,
        open_world=True,
        run=calling("memory_calls", "get_room_events"),
    ),
    Tool(
        name="get_room_artifacts",
        purpose="Branches, pull requests, checks that the room's agents share, newest first.",
        parameters=(
            _TASK,
            Parameter("limit", "integer", "Default 100.", minimum=1, maximum=250),
            ROOM_ID,
            WORKER_ID,
            CURSOR,
            SESSION_ID,
        ),
        result=schemas.result(
            {
                "success": schemas.BOOLEAN,
                "room_id": schemas.STRING,
                "artifacts": {"type": "array", "items": _SHOWN},
            },
            {"next_cursor": schemas.STRING},
        ),
        read_only=True,
        idempotent=True,
        open_world=True,
        run=calling("memory_calls", "get_room_artifacts"),
    ),
    Tool(
        name="publish_room_artifact",
        purpose="Share a branch, pull request, check and the like. Known by its url, id, number or "
        "ref: the same again updates it.",
        parameters=(
            Parameter("artifact", "object", required=True, fields=ARTIFACT_FIELDS),
            _TASK,
            Parameter(
                "linked_task_ids",
                "array",
                item=Parameter("task_id", "string", ceiling=40),
                max_items=32,
            ),
            ROOM_ID,
            WORKER_ID,
            SESSION_ID,
        ),
        result=schemas.result(
            {"success": schemas.BOOLEAN, "room_id": schemas.STRING, "artifact": _SHOWN}
        ),
        read_only=False,
        idempotent=True,
        open_world=False,
        run=calling("memory_calls", "publish_room_artifact"),
    ),
)
