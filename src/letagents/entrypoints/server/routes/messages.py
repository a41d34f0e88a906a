"""Messages: said, read, waited for. (Source: hosted-api 3.4, 5.11.)"""

import hashlib
from datetime import timedelta
from typing import Any

import anyio
from starlette.responses import Response

from letagents.domain.attachments import UnknownUpload
from letagents.domain.errors import ConnectionLost, LetAgentsError, Malformed, UnknownMessage
from letagents.domain.fencing import Fence
from letagents.domain.ids import ClientKey, MessageId
from letagents.domain.messages import (
    AUTO,
    PROMPT_KINDS,
    After,
    Before,
    Draft,
    Latest,
    OnlyPrompts,
    Page,
    Window,
)
from letagents.domain.names import is_blank
from letagents.entrypoints.server import threaded
from letagents.entrypoints.server.answers import Refused, answer, told
from letagents.entrypoints.server.calls import Call, text_in
from letagents.ports.ids import Ids
from letagents.wire import notices
from letagents.wire.http import attachments as wire_attachments
from letagents.wire.http import credentials, problems
from letagents.wire.http import messages as wire
from letagents.wire.http.problems import Form, Forms
from letagents.wire.http.reading import Fields

Plain = dict[str, Any]

POLL = timedelta(seconds=30)
KEY_LIMIT = 240
"""Characters of an idempotency key that count."""


def _not_there(error: LetAgentsError) -> str:
    of_thread = error.happened.startswith("thread_parent_id")
    field = "thread_root_id" if of_thread else "reply_to"
    if isinstance(error, OnlyPrompts):
        return f"{field} must reference a visible message"
    return f"{field} must reference an existing message in this room"


_BLANK: Forms = {Malformed: Form(400, text="sender and text or attachments are required")}
_MISSING: Forms = {
    UnknownMessage: Form(400, spelt=_not_there),
    UnknownUpload: Form(400, text="attachment upload not found or expired"),
}
_NO_CURSOR: Forms = {Malformed: Form(400, text="message cursor must be a valid message id")}


async def say(call: Call) -> Response:
    """Say something, as the worker whose session the body shows, or as the account's person."""
    fence, body = await call.speaking(), await call.body()
    kind = _prompt_kind(body)
    files = _files(body, kind)
    text = text_in(body, "text") or ""
    given = (text_in(body, "client_message_id") or "").strip()[:KEY_LIMIT]
    if (kind == AUTO or files) and is_blank(text):
        text = ""
    with told(_BLANK if is_blank(text) and not files else {}):
        draft = Draft(
            text,
            _key(given, call.hosting.ids),
            reply_to=_referred_to(body, "reply_to"),
            thread=_referred_to(body, "thread_root_id"),
            prompt_kind=kind,
            attachments=files,
        )
    with told(_MISSING):
        said = await call.hosting.rooms.post(call.room_id, draft, fence)
    alike = notices.plain(said.mention_notices)
    shown = await threaded.one(call, said, is_person=not credentials.is_shown(body))
    own = {"client_message_id": given or None, "room_id": str(call.room_id)}
    return answer({**shown, **own, **alike}, 201)


def _prompt_kind(body: Plain) -> str | None:
    kind = (text_in(body, "agent_prompt_kind") or "").strip().lower() or None
    if kind is not None and kind not in PROMPT_KINDS:
        raise Refused(400, f"agent_prompt_kind must be one of: {', '.join(PROMPT_KINDS)}")
    return kind


def _files(body: Plain, kind: str | None) -> tuple[str, ...]:
    """Return the uploads that are to go with a message."""
    if not body.get("attachments"):
        return ()
    if kind == AUTO:
        raise Refused(400, "auto prompt messages cannot include attachments")
    return wire_attachments.named(Fields(body))


def _key(given: str, ids: Ids) -> ClientKey:
    if not given:
        return ids.client_key()
    if ClientKey.fits(given):
        return ClientKey(given)
    return ClientKey(f"sha256:{hashlib.sha256(given.encode('utf-8', 'replace')).hexdigest()}")


def _referred_to(body: Plain, field: str) -> MessageId | None:
    given = (text_in(body, field) or "").strip()
    if not given:
        return None
    with told({Malformed: Form(400, text=f"{field} must be a valid message id")}):
        return MessageId.parse(given, field)


