"""The way to the tools of agents at /mcp: who may come in, and how they are sent out again.

What serves them is loaded when somebody comes for the first time: most servers never need it.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import anyio
import attrs
import structlog
from anyio import to_thread
from anyio.abc import TaskGroup, TaskStatus
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from letagents.application.server.hosting import Hosting
from letagents.application.server.remote_chats import Elsewhere, RemoteChats
from letagents.domain import accounts, serving
from letagents.domain.accounts import Principal
from letagents.entrypoints.server.answers import answer, problem
from letagents.entrypoints.server.calls import BODY_WITHIN, address_of, bearer

if TYPE_CHECKING:
    from letagents.entrypoints.mcp.over_http import OverHttp

log = structlog.get_logger()

PATH = "/mcp"
_STREAMS = "subscriptions/listen"
"""What is asked for, in the era in which it is, by somebody who then only listens."""


@attrs.define(eq=False)
class McpDoor:
    """An ASGI application for one path. It serves while it `is_open`."""

    hosting: Hosting
    elsewhere: Elsewhere
    _tasks: TaskGroup | None = None
    _served: "OverHttp | None" = None
    _turn: anyio.Lock = attrs.field(factory=anyio.Lock)

    @asynccontextmanager
    async def is_open(self) -> AsyncIterator[None]:
        """Let calls be served meanwhile."""
        async with anyio.create_task_group() as self._tasks:
            yield
            self._tasks.cancel_scope.cancel()
        self._tasks = self._served = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request, sent = Request(scope), _Sent(send)
        try:
            await self._answered(request, _InTime(receive), sent)
        except ClientDisconnect:
            pass  # nobody is there to be told
        except Exception as error:  # each is answered, and the unexpected ones logged
            if sent.status is not None:
                raise
            await problem(error)(scope, receive, sent)
        log.info("request.answered", route=f"{request.method} {PATH}", status=sent.status)

    async def _answered(self, request: Request, receive: Receive, send: "_Sent") -> None:
        token = bearer(request)
        principal = await self.hosting.sessions.principal(token)
        refused = self._refusal(request)
        if refused is None and principal.account is None:
            refused = _sign_in_first(is_wrong=token is not None)
        if refused is not None or self._tasks is None:
            refused = refused or answer({"error": "The tools are not served here now."}, 503)
            await refused(request.scope, receive, send)
        else:
            served = self._served or await self._opened(self._tasks)
            with self.hosting.under_way.one(accounts.signed_in(principal).account_id):
                await self._until_stopping(request, receive, send, principal, served)

    def _refusal(self, request: Request) -> Response | None:
        """Return why a request is not for us: a page of somebody else may have made it."""
        host, origin = request.headers.get("host"), request.headers.get("origin")
        known = (self.hosting.base_url, *self.hosting.addresses)
        if not serving.names_us(host, known):
            told = "This server is not known by that name; LETAGENTS_BASE_URL sets the one it has."
            return answer({"error": told, "code": "UNKNOWN_HOST"}, 421)
        if not serving.is_our_page(origin, host, known):
            told = "A page of another site made this call."
            return answer({"error": told, "code": "FOREIGN_ORIGIN"}, 403)
        return None

    async def _until_stopping(
        self,
        request: Request,
        receive: Receive,
        send: "_Sent",
        principal: Principal,
        served: "OverHttp",
    ) -> None:
        """Let a request be answered; who only listens is sent out when the server is to end."""

        async def send_out() -> None:
            await self.hosting.stopping.wait()
            listening.cancel_scope.cancel()

        async with anyio.create_task_group() as listening:
            if request.method == "GET" or request.headers.get("mcp-method") == _STREAMS:
                listening.start_soon(send_out)
            address = address_of(request)
            await served(request.scope, receive, send, principal=principal, address=address)
            listening.cancel_scope.cancel()
        await send.ended()

    async def _opened(self, tasks: TaskGroup) -> "OverHttp":
        async with self._turn:
            if self._served is None:
                self._served = await tasks.start(self._serve)
            return self._served

    async def _serve(self, *, task_status: "TaskStatus[OverHttp]") -> None:
        # In a thread: it takes a second, in which others wait for their answers.
        module: Any = await to_thread.run_sync(import_module, "letagents.entrypoints.mcp.over_http")
        chats = RemoteChats(self.hosting, self.elsewhere)
        opened: AbstractAsyncContextManager[OverHttp] = module.over_http(
            chats, version("letagents")
        )
        async with opened as served:
            task_status.started(served)
            await anyio.sleep_forever()


def _sign_in_first(*, is_wrong: bool) -> Response:
    refused = answer({"error": "The token of an account is needed."}, 401)
    wrong = ', error="invalid_token"' if is_wrong else ""
    refused.headers["WWW-Authenticate"] = f'Bearer realm="letagents"{wrong}'
    return refused


@attrs.define(eq=False)
class _Sent:
    """Sends an answer, and knows how far it has come."""

    _send: Send
    status: int | None = None
    _is_complete: bool = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif message["type"] == "http.response.body":
            self._is_complete = not message.get("more_body", False)
        await self._send(message)

    async def ended(self) -> None:
        """End an answer in order that was broken off."""
        if self.status is not None and not self._is_complete:
            await self({"type": "http.response.body", "body": b"", "more_body": False})


@attrs.define(eq=False)
class _InTime:
    """Receives a request, whose body has to come in time."""

    _receive: Receive
    _is_whole: bool = False
    _ends: float = attrs.field(factory=lambda: anyio.current_time() + BODY_WITHIN)

    async def __call__(self) -> Message:
        if self._is_whole:
            return await self._receive()
        with anyio.CancelScope(deadline=self._ends):
            message = await self._receive()
            self._is_whole = not message.get("more_body", False)
            return message
        return {"type": "http.disconnect"}
