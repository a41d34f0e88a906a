"""A room server for the conformance suite, which cannot show a token: one is put into its requests.

All else is as `letagents serve` has it. The suite's requests go through the same door.
"""

import argparse
import asyncio
from pathlib import Path

import attrs
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from letagents.entrypoints.server.app import application
from letagents.server_settings import load as load_serving
from letagents.server_wiring import open_server
from letagents.settings import load


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


async def serve(ready: Path) -> None:
    settings = load()
    async with open_server(settings, load_serving(settings.home)) as served:
        _, token = await served.hosting.keeper.add("ada", "Ada")
        app = SignedIn(application(served.hosting, served.elsewhere), token)
        config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", lifespan="on")
        [listening] = sockets = [config.bind_socket()]
        ready.write_text(str(listening.getsockname()[1]))
        await uvicorn.Server(config).serve(sockets=sockets)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ready", type=Path, help="a file that is told the port", required=True)
    asyncio.run(serve(parser.parse_args().ready))


if __name__ == "__main__":
    main()
