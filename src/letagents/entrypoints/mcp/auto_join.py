"""Entering the room of the folder as a chat begins, without keeping its client waiting.

It begins when the session is opened, and is over before a first call begins, so that a call means
the room that it would mean later.
"""

import anyio
import structlog

from letagents.application.repository import Repository

log = structlog.get_logger()

PATIENCE = 10.0
"""Seconds that a call waits for it at most: twice as many as git may take, for a busy machine."""


class AutoJoin:
    """One chat's way into the room of its folder, gone once."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._is_over = anyio.Event()

    async def run(self) -> None:
        """Enter the room. Whatever goes wrong, the process goes on."""
        try:
            await self._repository.auto_join()
        except Exception as error:  # a chat without a room is better than none
            log.error("room.not_joined", reason=type(error).__name__, exc_info=error)
        finally:
            self._is_over.set()

    async def over(self) -> None:
        """Return when it is over, or when it has lasted long enough."""
        with anyio.move_on_after(PATIENCE):
            await self._is_over.wait()
