"""A room server for the conformance suite, which cannot show a token: one is put into its requests.

All else is as `letagents serve` has it. The suite's requests go through the same door; with
`--fixtures`, to what is behind it, which then has beside its own what the suite asks for.
"""

import argparse
import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import attrs
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from tests.conformance.fixture_server import OURS, add_fixtures

from letagents.application.server.remote_chats import RemoteChats
from letagents.domain.accounts import Principal
from letagents.entrypoints.mcp.over_http import OverHttp, over_http
from letagents.entrypoints.server.app import application
from letagents.server_settings import load as load_serving
from letagents.settings import load
from letagents.wiring.server import Served, open_server


@attrs.frozen
class SignedIn:
    """An application all of whose callers show `token`."""

    app: ASGIApp
    token: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            shown = (b"authorization", f"Bearer {self.token}".encode())
            scope["headers"] = [*scope["headers"], shown]
        await self.app(scope, receive, send)


@attrs.frozen
class OfOne:
    """An application that serves the tools over HTTP to one account."""

    served: OverHttp
    principal: Principal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self.served(scope, receive, send, principal=self.principal, address="127.0.0.1")


@asynccontextmanager
async def behind_the_door(served: Served, token: str) -> AsyncIterator[ASGIApp]:
    """Open the tools with the suite's fixtures beside them."""
    principal = await served.hosting.sessions.principal(token)
    chats = RemoteChats(served.hosting, served.elsewhere)
    async with over_http(chats, "1", more=OURS, extend=add_fixtures) as tools:
        yield OfOne(tools, principal)


@asynccontextmanager
async def whole(served: Served, token: str) -> AsyncIterator[ASGIApp]:
    """Open all that `letagents serve` has."""
    yield SignedIn(application(served.hosting, served.elsewhere), token)


async def serve(ready: Path, opened: Callable[[Served, str], Any]) -> None:
    settings = load()
    async with (
        open_server(settings, load_serving(settings.home)) as served,
        opened(served, (await served.hosting.keeper.add("ada", "Ada"))[1]) as app,
    ):
        lifespan: Literal["on", "off"] = "on" if isinstance(app, SignedIn) else "off"
        config = uvicorn.Config(
            app, host="127.0.0.1", port=0, log_level="warning", lifespan=lifespan
        )
        [listening] = sockets = [config.bind_socket()]
        ready.write_text(str(listening.getsockname()[1]))
        await uvicorn.Server(config).serve(sockets=sockets)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixtures", action="store_true")
    parser.add_argument("--ready", type=Path, help="a file that is told the port", required=True)
    given = parser.parse_args()
    asyncio.run(serve(given.ready, behind_the_door if given.fixtures else whole))


if __name__ == "__main__":
    main()