async def read(call: Call) -> Response:
    """Read a page."""
    viewer = await call.looking()
    window = _window(call)
    found = await call.hosting.rooms.read(call.room_id, window, viewer)
    older = {} if isinstance(window, After) else {"has_older": found.more}
    shown = await threaded.page(call, found, may_lack_replies=_may_lack_replies(window, found))
    return answer(shown | older)


def _may_lack_replies(window: Window, found: Page) -> bool:
    """Whether a thread that the page begins may go on beyond its end."""
    return isinstance(window, Before) or (isinstance(window, After) and found.more)


def _window(call: Call) -> Window:
    before, after = call.asked("before"), _cursor(call, "after")
    prompts = call.wants_prompts
    if before is None:
        return After(after, call.limit, prompts)
    if after is not None:
        raise Refused(400, "Cannot specify both 'after' and 'before' query parameters.")
    if before == "latest":
        return Latest(call.limit, prompts)
    with told(_NO_CURSOR):
        return Before(MessageId.parse(before, "before"), call.limit, prompts)


def _cursor(call: Call, name: str) -> MessageId | None:
    given = call.asked(name)
    with told(_NO_CURSOR):
        return MessageId.parse(given, name) if given else None


async def poll(call: Call) -> Response:
    """Wait for messages; who hangs up waits no longer."""
    viewer = await call.looking()
    window = After(_cursor(call, "after"), call.limit, call.wants_prompts)
    async with call.hosting.sessions.delivering(call.room_id, viewer):
        try:
            found, lost = await _waited(call, window, viewer), None
        except ConnectionLost as error:
            # It was admitted and has gone since: the next call is told so by its status.
            if call.hosting.deliveries is None:
                raise
            found, lost = Page(()), error
    if viewer is None:
        shown = await threaded.page(call, found, may_lack_replies=found.more)
    else:
        shown = wire.plain_page(call.room_id, found)
    return answer(shown | problems.beside(lost))


async def _waited(call: Call, window: After, viewer: Fence | None) -> Page:
    found: list[Page] = []
    failed: list[Exception] = []

    async def wait() -> None:
        try:
            found.append(
                await call.hosting.rooms.wait(
                    call.room_id, window, timeout=_timeout(call), viewer=viewer
                )
            )
        except Exception as error:  # noqa: BLE001  # it is raised again outside of the group
            failed.append(error)
        waiting.cancel_scope.cancel()

    async def end_with_server() -> None:
        await call.hosting.stopping.wait()
        waiting.cancel_scope.cancel()

    async with anyio.create_task_group() as waiting:
        waiting.start_soon(wait)
        waiting.start_soon(end_with_server)
        await _hung_up(call)
        waiting.cancel_scope.cancel()
    if failed:
        raise failed[0]
    return found[0] if found else Page(())


async def _hung_up(call: Call) -> None:
    while (await call.request.receive())["type"] != "http.disconnect":
        pass


def _timeout(call: Call) -> timedelta:
    text = call.asked("timeout") or ""
    if not text.isascii() or not text.isdecimal():
        return min(POLL, call.hosting.longest_wait)
    return min(timedelta(milliseconds=int(text[:12])), call.hosting.longest_wait)


async def one(call: Call) -> Response:
    """Return one message."""
    viewer = await call.looking()
    if viewer is not None:
        await call.hosting.rooms.read(
            call.room_id, Latest(1), viewer
        )  # who is heard no more hears so
    try:
        message_id = MessageId.parse(call.named("message_id"))
    except Malformed:
        message_id = None
    found = message_id and await call.hosting.rooms.message(call.room_id, message_id)
    if not found or (found.only_prompts and not call.wants_prompts):
        raise Refused(404, "message does not exist in this room")
    shown = await threaded.page(call, Page((found,)), may_lack_replies=True)
    return answer({"room_id": str(call.room_id), "message": shown["messages"][0]})


BUSIEST = (
    ("POST", "/rooms/{room_id:path}/messages", say),
    ("GET", "/rooms/{room_id:path}/messages/poll", poll),
)
"""What is asked most, and is looked for first: no other route has such a path."""
ROUTES = (
    ("GET", "/rooms/{room_id:path}/messages/{message_id}", one),
    ("GET", "/rooms/{room_id:path}/messages", read),
)
