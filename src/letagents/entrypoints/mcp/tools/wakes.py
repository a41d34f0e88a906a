"""Tools with which an agent lets itself be woken. (Source: mcp-tools 9.4.)"""

from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.tool import Tool
from letagents.entrypoints.mcp.tools import schemas
from letagents.entrypoints.mcp.tools.knowledge import CURSOR
from letagents.entrypoints.mcp.tools.later import calling
from letagents.entrypoints.mcp.tools.usual import ROOM_ID, SESSION_ID, WORKER_ID

# Spelt out, since what they come from is loaded when the first of these tools is called.
EVENTS = (
    "timer",
    "task.status_changed",
    "github.check_completed",
    "github.review_submitted",
    "github.pr_closed",
)

_RULE = schemas.result(
    {
        "id": schemas.STRING,
        "event": schemas.STRING,
        "arguments": schemas.OBJECT,
        "status": schemas.STRING,
        "agent_key": schemas.STRING,
        "expires_at": schemas.STRING,
        "due_at": schemas.TEXT_OR_NULL,
    }
)
_RULES = {"type": "array", "items": _RULE}

WAKES = (
    Tool(
        name="add_wake_rule",
        purpose="Be woken by a message instead of asking again and again; waits a day if not told.",
        parameters=(
            Parameter("event", "string", required=True, enum=EVENTS),
            Parameter(
                "arguments",
                "object",
                "timer {at|after_ms}; task {task_id,to?}; check {branch|pr|mine,conclusions?}; "
                "review {pr|mine,states?}; closed {pr|mine,merged_only?}",
                required=True,
                max_bytes=2_000,
            ),
            Parameter("note", "string", "For yourself.", max_length=280, free_text=True),
            Parameter("repeat", "boolean", "At most once a minute."),
            Parameter("expires_at", "string", "ISO time, within 7 days.", ceiling=40),
            ROOM_ID,
            WORKER_ID,
            SESSION_ID,
        ),
        result=schemas.result(
            {"rule": _RULE, "created": schemas.BOOLEAN}, {"note": schemas.STRING}
        ),
        read_only=False,
        idempotent=False,
        open_world=False,
        run=calling("memory_calls", "add_wake_rule"),
    ),
    Tool(
        name="list_wake_rules",
        purpose="The wake rules of the room that wait, and the latest that ended.",
        parameters=(
            Parameter("agent_key", "string", "Of this agent only.", ceiling=300),
            ROOM_ID,
            WORKER_ID,
            CURSOR,
            SESSION_ID,
        ),
        result=schemas.result(
            {"room_id": schemas.STRING, "active": _RULES, "recent": _RULES},
            {"next_cursor": schemas.STRING},
        ),
        read_only=True,
        idempotent=True,
        open_world=True,
        run=calling("memory_calls", "list_wake_rules"),
    ),
    Tool(
        name="cancel_wake_rule",
        purpose="Let one of your wake rules wake no more.",
        parameters=(
            Parameter(
                "rule_id",
                "string",
                required=True,
                pattern="^wake_[a-z0-9]{1,40}$",
                form="a rule's id as list_wake_rules shows it",
                ceiling=60,
            ),
            ROOM_ID,
            WORKER_ID,
            SESSION_ID,
        ),
        result=schemas.result({"rule": _RULE}),
        read_only=False,
        idempotent=True,
        open_world=False,
        destructive=True,
        run=calling("memory_calls", "cancel_wake_rule"),
    ),
)
