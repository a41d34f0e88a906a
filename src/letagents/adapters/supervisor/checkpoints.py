"""Cursors on their way to a supervisor: of several for one route only the newest is sent.

(Source: supervisor 4.10.) They are sent off the path of any answer. One that may still pass is sent
again after a pause, unless a newer one has come; one that is refused is dropped, and what is known
of its route is forgotten.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

import attrs
import structlog

from letagents.domain.errors import LetAgentsError
from letagents.domain.ids import MessageId
from letagents.domain.supervised import SupervisorSilent, SupervisorUnavailable

log = structlog.get_logger()

R = TypeVar("R", bound=Hashable)

PAUSES = (0.25, 1.0, 3.0)
"""Seconds before a cursor is sent again."""


@attrs.define
class _Waiting:
    """The newest cursor of a route that is not sent yet."""

    cursor: MessageId | None = None
    failures: int = 0
    has_newer: asyncio.Event = attrs.field(factory=asyncio.Event)


@attrs.define(eq=False)
class Checkpoints(Generic[R]):
    """What is still to be sent, by its routes."""

    _send: Callable[[R, str], Awaitable[None]]
    _forget: Callable[[R], None]
    _pauses: tuple[float, ...] = PAUSES
    _waiting: dict[R, _Waiting] = attrs.field(factory=dict)
    _tasks: dict[R, asyncio.Task[None]] = attrs.field(factory=dict)

    def schedule(self, route: R, cursor: MessageId) -> None:
        """Have `cursor` sent, unless a newer one of its route is waiting already."""
        waiting = self._waiting.setdefault(route, _Waiting())
        if waiting.cursor is not None and waiting.cursor >= cursor:
            return
        waiting.cursor, waiting.failures = cursor, 0
        waiting.has_newer.set()
        if route not in self._tasks:
            self._tasks[route] = asyncio.create_task(self._drained(route))

    async def settled(self) -> None:
        """Return when nothing is waiting any more."""
        while self._tasks:
            await asyncio.wait(self._tasks.values())

    async def aclose(self) -> None:
        """Drop what is waiting."""
        for task in tuple(self._tasks.values()):
            task.cancel()
        await self.settled()

    async def _drained(self, route: R) -> None:
        waiting = self._waiting[route]
        try:
            while waiting.cursor is not None:
                await self._sent(route, waiting)
        finally:
            del self._tasks[route], self._waiting[route]

    async def _sent(self, route: R, waiting: _Waiting) -> None:
        """Send the newest cursor; leave it waiting if it may pass another time."""
        cursor, failures = waiting.cursor, waiting.failures
        waiting.cursor = None
        waiting.has_newer.clear()
        try:
            await self._send(route, str(cursor))
        except (SupervisorUnavailable, SupervisorSilent) as error:
            if failures < len(self._pauses):
                await self._later(waiting, cursor, failures)
            else:
                self._drop(route, error)
        except LetAgentsError as error:
            self._drop(route, error)

    async def _later(self, waiting: _Waiting, cursor: MessageId | None, failures: int) -> None:
        try:
            async with asyncio.timeout(self._pauses[failures]):
                await waiting.has_newer.wait()
        except TimeoutError:
            waiting.cursor, waiting.failures = cursor, failures + 1

    def _drop(self, route: R, error: LetAgentsError) -> None:
        if self._waiting[route].cursor is None:
            self._forget(route)
        log.warning("cursor.dropped", code=error.code)
