"""Waiting for a name that is about to come free, outside of every transaction."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

T = TypeVar("T")

Pause = Callable[[float], Awaitable[object]]
"""Lets so many seconds go by."""

LONGEST = timedelta(seconds=20)
"""So long an arrival waits for its name in all; then it gets another."""
_MARGIN = 0.01


class NameComesFree(Exception):
    """The name that somebody asks for comes free so soon that it is waited for."""

    def __init__(self, left: timedelta) -> None:
        super().__init__(f"in {left}")
        self.left = left


async def patiently(attempt: Callable[[bool], Awaitable[T]], pause: Pause) -> T:
    """Return what `attempt` returns; it is told whether it may be asked to wait and try again."""
    waited = timedelta(0)
    while True:
        try:
            return await attempt(waited < LONGEST)
        except NameComesFree as soon:
            await pause(soon.left.total_seconds() + _MARGIN)
            waited += soon.left + timedelta(seconds=_MARGIN)
