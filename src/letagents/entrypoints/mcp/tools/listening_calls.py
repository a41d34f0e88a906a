"""What the tools do that read a room and wait for what is said in it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial

import anyio

from letagents.application.messaging import Heard, is_for_reader
from letagents.domain.errors import Malformed, UnknownMessage
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.messages import Before, Latest, Message
from letagents.domain.sessions import Connection
from letagents.entrypoints.mcp.prompts import full, kind_of
from letagents.entrypoints.mcp.tool import Arguments, Progress
from letagents.entrypoints.mcp.tools.arguments import claim, message_of, naming
from letagents.entrypoints.mcp.visit import Visit
from letagents.wire import readable
from letagents.wire.bounds import Bounded, End, Plain, size

Result = dict[str, object]

READ_DEFAULT = 100
READ_LARGEST = 500
SKIPPED_SHOWN = 100
"""So many ids of passed-over messages are listed; the count is of all."""
SIGN_OF_LIFE = 15.0
"""Seconds after which a waiting client is told that the wait goes on."""
LONGEST = 86_400_000
"""Milliseconds that a wait lasts at most, whatever is set."""


async def read_messages(visit: Visit, arguments: Arguments) -> Result:
    one = message_of(arguments.get("message_id"), "message_id")
    before = message_of(arguments.get("before_message_id"), "before_message_id")
    if one is not None:
        return await _read_one(visit, arguments, one)
    if "text_offset" in arguments:
        raise Malformed("text_offset: it needs a message_id.", remedy="Pass message_id too.")
    limit = min(_whole(arguments.get("limit"), READ_DEFAULT) or READ_LARGEST, READ_LARGEST)
    room_id, viewer = await _viewer(visit, arguments)
    with naming("room_id"):
        window = Latest(limit) if before is None else Before(before, limit)
        page = await visit.client.messages.read(room_id, window, viewer)
    kept = readable.bounded(readable.page(page.messages), "last", size_of=_size)
    if before is None:
        await visit.client.places.saw(room_id, page.messages[-1].id if page.messages else None)
    shown = [_with_prompt(visit, one) for one in kept.items]
    return {"room_id": str(room_id), "messages": shown} | _older(page.more, kept)


async def _read_one(visit: Visit, arguments: Arguments, message_id: MessageId) -> Result:
    if further := [name for name in ("before_message_id", "limit") if name in arguments]:
        raise Malformed(
            f"{further[0]}: message_id was passed too, which reads one message.",
            remedy=f"Leave {further[0]} or message_id out.",
        )
    room_id, viewer = await _viewer(visit, arguments)
    with naming("room_id"):
        window = Before(MessageId(message_id.number + 1), 1)
        page = await visit.client.messages.read(room_id, window, viewer)
    if not page.messages or page.messages[0].id != message_id:
        raise UnknownMessage(
            f"message_id: {message_id} does not exist in this room.",
            remedy="Call read_messages without message_id to see the room's newest.",
        )
    [plain] = readable.page(page.messages)
    offset = _whole(arguments.get("text_offset"), 0)
    if offset >= len(plain["text"]):
        raise Malformed(
            f"text_offset: {message_id} has {len(plain['text'])} characters.",
            remedy="Pass the next_text_offset of an earlier result, or leave it out.",
        )
    return {"room_id": str(room_id), "messages": [readable.piece(plain, offset)]}


async def wait_for_messages(visit: Visit, arguments: Arguments, progress: Progress) -> Result:
    after = message_of(arguments.get("after_message_id"), "after_message_id")
    room_id, viewer = await _viewer(visit, arguments)
    timeout = _timeout(arguments.get("timeout"))
    if visit.bridge is not None:
        await visit.bridge.waiting(viewer)
    async with signs_of_life(progress):
        with naming("room_id"):
            heard = await visit.client.messages.wait(room_id, after, timeout=timeout, viewer=viewer)
    if visit.bridge is not None:
        await visit.bridge.waited(viewer, after)
    result, said = _heard(visit, heard, "last" if after is None else "first")
    observed = said[-1].id if said else (heard.passed_over or (None,))[-1]
    await visit.client.places.saw(room_id, observed)
    _tell(visit, viewer, said)
    if (cursor := observed or after) is not None:
        result["last_observed_message_id"] = str(cursor)
    return {"room_id": str(room_id)} | result


async def _viewer(visit: Visit, arguments: Arguments) -> tuple[RoomId, Connection | None]:
    return await visit.client.callers.viewing(claim(arguments), visit.client.places.current_id)


def _tell(visit: Visit, viewer: Connection | None, said: Sequence[Message]) -> None:
    """Let the room know what was shown; nobody waits for that."""
    if viewer is not None and said:
        first, last = said[0].id, said[-1].id
        told = partial(visit.client.presence.observed, viewer, first, last)
        visit.client.background.begin("observation", told)


def _heard(visit: Visit, heard: Heard, keep: End) -> tuple[Result, Sequence[Message]]:
    """Return what a wait brought, and what of it was observed: nothing that did not fit.

    What is for others takes no room from what is shown.
    """
    messages = heard.page.messages
    ours = [message for message in messages if is_for_reader(message)]
    kept = readable.bounded(readable.page(ours), keep, size_of=_size)
    said = _around(messages, ours, kept, keep)
    silent = [message.id for message in said if not is_for_reader(message)]
    result: Result = {"messages": [_with_prompt(visit, plain) for plain in kept.items]}
    if skipped := [*heard.passed_over, *silent]:
        result["skipped_message_ids"] = [str(one) for one in skipped[-SKIPPED_SHOWN:]]
        result["skipped_message_count"] = len(skipped)
    left_out = _left_out(heard.page.more, kept)
    if left_out and keep == "last":
        left_out["next_before_message_id"] = str(said[0].id)
    return result | left_out, said


def _around(
    messages: Sequence[Message], ours: Sequence[Message], kept: Bounded[Plain], keep: End
) -> Sequence[Message]:
    """Return the messages among which those that are shown stand, up to what did not fit."""
    if not kept.omitted:
        return messages
    if keep == "first":
        return messages[: messages.index(ours[len(kept.items)])]
    return messages[messages.index(ours[kept.omitted]) :]


def _older(more: bool, kept: Bounded[Plain]) -> Result:
    """Return what is to be said of older messages that were left out, and where to go on."""
    result = _left_out(more, kept)
    return result | {"next_before_message_id": kept.items[0]["id"]} if result else result


def _left_out(more: bool, kept: Bounded[Plain]) -> Result:
    result: Result = {}
    if more or kept.omitted:
        result["truncated"] = True
    if kept.omitted:
        result["omitted_message_count"] = kept.omitted
    return result


def _size(plain: Plain) -> int:
    """Return the bytes of a message as it will be shown: with a prompt, its text stands twice."""
    if (kind := kind_of(plain.get("agent_prompt_kind"))) is None:
        return size(plain)
    return 2 * size(plain) + size(full(kind))


def _with_prompt(visit: Visit, plain: Plain) -> Plain:
    kind = kind_of(plain.get("agent_prompt_kind"))
    if kind is None:
        return plain
    return plain | {
        "visible_text": plain["text"],
        "agent_prompt": visit.prompts.dispense(kind),
        "prompt_injected": kind == "inline",
    }


def _whole(value: object, default: int) -> int:
    return int(value) if isinstance(value, int | float) else default


def _timeout(value: object) -> timedelta | None:
    if not isinstance(value, int | float):
        return None
    return timedelta(milliseconds=min(value, LONGEST))


@asynccontextmanager
async def signs_of_life(progress: Progress, every: float = SIGN_OF_LIFE) -> AsyncIterator[None]:
    """Tell a client now and then that a wait goes on; some give up on calls that say nothing."""

    async def tell() -> None:
        waited = 0.0
        while True:
            await anyio.sleep(every)
            waited += every
            await progress(waited, None, "waiting for messages")

    async with anyio.create_task_group() as telling:
        telling.start_soon(tell)
        yield
        telling.cancel_scope.cancel()
