"""Tools that read a room and wait for what is said in it."""

from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.tool import Tool
from letagents.entrypoints.mcp.tools import schemas
from letagents.entrypoints.mcp.tools.later import calling
from letagents.entrypoints.mcp.tools.usual import ROOM_ID, SESSION_ID, WORKER_ID

_PAGE = {
    "room_id": schemas.STRING,
    "messages": schemas.MESSAGES,
}
_LEFT_OUT = {
    "truncated": schemas.BOOLEAN,
    "omitted_message_count": schemas.NUMBER,
    "next_before_message_id": schemas.STRING,
}

LISTENING = (
    Tool(
        name="read_messages",
        purpose="The newest messages, oldest first. Moves no cursor.",
        parameters=(
            ROOM_ID,
            Parameter("limit", "integer", "Default 100, most 500 (0: 500).", minimum=0),
            Parameter(
                "before_message_id",
                "string",
                "Page back: the next_before_message_id of a result.",
                ceiling=40,
            ),
            Parameter("message_id", "string", "Only this message.", ceiling=40),
            Parameter("text_offset", "integer", "Its text from next_text_offset on.", minimum=0),
            WORKER_ID,
            SESSION_ID,
        ),
        result=schemas.result(_PAGE, _LEFT_OUT),
        read_only=True,
        idempotent=True,
        open_world=True,
        run=calling("listening_calls", "read_messages"),
    ),
    Tool(
        name="wait_for_messages",
        purpose="Long poll: returns when messages come after the cursor, or empty at the timeout, "
        "which is not an end: call again, with last_observed_message_id as cursor even if nothing "
        "is shown. Those labelled silent are skipped. Answer thread replies in their "
        "thread. Only legacy/manual workers may nudge legacy/manual participants, "
        "never about or from supervised workers.",
        parameters=(
            ROOM_ID,
            WORKER_ID,
            Parameter(
                "after_message_id",
                "string",
                "Cursor, e.g. msg_3; default: the most recent 100.",
                ceiling=40,
            ),
            Parameter(
                "timeout",
                "number",
                "Milliseconds; default 30000, most 180000 (LETAGENTS_POLL_MAX_MS).",
                minimum=0,
            ),
            SESSION_ID,
        ),
        result=schemas.result(
            _PAGE,
            {
                "last_observed_message_id": schemas.STRING,
                "skipped_message_ids": schemas.STRINGS,
                "skipped_message_count": schemas.NUMBER,
                **_LEFT_OUT,
            },
        ),
        read_only=True,
        idempotent=True,
        open_world=True,
        run=calling("listening_calls", "wait_for_messages", tells_progress=True),
    ),
)
