"""The room server as an ASGI application, which another one may mount."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import attrs
import structlog
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as At
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketClose

from letagents.application.server.hosting import Hosting
from letagents.application.server.remote_chats import Elsewhere
from letagents.domain.accounts import NOBODY
from letagents.domain.errors import UnknownRoom
from letagents.entrypoints.server import workers
from letagents.entrypoints.server.answers import answer, problem
from letagents.entrypoints.server.calls import Call, bearer, check_declared, cookie
from letagents.entrypoints.server.cors import Cors
from letagents.entrypoints.server.document.openapi import document
from letagents.entrypoints.server.mcp_door import PATH, McpDoor
from letagents.entrypoints.server.routes import (
    accounts,
    activity,
    artifacts,
    attachments,
    board,
    device,
    focus_rooms,
    governance,
    health,
    host_grants,
    memory,
    messages,
    metrics,
    paths,
    presence,
    process,
    projects,
    reasoning,
    receipts,
    repositories,
    rooms,
    search,
    sessions,
    sign_in,
    streams,
    threads,
    wakes,
)

log = structlog.get_logger()

Handler = Callable[[Call], Awaitable[Response]]


async def interface(call: Call) -> Response:
    """Say what this server can be asked."""
    _ = call.account
    return answer(document(ROUTES, call.hosting.base_url))


ROUTES: Sequence[tuple[str, str, Handler]] = (
    *messages.BUSIEST,
    ("GET", "/openapi.json", interface),
    *health.ROUTES,
    *sign_in.ROUTES,
    *device.ROUTES,
    *accounts.ROUTES,
    *focus_rooms.ROUTES,
    *search.ROUTES,
    *threads.ROUTES,
    *streams.ROUTES,
    *receipts.ROUTES,
    *messages.ROUTES,
    *sessions.ROUTES,
    *host_grants.ROUTES,
    *process.ROUTES,
    *metrics.ROUTES,
    *presence.ROUTES,
    *activity.ROUTES,
    *repositories.ROUTES,
    *board.ROUTES,
    *governance.ROUTES,
    *paths.ROUTES,
    *memory.ROUTES,
    *artifacts.ROUTES,
    *attachments.ROUTES,
    *reasoning.ROUTES,
    *wakes.ROUTES,
    *projects.ROUTES,
    *rooms.ROUTES,
)


def application(hosting: Hosting, elsewhere: Elsewhere | None = None) -> Starlette:
    """Return the application that serves `hosting`. It opens and closes nothing of that.

    With what is known of those who call from `elsewhere`, it serves the tools of agents too, while
    its lifespan lasts.
    """
    door = McpDoor(hosting, elsewhere) if elsewhere is not None else None

    @asynccontextmanager
    async def lifespan(_application: Starlette) -> AsyncIterator[None]:
        if door is None:
            yield
            return
        async with door.is_open():
            yield

    routes = [
        _Route(path, _Endpoint(hosting, f"{method} {path}", handler), methods=[method])
        for method, path, handler in ROUTES
    ]
    at_the_door = [At(PATH, door)] if door is not None else []
    served = Starlette(routes=[*routes, *at_the_door], lifespan=lifespan)
    served.router.redirect_slashes = False  # a path with one more slash is another path
    served.router.default = _no_such_route
    # Not Starlette's own layers, which answer errors: what is below answers each of its own.
    served.middleware_stack = Cors(served.router, hosting)
    return served


room_server = application
"""The name of it for those who embed a server."""


class _Route(At):
    """A path that is called by one method; called by another one, it is no route."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        is_ours = scope["method"] in (self.methods or ())
        await (self.app if is_ours else _no_such_route)(scope, receive, send)


@attrs.frozen
class _Endpoint:
    """What answers one route, and counts what it answers."""

    hosting: Hosting
    route: str
    handler: Handler

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        call = Call(Request(scope, receive, send), self.hosting, NOBODY)
        try:
            response = await self._answered(call)
            if self.hosting.stopping.is_set():
                response.headers["Connection"] = "close"
                await call.hear_out()
            # The route and not the path: an invite code in it lets everybody in.
            self.hosting.answered[self.route, response.status_code] += 1
            log.info("request.answered", route=self.route, status=response.status_code)
            await response(scope, receive, send)
        finally:
            call.is_over()

    async def _answered(self, call: Call) -> Response:
        try:
            request = call.request
            call.principal = await self.hosting.sessions.principal(bearer(request), cookie(request))
            bounds = self.hosting.bounds
            call.largest = bounds.upload if self.handler in attachments.WITH_FILES else bounds.body
            check_declared(request, call.largest)
            if call.principal.account is None:
                call.principal = await workers.principal(call, self.route) or call.principal
            call.is_under_way()
            return await self._handled(call)
        except Exception as error:  # noqa: BLE001  # each is answered, the unexpected ones logged
            return problem(error)

    async def _handled(self, call: Call) -> Response:
        try:
            await call.come_in()
            return await self.handler(call)
        except UnknownRoom:
            if call.principal.account is not None:
                self.hosting.entrances.missed(call.principal.account)
            raise


async def _no_such_route(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await WebSocketClose()(scope, receive, send)
    else:
        refused = answer({"error": f"Cannot {scope['method']} this path"}, 404)
        await refused(scope, receive, send)
