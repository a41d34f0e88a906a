"""Cursors on their way to a supervisor: of several for one route only the newest is sent.

(Source: supervisor 4.10.) They are sent off the path of any answer. One that may still pass is sent
again after a pause, unless a newer one has come; one that is refused is dropped, and what is known
of its route is forgotten.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from contextlib import suppress
from typing import Generic, TypeVar

import attrs
import structlog

from letagents.domain.errors import LetAgentsError
from letagents.domain.ids import MessageId
from letagents.domain.supervised import (
    SupervisorGarbled,
    SupervisorSilent,
    SupervisorUnavailable,
)

log = structlog.get_logger()

R = TypeVar("R", bound=Hashable)

PAUSES = (0.25, 1.0, 3.0)
"""Seconds before a cursor is sent again."""


@attrs.define
class _Waiting:
    """The newest cursor of a route that is not sent yet; one that is being sent is none."""

    cursor: MessageId | None = None
    failures: int = 0
    has_newer: asyncio.Event = attrs.field(factory=asyncio.Event)

    def is_ahead_of(self, cursor: MessageId) -> bool:
        """Whether the one that waits is newer."""
        return self.cursor is not None and self.cursor > cursor


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
        tasks = tuple(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._tasks.clear()  # one that had not begun yet has not put itself away
        self._waiting.clear()

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
        waiting.cursor, waiting.failures = None, 0
        try:
            await self._send(route, str(cursor))
        except LetAgentsError as error:
            if cursor is None or waiting.is_ahead_of(cursor):
                return
            waiting.cursor = None  # an older one, which says no more
            if _may_pass(error) and failures < len(self._pauses):
                waiting.cursor, waiting.failures = cursor, failures + 1
                await self._paused(waiting, self._pauses[failures])
            else:
                self._forget(route)
                log.warning("cursor.dropped", code=error.code)

    async def _paused(self, waiting: _Waiting, seconds: float) -> None:
        """Return after a pause, or as soon as there is a newer cursor."""
        waiting.has_newer.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await waiting.has_newer.wait()


def _may_pass(error: LetAgentsError) -> bool:
    """Whether the same cursor may pass another time."""
    may = isinstance(error, SupervisorUnavailable | SupervisorSilent)
    return may and not isinstance(error, SupervisorGarbled)
