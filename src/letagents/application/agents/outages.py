"""Asking a room again that is away, until it answers."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from letagents.domain.errors import LetAgentsError

log = structlog.get_logger()

T = TypeVar("T")

AGAIN_AFTER = 1.0
"""Seconds before a room that is away is asked again."""

Pause = Callable[[float], Awaitable[None]]


async def outlasted(ask: Callable[[], Awaitable[T]], pause: Pause, *, room_id: str) -> T:
    """Return what a room answers; `ask` must be the same however often it is done.

    Raises: what will not pass.
    """
    while True:
        try:
            return await ask()
        except LetAgentsError as error:
            if not error.retry.may_pass:
                raise
            log.warning("room.unavailable", room_id=room_id, code=error.code)
        await pause(AGAIN_AFTER)
