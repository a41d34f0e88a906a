"""A room server on a socket of this machine, for what only a real connection shows."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn

from letagents.application.server.hosting import Hosting
from letagents.application.server.remote_chats import Elsewhere
from letagents.entrypoints.server.app import application
from letagents.entrypoints.server.bounded import BoundedProtocol
from letagents.entrypoints.server.process import configured


@asynccontextmanager
async def listening(
    hosting: Hosting, drain: float = 10.0, elsewhere: Elsewhere | None = None, *, idle: int = 30
) -> AsyncIterator[str]:
    """Serve `hosting` for as long as the context lasts; the value is the address."""

    class Protocol(BoundedProtocol):
        longest = drain

    served = application(hosting, elsewhere)
    config = configured(served, hosting)
    config.http, config.lifespan, config.timeout_keep_alive = Protocol, "off", idle
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    taken = socket.create_server(("127.0.0.1", 0))
    async with served.router.lifespan_context(served):
        await server.startup([taken])
        try:
            yield f"http://127.0.0.1:{taken.getsockname()[1]}"
        finally:
            server.force_exit = True
            await server.shutdown([taken])
