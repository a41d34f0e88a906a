"""The tool that finds what was said."""

from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.tool import Tool
from letagents.entrypoints.mcp.tools import schemas
from letagents.entrypoints.mcp.tools.later import calling
from letagents.entrypoints.mcp.tools.usual import ROOM_ID, SESSION_ID, WORKER_ID

_HIT = schemas.result(
    {
        "id": schemas.STRING,
        "sender": schemas.STRING,
        "timestamp": schemas.STRING,
        "snippet": schemas.STRING,
    },
    {"thread_root_id": schemas.STRING},
)

SEARCH = (
    Tool(
        name="search_messages",
        purpose="Find messages of the room, newest first. All words must be in one.",
        parameters=(
            Parameter(
                "words",
                "string",
                'Whole words, "a phrase", begin*.',
                max_length=400,
                free_text=True,
            ),
            ROOM_ID,
            WORKER_ID,
            Parameter("author", "string", "Their name.", ceiling=512),
            Parameter("thread_parent_id", "string", "A message of the thread.", ceiling=40),
            Parameter("since", "string", "ISO time.", ceiling=40),
            Parameter("until", "string", "ISO time.", ceiling=40),
            Parameter("limit", "integer", "Default 20.", minimum=1, maximum=50),
            Parameter("cursor", "string", "next_cursor.", ceiling=40),
            SESSION_ID,
        ),
        result=schemas.result(
            {"room_id": schemas.STRING, "hits": {"type": "array", "items": _HIT}},
            {"next_cursor": schemas.STRING},
        ),
        read_only=True,
        idempotent=True,
        open_world=True,
        run=calling("search_calls", "search_messages"),
    ),
)
