"""The threads of a room, and one thread by itself. (Source: hosted-api 3.4.)

Which fields the page of one has, the source does not say: here it is read as the messages of a room
are, from the newest on, and its root comes with every page.
"""

import attrs
from starlette.responses import Response

from letagents.domain.errors import Malformed, NotAvailable, UnknownMessage
from letagents.domain.ids import MessageId
from letagents.domain.messages import Message
from letagents.domain.search import HITS_LIMIT, Found, Query, asked
from letagents.domain.threads import LONGEST_PAGE, PAGE, UnknownThread
from letagents.entrypoints.server.answers import Refused, answer
from letagents.entrypoints.server.calls import Call
from letagents.entrypoints.server.routes.search import searchable
from letagents.ports.threads import ThreadsOf
from letagents.wire.http import messages as wire
from letagents.wire.http import threads as wire_threads


async def thread(call: Call) -> Response:
    """Show the newest messages of a thread, or those before one, oldest first."""
    found, prompts = await _found(call), call.wants_prompts
    shown = [await _message(call, hit.id) for hit in reversed(found.hits)]
    root = shown[0].thread_root if shown else await _root(call)
    page = {
        "room_id": str(call.room_id),
        "root_message_id": str(root),
        "root": wire.plain(await _message(call, root)),
        "messages": [wire.plain(one) for one in shown if prompts or not one.only_prompts],
        "has_more": found.more,
    }
    return answer(page)


async def _found(call: Call) -> Found:
    viewer = await call.looking()
    try:
        return await searchable(call).search(call.room_id, _query(call), viewer)
    except UnknownMessage:
        raise _no_thread() from None


def _query(call: Call) -> Query:
    query = asked(thread=_named(call), limit=call.limited(HITS_LIMIT, HITS_LIMIT))
    before = call.asked("before")
    below = MessageId.parse(before, "before") if before not in (None, "latest") else None
    return attrs.evolve(query, below=below)


def _named(call: Call) -> MessageId:
    try:
        return MessageId.parse(call.named("message_id"))
    except Malformed:
        raise _no_thread() from None


def _no_thread() -> Refused:
    return Refused(404, "thread not found")


async def _root(call: Call) -> MessageId:
    return (await _message(call, _named(call))).thread_root


async def _message(call: Call, message_id: MessageId) -> Message:
    found = await call.hosting.rooms.message(call.room_id, message_id)
    if found is None:
        raise _no_thread()
    return found


async def listed(call: Call) -> Response:
    """List the threads of the room, the newest reply first."""
    viewer, account = await call.looking(), call.account
    before, shown = call.asked("before"), call.asked("filter") or "all"
    if shown not in ("all", "unread"):
        raise Refused(400, "filter must be all or unread")
    found = await _threads(call).threads(
        call.room_id,
        account.account_id,
        unread_only=shown == "unread",
        before=MessageId.parse(before, "before") if before else None,
        limit=call.limited(PAGE, LONGEST_PAGE),
        viewer=viewer,
    )
    return answer(wire_threads.plain_page(found, call.room_id))


async def read(call: Call) -> Response:
    """Note how far the account has read a thread."""
    if call.principal.account is None:
        raise Refused(401, "account session required")
    viewer = await call.looking_by_body()
    up_to = (await call.text("message_id") or "").strip()
    try:
        now = await _threads(call).read(
            call.room_id,
            _named(call),
            call.account.account_id,
            MessageId.parse(up_to, "message_id") if up_to else None,
            viewer=viewer,
        )
    except UnknownThread:
        raise _no_thread() from None
    return answer({"room_id": str(call.room_id), "thread": wire_threads.plain(now)})


def _threads(call: Call) -> ThreadsOf:
    if call.hosting.threads is None:
        raise NotAvailable(
            "The rooms of this server do not list their threads.",
            remedy="Read the messages: read_messages.",
        )
    return call.hosting.threads


_MESSAGES = "/rooms/{room_id:path}/messages"

ROUTES = (
    ("GET", f"{_MESSAGES}/threads", listed),
    ("GET", f"{_MESSAGES}/{{message_id}}/thread", thread),
    ("PUT", f"{_MESSAGES}/{{message_id}}/thread/read", read),
)
