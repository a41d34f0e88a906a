"""Tools that say something in a room."""

from letagents.domain import identity
from letagents.domain.errors import Malformed, NoRoom
from letagents.domain.ids import MessageId
from letagents.domain.messages import TEXT_LIMIT
from letagents.domain.sessions import Connection
from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.tool import Progress, Tool
from letagents.entrypoints.mcp.tools import schemas
from letagents.entrypoints.mcp.tools.arguments import (
    CLIENT_MESSAGE_ID,
    CONVERSATION_ID,
    ROOM_ID,
    SENDER,
    SESSION_ID,
    WORKER_ID,
    Arguments,
    claim,
    key_of,
    message_of,
    naming,
)
from letagents.entrypoints.mcp.visit import Visit
from letagents.wire import moments, public, readable

Result = dict[str, object]


async def send_message(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
    reply_to = message_of(arguments.get("reply_to"), "reply_to")
    thread = message_of(arguments.get("thread_parent_id"), "thread_parent_id")
    if reply_to is not None and thread is not None and reply_to != thread:
        raise Malformed(
            f"reply_to: {reply_to} is not {thread}, which thread_parent_id names; they must match.",
            remedy="Pass thread_parent_id alone to answer in a thread: it quotes that message.",
        )
    return await _send(visit, arguments, reply_to or thread, thread)


async def send_thread_message(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
    thread = message_of(arguments["thread_parent_id"], "thread_parent_id")
    return await _send(visit, arguments, thread, thread)


async def _send(
    visit: Visit, arguments: Arguments, reply_to: MessageId | None, thread: MessageId | None
) -> Result:
    key = key_of(arguments.get("client_message_id"))
    speaker = await _speaker(visit, arguments)
    message = await visit.client.messages.send(
        speaker, str(arguments["text"]), key=key, reply_to=reply_to, thread=thread
    )
    await visit.client.places.saw(message.room_id, message.id)
    [plain] = readable.bounded(readable.page([message]), "first").items
    return {"room_id": str(message.room_id), **plain, "agent_identity": _speaking(visit, speaker)}


async def post_status(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
    status = str(arguments["status"])
    key = key_of(arguments.get("client_message_id"))
    try:
        speaker = await _speaker(visit, arguments)
    except NoRoom as error:
        return {"success": False, "error": error.happened, "hint": error.remedy}
    message = await visit.client.messages.send(speaker, f"[status] {status}", key=key)
    await visit.client.places.saw(message.room_id, message.id)
    return {
        "success": True,
        "status_posted": status,
        "sender": message.sender,
        "agent_identity": _speaking(visit, speaker),
        "message_id": str(message.id),
        "timestamp": moments.to_text(message.said_at),
    }


async def _speaker(visit: Visit, arguments: Arguments) -> Connection:
    with naming("room_id"):
        return await visit.client.callers.acting(claim(arguments), visit.client.places.current_id)


def _speaking(visit: Visit, speaker: Connection) -> Result:
    return public.identity(identity.of_session(speaker.session), visit.client.chat.instance)


_TEXT = Parameter("text", "string", required=True, max_length=TEXT_LIMIT, free_text=True)
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
        run=post_status,
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
        run=send_message,
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
        run=send_thread_message,
    ),
)
