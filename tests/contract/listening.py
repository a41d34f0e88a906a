"""Our own server on a socket of this machine, in the test's own event loop."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn

from letagents.application.hosting import Hosting
from letagents.entrypoints.server.app import application


@asynccontextmanager
async def listening(hosting: Hosting) -> AsyncIterator[str]:
    """Serve `hosting` while the context lasts; yield where."""
    config = uvicorn.Config(
        application(hosting),
        lifespan="off",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=2,
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as where:
        serving = asyncio.create_task(server.serve(sockets=[where]))
        try:
            yield f"http://127.0.0.1:{where.getsockname()[1]}"
        finally:
            if hosting.roll is not None:
                hosting.roll.shut()
            server.should_exit = True
            await serving
