"""One thread by itself. (Source: hosted-api 3.4.)

Which fields that page has, the source does not say: here it is read as the messages of a room are,
from the newest on, and its root comes with every page.
"""

import attrs
from starlette.responses import Response

from letagents.domain.errors import Malformed, UnknownMessage
from letagents.domain.ids import MessageId
from letagents.domain.messages import Message
from letagents.domain.search import HITS_LIMIT, Found, Query, asked
from letagents.entrypoints.server.answers import Refused, answer
from letagents.entrypoints.server.calls import Call
from letagents.entrypoints.server.routes.search import searchable
from letagents.wire.http import messages as wire


async def thread(call: Call) -> Response:
    """Show the newest messages of a thread, or those before one, oldest first."""
    found = await _found(call)
    shown = [await _message(call, hit.id) for hit in reversed(found.hits)]
    root = shown[0].thread_root if shown else await _root(call)
    page = {
        "room_id": str(call.room_id),
        "root_message_id": str(root),
        "root": wire.plain(await _message(call, root)),
        "messages": [wire.plain(one) for one in shown],
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


ROUTES = (("GET", "/rooms/{room_id:path}/messages/{message_id}/thread", thread),)
