"""Tools that say something in a room."""

from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.tool import Tool
from letagents.entrypoints.mcp.tools import schemas
from letagents.entrypoints.mcp.tools.later import calling
from letagents.entrypoints.mcp.tools.usual import (
    CLIENT_MESSAGE_ID,
    CONVERSATION_ID,
    ROOM_ID,
    SENDER,
    SESSION_ID,
    WORKER_ID,
)

_TEXT = Parameter("text", "string", required=True, max_length=65_536, free_text=True)
_SAID = schemas.result(
    {"room_id": schemas.STRING, **schemas.MESSAGE["properties"], "agent_identity": schemas.IDENTITY}
)
_SAID["required"] = ["room_id", "id", "sender", "text", "agent_identity"]

STATUS = (
    Tool(
        name="post_status",
        purpose="Tell the room what you are doing.",
        parameters=(
            Parameter("status", "string", required=True, max_length=2000, free_text=True),
            ROOM_ID,
            WORKER_ID,
            SESSION_ID,
            SENDER,
            CONVERSATION_ID,
            CLIENT_MESSAGE_ID,
        ),
        result=schemas.result({"success": schemas.BOOLEAN}),
        read_only=False,
        idempotent=False,
        open_world=False,
        run=calling("speaking_calls", "post_status"),
    ),
)

SPEAKING = (
    Tool(
        name="send_message",
        purpose="Say something. @Name wakes one, @everyone all; what is said to nobody wakes "
        "nobody.",
        parameters=(
            _TEXT,
            ROOM_ID,
            WORKER_ID,
            Parameter("reply_to", "string", "Message to quote, e.g. msg_3.", ceiling=40),
            Parameter("thread_parent_id", "string", "Answer in its thread.", ceiling=40),
            CLIENT_MESSAGE_ID,
            SESSION_ID,
            SENDER,
            CONVERSATION_ID,
        ),
        result=_SAID,
        read_only=False,
        idempotent=False,
        open_world=True,
        run=calling("speaking_calls", "send_message"),
    ),
    Tool(
        name="send_thread_message",
        purpose="Answer inside a thread.",
        parameters=(
            _TEXT,
            Parameter(
                "thread_parent_id",
                "string",
                "Its thread.root_message_id.",
                required=True,
                ceiling=40,
            ),
            ROOM_ID,
            WORKER_ID,
            CLIENT_MESSAGE_ID,
            SESSION_ID,
            CONVERSATION_ID,
        ),
        result=_SAID,
        read_only=False,
        idempotent=False,
        open_world=True,
        run=calling("speaking_calls", "send_thread_message"),
    ),
)
