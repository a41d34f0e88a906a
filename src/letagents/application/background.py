"""What goes on beside the calls of one client, until it leaves."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import attrs
import structlog

from letagents.domain.errors import LetAgentsError

log = structlog.get_logger()

Work = Callable[[], Awaitable[None]]


@attrs.define(eq=False)
class Background:
    """The work of one client that nobody waits for. Where a client does not last, there is none.

    Each work is a task of its own and not one of a group, since whoever embeds a client may leave
    it in another task than entered it.
    """

    _lasts: bool = False
    _tasks: set[asyncio.Task[None]] = attrs.field(factory=set)

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Do what is begun meanwhile, and end it at the end."""
        self._lasts = True
        try:
            yield
        finally:
            self._lasts = False
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def begin(self, name: str, work: Work) -> Callable[[], object]:
        """Do `work`; return what ends it. Its failure is logged, and disturbs nobody."""
        if not self._lasts:
            return lambda: None
        task = asyncio.create_task(_done(name, work), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task.cancel


async def _done(name: str, work: Work) -> None:
    try:
        await work()
    except LetAgentsError as error:
        log.info("background.ended", name=name, code=error.code)
    except Exception:  # nobody waits for it: it must not end the client
        log.exception("background.failed", name=name)
