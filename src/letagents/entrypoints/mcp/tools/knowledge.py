"""Tools for what a room knows. What they take is bounded in the domain. (Source: mcp-tools 9.2.)"""

from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.tool import Tool
from letagents.entrypoints.mcp.tools import schemas
from letagents.entrypoints.mcp.tools.later import calling
from letagents.entrypoints.mcp.tools.usual import ROOM_ID, SESSION_ID, WORKER_ID

# Spelt out, since what they come from is loaded when the first of these tools is called.
CURSOR = Parameter("cursor", "string", "next_cursor.", ceiling=2_200)

_ID = Parameter(
    "client_id",
    "string",
    "New id, 8-80 of A-Z a-z 0-9 _ -; again with the same content it changes nothing.",
    required=True,
    ceiling=200,
)
_TITLE = Parameter("title", "string", required=True, max_length=160)
_BODY = Parameter("body", "string", required=True, max_length=8_000, free_text=True)
_SOURCES = (
    Parameter("source_message_id", "string", "Where it was said, e.g. msg_3.", ceiling=40),
    Parameter("source_url", "string", ceiling=2_048),
)


FACTS = ("goal", "decision", "constraint", "term", "reference")
REQUESTS = ("question", "decision", "approval", "review")


def _category(known: tuple[str, ...]) -> Parameter:
    return Parameter("category", "string", required=True, enum=known)


_RECORD = schemas.result(
    {
        "id": schemas.STRING,
        "type": schemas.STRING,
        "category": schemas.STRING,
        "title": schemas.STRING,
        "body": schemas.STRING,
        "version": schemas.NUMBER,
        "author": schemas.OBJECT,
        "archived": schemas.BOOLEAN,
        "response": schemas.nullable(schemas.OBJECT),
    }
)
_RECORDS = schemas.result(
    {
        "room_id": schemas.STRING,
        "records": {"type": "array", "items": _RECORD},
        "truncated": schemas.BOOLEAN,
    },
    {"next_cursor": schemas.STRING},
)
_ADDED = schemas.result({"record": _RECORD})

KNOWLEDGE = (
    Tool(
        name="get_room_memory",
        purpose="The room's lasting facts: goals, decisions, constraints, terms, references.",
        parameters=(ROOM_ID, WORKER_ID, CURSOR, SESSION_ID),
        result=_RECORDS,
        read_only=True,
        idempotent=True,
        open_world=True,
        run=calling("memory_calls", "get_room_memory"),
    ),
    Tool(
        name="remember_room_fact",
        purpose="Keep a fact for all who come later. Only a human being can change it.",
        parameters=(
            _ID,
            _category(FACTS),
            _TITLE,
            _BODY,
            *_SOURCES,
            ROOM_ID,
            WORKER_ID,
            SESSION_ID,
        ),
        result=_ADDED,
        read_only=False,
        idempotent=True,
        open_world=False,
        run=calling("memory_calls", "remember_room_fact"),
    ),
    Tool(
        name="request_human_input",
        purpose="Ask the room's people. The answer comes as a message to you: go on meanwhile, or "
        "wait for it.",
        parameters=(
            _ID,
            _category(REQUESTS),
            _TITLE,
            _BODY,
            Parameter(
                "recommendation",
                "string",
                "What you would do.",
                max_length=2_000,
                free_text=True,
            ),
            Parameter(
                "unblocks",
                "string",
                "What waits for it.",
                max_length=1_000,
                free_text=True,
            ),
            *_SOURCES,
            ROOM_ID,
            WORKER_ID,
            SESSION_ID,
        ),
        result=_ADDED,
        read_only=False,
        idempotent=True,
        open_world=False,
        run=calling("memory_calls", "request_human_input"),
    ),
    Tool(
        name="get_human_requests",
        purpose="What was asked of the room's people, the unanswered first, with their answers.",
        parameters=(ROOM_ID, WORKER_ID, CURSOR, SESSION_ID),
        result=_RECORDS,
        read_only=True,
        idempotent=True,
        open_world=True,
        run=calling("memory_calls", "get_human_requests"),
    ),
    Tool(
        name="get_room_guidelines",
        purpose="What the room's people wish from agents in it.",
        parameters=(ROOM_ID, WORKER_ID, SESSION_ID),
        result=schemas.result(
            {
                "room_id": schemas.STRING,
                "guidelines": schemas.TEXT_OR_NULL,
                "updated_by": schemas.TEXT_OR_NULL,
                "updated_at": schemas.TEXT_OR_NULL,
                "inherited_from_room_id": schemas.TEXT_OR_NULL,
                "max_bytes": schemas.NUMBER,
                "note": schemas.STRING,
                "agent_reply_order": schemas.STRING,
                "can_manage": schemas.BOOLEAN,
            }
        ),
        read_only=True,
        idempotent=True,
        open_world=True,
        run=calling("memory_calls", "get_room_guidelines"),
    ),
)
