"""Waiting while one supervisor follows another: what none has begun is asked again.

(Source: supervisor 4.11, 6.3.) One that hands over refuses, its socket goes, and the next one may
not have the agent's session yet: none of that has begun anything. One that is cut off before it
answers may have; that is asked again only where the same request is never done twice.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import TypeVar

from letagents.adapters.supervisor.calls import CLOSED, TIMED_OUT
from letagents.domain.errors import LetAgentsError
from letagents.domain.supervised import (
    SupervisorRefused,
    SupervisorSilent,
    SupervisorUnavailable,
)

T = TypeVar("T")

HANDING_OVER = 30.0
"""Seconds in which a supervisor is waited for whose predecessor says that it hands over."""

_HANDS_OVER = re.compile(r"handoff has fenced", re.IGNORECASE)
_PASSES = re.compile(
    r"stale.*(?:daemon|supervisor).*generation|handoff"
    r"|exact server-issued worker identity is unavailable",
    re.IGNORECASE,
)
_FIRST_PAUSE, _LONGEST_PAUSE = 0.025, 0.25


async def outlasting(
    act: Callable[[], Awaitable[T]],
    *,
    within: float,
    pause: Callable[[float], Awaitable[None]],
    is_repeatable: bool = True,
) -> T:
    """Return what `act` returns; what the next supervisor may take is tried again for a while.

    Raises: as `act`, the last time.
    """
    return await outlasting_until(
        lambda _: act(), within=within, pause=pause, is_repeatable=is_repeatable
    )


async def outlasting_until(
    act: Callable[[float], Awaitable[T]],
    *,
    within: float,
    pause: Callable[[float], Awaitable[None]],
    is_repeatable: bool = True,
) -> T:
    """Do the same with what is told each time until when it is tried, on the loop's clock.

    Raises: as `act`, the last time.
    """
    loop = asyncio.get_running_loop()
    began, attempt = loop.time(), 0
    while True:
        try:
            return await act(began + within)
        except (SupervisorRefused, SupervisorSilent, SupervisorUnavailable) as failure:
            if not _may_pass(failure, is_repeatable=is_repeatable):
                raise
            if _HANDS_OVER.search(failure.happened):
                within = max(within, HANDING_OVER)
            left = began + within - loop.time()
            if left <= 0:
                raise
        await pause(min(_FIRST_PAUSE * 2 ** min(attempt, 4), _LONGEST_PAUSE, left))
        attempt += 1


def passes(said: str) -> bool:
    """Whether what a supervisor refuses is what another one, or itself in a moment, may do."""
    return _PASSES.search(said) is not None


def _may_pass(failure: LetAgentsError, *, is_repeatable: bool) -> bool:
    """Whether another supervisor, or the same one in a moment, may take what this one did not."""
    if isinstance(failure, SupervisorRefused):
        return passes(failure.happened)
    if isinstance(failure, SupervisorSilent):
        return is_repeatable and failure.happened in (CLOSED, TIMED_OUT)
    return True
