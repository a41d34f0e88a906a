"""What the tools do that say something in a room."""

from letagents.domain import identity
from letagents.domain.errors import Malformed, NoRoom
from letagents.domain.ids import MessageId
from letagents.domain.sessions import Connection
from letagents.entrypoints.mcp.tool import Arguments
from letagents.entrypoints.mcp.tools.arguments import claim, key_of, message_of, naming
from letagents.entrypoints.mcp.visit import Visit
from letagents.wire import moments, notices, public, readable

Result = dict[str, object]


async def send_message(visit: Visit, arguments: Arguments) -> Result:
    reply_to = message_of(arguments.get("reply_to"), "reply_to")
    thread = message_of(arguments.get("thread_parent_id"), "thread_parent_id")
    if reply_to is not None and thread is not None and reply_to != thread:
        raise Malformed(
            f"reply_to: {reply_to} is not {thread}, which thread_parent_id names; they must match.",
            remedy="Pass thread_parent_id alone to answer in a thread: it quotes that message.",
        )
    return await _send(visit, arguments, reply_to or thread, thread)


async def send_thread_message(visit: Visit, arguments: Arguments) -> Result:
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
    speaking = _speaking(visit, speaker)
    told = notices.plain(message.mention_notices)
    return {"room_id": str(message.room_id), **plain, "agent_identity": speaking, **told}


async def post_status(visit: Visit, arguments: Arguments) -> Result:
    status = str(arguments["status"])
    key = key_of(arguments.get("client_message_id"))
    try:
        speaker = await _speaker(visit, arguments)
    except NoRoom as error:
        return {"success": False, "error": error.happened, "hint": error.remedy}
    await visit.client.presence.posted(speaker, status)
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
