"""What happens in a room, told as it happens. (Source: hosted-api 5.14.)"""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Any

import attrs
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from letagents.domain.board import TaskView
from letagents.domain.deliveries import Transport
from letagents.domain.errors import ConnectionLost, LetAgentsError, Malformed, NotAvailable
from letagents.domain.feeds import Begun, Cursor, Happened, Informed, Published
from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId
from letagents.domain.messages import Message
from letagents.entrypoints.server import threaded
from letagents.entrypoints.server.answers import problem
from letagents.entrypoints.server.calls import Call
from letagents.entrypoints.server.events import HEARTBEAT, Events, event
from letagents.ports.feeds import Feed
from letagents.wire.http import board as wire_board
from letagents.wire.http import reasoning as wire_reasoning

_REST = timedelta(minutes=5)
"""So long nobody looks where nothing happens."""


async def stream(call: Call) -> Response:
    """Tell what happens from now on, or from where the reader was."""
    viewer = await call.looking()
    told = _Telling(call, _feed(call), viewer, _cursor_text(call))
    begun = await told.feed.begin(call.room_id, _asked(call), viewer)
    if told.asked is not None and not _is_cursor(told.asked):
        begun = attrs.evolve(begun, is_gap=True)
    events = Events(told.frames(begun), call.hosting.pace, call.hosting.stopping)
    return _Delivered(events, call, viewer)


class _Delivered(Response):
    """A stream that is a delivery of its viewer as long as it is sent."""

    def __init__(self, events: Events, call: Call, viewer: Fence | None) -> None:
        super().__init__()
        self.raw_headers = events.raw_headers
        self._events, self._call, self._viewer = events, call, viewer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        hosting, room_id = self._call.hosting, self._call.room_id
        try:
            async with hosting.sessions.delivering(room_id, self._viewer, Transport.SSE):
                await self._events(scope, receive, send)
        except LetAgentsError as error:
            await problem(error)(scope, receive, send)


def _feed(call: Call) -> Feed:
    if call.hosting.feed is None:
        raise NotAvailable(
            "The rooms of this server tell nothing by themselves.",
            remedy="Ask for messages: wait_for_messages.",
        )
    return call.hosting.feed


def _asked(call: Call) -> Cursor | MessageId | None:
    """Return how far the reader was: a cursor of ours, else the message it knows last."""
    text = _cursor_text(call)
    if text is not None and _is_cursor(text):
        return Cursor.parse(text)
    after = call.asked("after")
    return MessageId.parse(after, "after") if after and text is None else None


def _cursor_text(call: Call) -> str | None:
    shown = call.asked("event_cursor") or call.request.headers.get("last-event-id", "").strip()
    return shown[:64] or None


def _is_cursor(text: str) -> bool:
    try:
        Cursor.parse(text)
    except Malformed:
        return False
    return True


@attrs.define
class _Telling:
    """One reader of a room's stream. `asked` is the cursor that it showed."""

    call: Call
    feed: Feed
    viewer: Fence | None
    asked: str | None

    async def frames(self, begun: Begun) -> AsyncGenerator[bytes, None]:
        """Yield what is sent, until the session is another's, or the account may no longer look."""
        cursor = begun.cursor
        yield self._sync(begun)
        while await self._may_go_on():
            waiting = asyncio.ensure_future(self._after(cursor))
            try:
                while not await self._is_done(waiting):
                    yield HEARTBEAT
                    if not await self._may_go_on():
                        return
                happened = waiting.result()
            except ConnectionLost:
                yield event({"room_id": str(self.call.room_id)}, name="session_disconnect")
                return
            finally:
                waiting.cancel()
            for one in happened:
                cursor = one.cursor
                if not self._is_hidden(one):
                    yield await self._told(one)

    async def _after(self, cursor: Cursor) -> tuple[Happened, ...]:
        # Over many signs: to look anew for each of them would cost far more than they do.
        return await self.feed.after(self.call.room_id, cursor, timeout=_REST, viewer=self.viewer)

    async def _is_done(self, waiting: "asyncio.Future[tuple[Happened, ...]]") -> bool:
        """Return whether it is, before the next sign is to be given."""
        heartbeat = self.call.hosting.pace.heartbeat.total_seconds()
        done, _ = await asyncio.wait([waiting], timeout=heartbeat)
        return bool(done)

    def _is_hidden(self, one: Happened) -> bool:
        thing = one.thing
        return isinstance(thing, Message) and thing.only_prompts and not self.call.wants_prompts

    async def _may_go_on(self) -> bool:
        return await self.call.is_still_signed_in()

    def _sync(self, begun: Begun) -> bytes:
        checkpoint = begun.cursor.message_id
        document = {
            "room_id": str(self.call.room_id),
            "checkpoint": str(checkpoint) if checkpoint else None,
            **({"requested_cursor": self.asked} if self.asked else {}),
            "event_cursor": str(begun.cursor),
            "gap": begun.is_gap,
        }
        return event(document, name="room_sync", cursor=begun.cursor)

    async def _told(self, one: Happened) -> bytes:
        name, document = await self._plain(one)
        document = {"room_id": str(self.call.room_id), **document}
        return event(document, name=name, cursor=one.cursor)

    async def _plain(self, one: Happened) -> tuple[str | None, dict[str, Any]]:
        room_id = self.call.room_id
        match one.thing:
            case Message():
                return None, await threaded.one(self.call, one.thing, is_person=self.viewer is None)
            case TaskView():
                return "task_update", wire_board.plain(one.thing, room_id)
            case Informed(message_ids):
                return "message_info_updated", {"message_ids": list(map(str, message_ids))}
            case Published(identity):
                return "artifact_update", {"artifact_identity_key": identity}
            case trace, update:
                return "reasoning_update", {
                    "session": wire_reasoning.plain(trace, room_id),
                    "update": wire_reasoning.plain_update(update, room_id),
                }


ROUTES = (("GET", "/rooms/{room_id:path}/messages/stream", stream),)
