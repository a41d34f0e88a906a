"""Tools that say, read and wait."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Literal

import anyio

from letagents.application.messaging import Heard
from letagents.domain import identity
from letagents.domain.errors import Malformed, NoRoom
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.messages import TEXT_LIMIT, Latest, Message
from letagents.domain.sessions import Connection
from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.prompts import kind_of
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
)
from letagents.entrypoints.mcp.visit import Visit
from letagents.wire import moments, public, readable

Result = dict[str, object]

READ_DEFAULT = 100
READ_LARGEST = 500
SKIPPED_SHOWN = 100
"""So many ids of passed-over messages are listed; the count is of all."""
SIGN_OF_LIFE = 15.0
"""Seconds after which a waiting client is told that the wait goes on."""


async def send_message(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
    reply_to = message_of(arguments.get("reply_to"), "reply_to")
    thread = message_of(arguments.get("thread_parent_id"), "thread_parent_id")
    return await _send(visit, arguments, reply_to or thread, thread)


async def send_thread_message(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
    thread = message_of(arguments["thread_parent_id"], "thread_parent_id")
    return await _send(visit, arguments, thread, thread)


async def _send(
    visit: Visit, arguments: Arguments, reply_to: MessageId | None, thread: MessageId | None
) -> Result:
    key = key_of(arguments.get("client_message_id"))
    speaker = await visit.client.callers.acting(claim(arguments), visit.client.places.current_id)
    message = await visit.client.messages.send(
        speaker, str(arguments["text"]), key=key, reply_to=reply_to, thread=thread
    )
    await visit.client.places.saw(message.room_id, message.id)
    [plain] = readable.page([message])
    return {"room_id": str(message.room_id), **plain, "agent_identity": _speaking(visit, speaker)}


async def post_status(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
    status = str(arguments["status"])
    key = key_of(arguments.get("client_message_id"))
    try:
        speaker = await visit.client.callers.acting(
            claim(arguments), visit.client.places.current_id
        )
    except NoRoom as error:
        return {"success": False, "error": error.happened, "hint": error.remedy}
    message = await visit.client.messages.send(speaker, f"[status] {status}", key=key)
    return {
        "success": True,
        "status_posted": status,
        "sender": message.sender,
        "agent_identity": _speaking(visit, speaker),
        "message_id": str(message.id),
        "timestamp": moments.to_text(message.said_at),
    }


async def read_messages(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
    limit = _whole(arguments.get("limit"), READ_DEFAULT) or READ_LARGEST
    room_id, viewer = await visit.client.callers.viewing(
        claim(arguments), visit.client.places.current_id
    )
    window = Latest(min(limit, READ_LARGEST))
    page = await visit.client.messages.read(room_id, window, viewer)
    shown = readable.bounded(_readable(visit, page.messages), "last")
    await visit.client.places.saw(room_id, _last(page.messages))
    return {"room_id": str(room_id), "messages": shown.messages} | _left_out(
        page.more, shown.omitted
    )


async def wait_for_messages(visit: Visit, arguments: Arguments, progress: Progress) -> Result:
    after = message_of(arguments.get("after_message_id"), "after_message_id")
    room_id, viewer = await visit.client.callers.viewing(
        claim(arguments), visit.client.places.current_id
    )
    timeout = _timeout(arguments.get("timeout"))
    async with _signs_of_life(progress):
        heard = await visit.client.messages.wait(room_id, after, timeout=timeout, viewer=viewer)
    keep: Literal["first", "last"] = "last" if after is None else "first"
    return await _heard(visit, room_id, heard, keep)


async def _heard(
    visit: Visit, room_id: RoomId, heard: Heard, keep: Literal["first", "last"]
) -> Result:
    kept = readable.bounded(_readable(visit, heard.page.messages), keep)
    silent = [one["id"] for one in kept.messages if _is_silent(one)]
    skipped = [str(one) for one in heard.passed_over] + silent
    observed = kept.messages[-1]["id"] if kept.messages else (skipped[-1] if skipped else None)
    result: Result = {
        "room_id": str(room_id),
        "messages": [one for one in kept.messages if not _is_silent(one)],
    }
    if observed is not None:
        result["last_observed_message_id"] = observed
        await visit.client.places.saw(room_id, MessageId.parse(observed))
    if skipped:
        result["skipped_message_ids"] = skipped[-SKIPPED_SHOWN:]
        result["skipped_message_count"] = len(skipped)
    return result | _left_out(heard.page.more, kept.omitted)


def _left_out(more: bool, omitted: int) -> Result:
    result: Result = {}
    if more or omitted:
        result["truncated"] = True
    if omitted:
        result["omitted_message_count"] = omitted
    return result


def _readable(visit: Visit, messages: Sequence[Message]) -> list[readable.Plain]:
    return [_with_prompt(visit, plain) for plain in readable.page(messages)]


def _with_prompt(visit: Visit, plain: readable.Plain) -> readable.Plain:
    kind = kind_of(plain["agent_prompt_kind"])
    if kind is None:
        return plain
    return plain | {
        "visible_text": plain["text"],
        "agent_prompt": visit.prompts.dispense(kind),
        "prompt_injected": kind == "inline",
    }


def _is_silent(plain: readable.Plain) -> bool:
    activation = plain.get("activation")
    return activation is not None and activation["for_current_agent"]["decision"] == "silent"


def _speaking(visit: Visit, speaker: Connection) -> Result:
    return public.identity(identity.of_session(speaker.session), visit.client.chat.instance)


def _last(messages: Sequence[Message]) -> MessageId | None:
    return messages[-1].id if messages else None


def _whole(value: object, default: int) -> int:
    return int(value) if isinstance(value, int | float) else default


def _timeout(value: object) -> timedelta | None:
    if not isinstance(value, int | float):
        return None
    if value < 0:
        raise Malformed("timeout: it is negative.", remedy="Pass milliseconds, 0 or more.")
    return timedelta(milliseconds=min(value, 86_400_000))


@asynccontextmanager
async def _signs_of_life(progress: Progress) -> AsyncIterator[None]:
    """Tell a client now and then that a wait goes on; some give up on calls that say nothing."""

    async def tell() -> None:
        waited = 0.0
        while True:
            await anyio.sleep(SIGN_OF_LIFE)
            waited += SIGN_OF_LIFE
            await progress(waited, None, "waiting for messages")

    async with anyio.create_task_group() as telling:
        telling.start_soon(tell)
        yield
        telling.cancel_scope.cancel()


_TEXT = Parameter("text", "string", required=True, max_length=TEXT_LIMIT, free_text=True)
_SAID = schemas.result(
    {"room_id": schemas.STRING, **schemas.MESSAGE["properties"], "agent_identity": schemas.IDENTITY}
)
_SAID["required"] = ["room_id", "id", "sender", "text", "agent_identity"]
_PAGE = {
    "room_id": schemas.STRING,
    "messages": schemas.MESSAGES,
}
_LEFT_OUT = {"truncated": schemas.BOOLEAN, "omitted_message_count": schemas.NUMBER}

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

MESSAGES = (
    Tool(
        name="send_message",
        purpose="Say something in the room; reply_to quotes a message, thread_parent_id answers "
        "inside its thread.",
        parameters=(
            _TEXT,
            ROOM_ID,
            WORKER_ID,
            Parameter("reply_to", "string", "Message to quote, e.g. msg_3.", max_length=40),
            Parameter(
                "thread_parent_id", "string", "A message of the thread to answer in.", max_length=40
            ),
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
                max_length=40,
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
    Tool(
        name="read_messages",
        purpose="The newest messages, oldest first. Moves no cursor.",
        parameters=(
            ROOM_ID,
            Parameter("limit", "integer", "Default 100, most 500 (0 means 500).", minimum=0),
            WORKER_ID,
            SESSION_ID,
        ),
        result=schemas.result(_PAGE, _LEFT_OUT),
        read_only=True,
        idempotent=True,
        open_world=True,
        run=read_messages,
    ),
    Tool(
        name="wait_for_messages",
        purpose="Long poll: returns when messages come after a cursor, or empty at the timeout, "
        "which is not an end: call again with the cursor. Use last_observed_message_id as cursor "
        "even when messages is empty; messages labelled silent are skipped. Answer thread replies "
        "with send_thread_message. Only legacy or manual workers may nudge other legacy or manual "
        "participants, never about or from supervised workers.",
        parameters=(
            ROOM_ID,
            WORKER_ID,
            Parameter(
                "after_message_id",
                "string",
                "Cursor, e.g. msg_3; default: the most recent 100.",
                max_length=40,
            ),
            Parameter(
                "timeout",
                "number",
                "Milliseconds, 1000 to 180000 (cap: LETAGENTS_POLL_MAX_MS); default 30000.",
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
        run=wait_for_messages,
    ),
)
