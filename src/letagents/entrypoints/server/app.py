"""The room server as an ASGI application, which another one may mount."""

from collections.abc import Awaitable, Callable, Sequence

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as At

from letagents.application.hosting import Hosting
from letagents.entrypoints.server.answers import answer, problem
from letagents.entrypoints.server.calls import Call, bearer
from letagents.entrypoints.server.routes import (
    accounts,
    board,
    governance,
    memory,
    messages,
    paths,
    rooms,
    sessions,
)

Handler = Callable[[Call], Awaitable[Response]]

ROUTES: Sequence[tuple[str, str, Handler]] = (
    *accounts.ROUTES,
    *messages.ROUTES,
    *sessions.ROUTES,
    *board.ROUTES,
    *governance.ROUTES,
    *paths.ROUTES,
    *memory.ROUTES,
    *rooms.ROUTES,
)


def application(hosting: Hosting) -> Starlette:
    """Return the application that serves `hosting`. It opens and closes nothing."""
    return Starlette(
        routes=[
            At(path, _endpoint(hosting, handler), methods=[method])
            for method, path, handler in ROUTES
        ],
        exception_handlers={404: _no_such_route, 405: _no_such_route},
    )


def _endpoint(hosting: Hosting, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            principal = await hosting.principal(bearer(request))
            return await handler(Call(request, hosting, principal))
        except Exception as error:  # noqa: BLE001  # each is answered, the unexpected ones logged
            return problem(error)

    return endpoint


async def _no_such_route(request: Request, _error: Exception) -> Response:
    return answer({"error": f"Cannot {request.method} this path"}, 404)
