"""What is alike for all turns that a supervisor begins: their ids and their ends are waited for."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress

import attrs

from letagents.domain.turns import Fate, Running

NAMING = 5.0
"""Seconds that the id of a turn which has just been begun is waited for by who is to leave."""
FIRST_LOOK = 0.05
"""Seconds before a turn that goes on is looked at again for the first time; then it doubles."""


@attrs.define(eq=False)
class Naming:
    """Whether a turn was begun whose id is not written down yet."""

    _named: asyncio.Event = attrs.field(factory=asyncio.Event)

    def __attrs_post_init__(self) -> None:
        self.done()

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Begin a turn within this; it is named once `done` is called, or at the end."""
        self._named.clear()
        try:
            yield
        finally:
            self.done()

    def done(self) -> None:
        """Say that the id is written down."""
        self._named.set()

    async def waited_for(self) -> None:
        """Return once the id is written down, or will not be soon."""
        with suppress(TimeoutError):
            async with asyncio.timeout(NAMING):
                await self._named.wait()


async def over(
    fate: Fate,
    ask: Callable[[], Awaitable[Fate]],
    pause: Callable[[float], Awaitable[None]],
    *,
    longest: float,
) -> Fate:
    """Return how a turn ended that stands so now, once `ask` says that it has ended.

    It is asked more and more seldom, and at least each `longest` seconds.
    """
    seconds = FIRST_LOOK
    while isinstance(fate, Running):
        await pause(seconds)
        seconds = min(2 * seconds, longest)
        fate = await ask()
    return fate
