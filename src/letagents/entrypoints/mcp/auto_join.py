"""Entering the room of the folder as a chat begins, without keeping its client waiting.

It begins when the client has been told of the tools, and before a first call has its answer, so
that a call means the room that it would mean later. Then nothing here costs anything any more.
"""

from typing import Any

import anyio
import structlog
from mcp.server import Server, ServerRequestContext

from letagents.application.repository import Repository

log = structlog.get_logger()

BEGIN = 5.0
"""Seconds after which it begins although the client has asked for nothing. (Source: 1.2.)"""

PATIENCE = 10.0
"""Seconds that a call waits for it at most: twice as many as git may take, for a busy machine."""


class AutoJoin:
    """One chat's way into the room of its folder, gone once."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._may_begin = anyio.Event()
        self._is_over = anyio.Event()

    async def run(self) -> None:
        """Enter the room when the time has come. Whatever goes wrong, the process goes on."""
        with anyio.move_on_after(BEGIN):
            await self._may_begin.wait()
        try:
            await self._repository.auto_join()
        except Exception as error:  # a chat without a room is better than none
            log.error("room.not_joined", reason=type(error).__name__, exc_info=error)
        finally:
            self._is_over.set()

    def watch(self, server: Server[Any]) -> None:
        """Begin after the first list of tools, and let calls wait for the end."""
        self._around(server, "tools/list", first=False)
        self._around(server, "tools/call", first=True)

    def _around(self, server: Server[Any], method: str, *, first: bool) -> None:
        handled = server.get_request_handler(method)
        if handled is None:
            return

        async def handle(context: ServerRequestContext[Any], params: Any) -> Any:
            if first:
                await self.over()
            self._may_begin.set()
            # From now on without this step in between.
            server.add_request_handler(method, handled.params_type, handled.handler)
            return await handled.handler(context, params)

        server.add_request_handler(method, handled.params_type, handle)

    async def over(self) -> None:
        """Let it begin, and return when it is over, or when it has lasted long enough."""
        self._may_begin.set()
        with anyio.move_on_after(PATIENCE):
            await self._is_over.wait()
