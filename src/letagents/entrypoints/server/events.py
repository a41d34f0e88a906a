"""Answers that go on: server-sent events, each connection of which is bounded.

Nothing is queued for a reader: the next event is looked for once the last one is on its way, so a
slow reader costs what one event holds. One that takes nothing for a while is dropped, and comes
back with the id of the last event that it got.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import anyio
import orjson
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from letagents.application.hosting import Pace

HEADERS = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache, no-transform",
    "Connection": "keep-alive",
    "X-Accel-Buffering": "no",
}
"""(Source: hosted-api 5.14.)"""
CONNECTED = b": connected\n\n"
HEARTBEAT = b": heartbeat\n\n"


def event(document: Any, *, name: str | None = None, cursor: object = None) -> bytes:
    """Return one event as it is sent."""
    head = (f"event: {name}\n" if name else "") + (f"id: {cursor}\n" if cursor else "")
    return head.encode() + b"data: " + orjson.dumps(document) + b"\n\n"


class Events(Response):
    """An answer that sends `frames` as they come, until they end or their reader goes."""

    def __init__(self, frames: AsyncIterator[bytes], pace: Pace) -> None:
        super().__init__(headers=HEADERS)
        del self.headers["content-length"]
        self._frames, self._pace = frames, pace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with anyio.create_task_group() as running:

            async def go() -> None:
                await self._send_all(send)
                running.cancel_scope.cancel()

            running.start_soon(go)
            await _hung_up(receive)
            running.cancel_scope.cancel()

    async def _send_all(self, send: Send) -> None:
        await send(
            {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        )
        if not await self._is_taken(send, CONNECTED):
            return
        with anyio.move_on_after(self._pace.longest.total_seconds()):
            async for frame in self._frames:
                if not await self._is_taken(send, frame):
                    return
        await self._is_taken(send, b"", more=False)

    async def _is_taken(self, send: Send, frame: bytes, *, more: bool = True) -> bool:
        message: Mapping[str, Any] = {
            "type": "http.response.body",
            "body": frame,
            "more_body": more,
        }
        with anyio.move_on_after(self._pace.drain.total_seconds()):
            await send(dict(message))
            return True
        return False


async def _hung_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
