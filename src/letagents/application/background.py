"""What goes on beside the calls of one client, until it leaves."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
import attrs
import structlog
from anyio.abc import TaskGroup

from letagents.domain.errors import LetAgentsError

log = structlog.get_logger()

Work = Callable[[], Awaitable[None]]


@attrs.define(eq=False)
class Background:
    """The work of one client that nobody waits for. Where a client does not last, there is none."""

    _tasks: TaskGroup | None = None

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Do what is begun meanwhile, and end it at the end."""
        # What the client raises is its own: it must not come out as one of a group.
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        try:
            yield
        finally:
            tasks, self._tasks = self._tasks, None
            tasks.cancel_scope.cancel()
            await tasks.__aexit__(None, None, None)

    def begin(self, name: str, work: Work) -> Callable[[], None]:
        """Do `work`; return what ends it. Its failure is logged, and disturbs nobody."""
        scope = anyio.CancelScope()
        if self._tasks is not None:
            self._tasks.start_soon(_done, name, work, scope)
        return scope.cancel


async def _done(name: str, work: Work, scope: anyio.CancelScope) -> None:
    try:
        with scope:
            await work()
    except LetAgentsError as error:
        log.info("background.ended", name=name, code=error.code)
    except Exception:  # nobody waits for it: it must not end the client
        log.exception("background.failed", name=name)
