"""Answers that go on: server-sent events, each connection of which is bounded.

Nothing is queued for a reader: the next event is looked for once the last one is on its way, so a
slow reader costs what one event holds. One that takes nothing for a while is dropped, and comes
back with the id of the last event that it got.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

import anyio
import orjson
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from letagents.application.server.hosting import Pace

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
    """An answer that sends `frames` as they come, until they end or their reader goes.

    It is over, too, once `stopping` is set: its reader comes back to the next server.
    """

    def __init__(
        self, frames: AsyncGenerator[bytes, None], pace: Pace, stopping: anyio.Event
    ) -> None:
        super().__init__(headers=HEADERS)
        del self.headers["content-length"]
        self._frames, self._pace, self._stopping = frames, pace, stopping

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with anyio.create_task_group() as running:
            going = anyio.CancelScope(deadline=anyio.current_time() + self._longest)

            async def end_with_server() -> None:
                await self._stopping.wait()
                going.cancel()

            async def end_with_reader() -> None:
                await _hung_up(receive)
                running.cancel_scope.cancel()

            running.start_soon(end_with_server)
            running.start_soon(end_with_reader)
            await self._send_all(send, going)
            running.cancel_scope.cancel()

    @property
    def _longest(self) -> float:
        return self._pace.longest.total_seconds()

    async def _send_all(self, send: Send, going: anyio.CancelScope) -> None:
        await send(
            {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        )
        async with aclosing(self._frames) as frames:
            with going:
                is_taken = await self._is_taken(send, CONNECTED)
                while is_taken and (frame := await anext(frames, None)) is not None:
                    is_taken = await self._is_taken(send, frame)
                if not is_taken:
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
