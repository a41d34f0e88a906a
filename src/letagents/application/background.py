"""What goes on beside the calls of one client, until it leaves."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
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
    _begun: dict[asyncio.Task[None], anyio.CancelScope] = attrs.field(factory=dict)

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Do what is begun meanwhile, and end it at the end."""
        self._lasts = True
        try:
            yield
        finally:
            self._lasts = False
            for scope in self._begun.values():
                scope.cancel()
            await asyncio.gather(*self._begun)

    def begin(self, name: str, work: Work) -> Callable[[], None]:
        """Do `work`; return what ends it. Its failure is logged, and disturbs nobody."""
        scope = anyio.CancelScope()
        if self._lasts:
            task = asyncio.create_task(_done(name, work, scope), name=name)
            self._begun[task] = scope
            task.add_done_callback(self._begun.pop)
        return scope.cancel


async def _done(name: str, work: Work, scope: anyio.CancelScope) -> None:
    try:
        with scope:
            await work()
    except LetAgentsError as error:
        log.info("background.ended", name=name, code=error.code)
    except Exception:  # nobody waits for it: it must not end the client
        log.exception("background.failed", name=name)
