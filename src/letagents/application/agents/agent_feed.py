"""What agents do, as it happens: the last of it, and whoever waits for more.

It is in memory alone. What has to outlive a supervisor is in its journal.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from datetime import datetime, timedelta

import attrs

from letagents.ports.clock import Clock

KEPT = 500
"""So many events of an agent are kept."""
LONGEST = 2000
"""Characters of what is told of one."""


@attrs.frozen
class Event:
    """Something that happened to an agent, or that it does."""

    sequence: int
    at: datetime
    kind: str
    summary: str


@attrs.define(eq=False)
class Feed:
    """What one agent does."""

    _clock: Clock
    _events: "deque[Event]" = attrs.field(factory=lambda: deque(maxlen=KEPT))
    _last: int = 0
    _more: asyncio.Event = attrs.field(factory=asyncio.Event)
    is_over: bool = False
    """Whether nothing is told any more."""

    def tell(self, kind: str, summary: str) -> None:
        """Let everybody know what happened."""
        self._last += 1
        self._events.append(Event(self._last, self._clock.now(), kind, summary[:LONGEST]))
        self._more.set()
        self._more = asyncio.Event()

    async def after(self, sequence: int, timeout: timedelta) -> Sequence[Event]:
        """Return what happened after the event of that number, once there is something.

        A number that is ahead of all is of another supervisor: everything is returned.
        """
        known = sequence if sequence <= self._last else 0
        if known == self._last and not self.is_over:
            try:
                async with asyncio.timeout(timeout.total_seconds()):
                    await self._more.wait()
            except TimeoutError:
                return ()
        return [one for one in self._events if one.sequence > known]

    def end(self) -> None:
        """Let nobody wait any longer."""
        self.is_over = True
        self._more.set()


@attrs.define(eq=False)
class Feeds:
    """What each agent does."""

    _clock: Clock
    _feeds: dict[str, Feed] = attrs.field(factory=dict)
    _is_over: bool = False

    def of(self, entry_id: str) -> Feed:
        """Return what one agent does."""
        feed = self._feeds.get(entry_id)
        if feed is None:
            feed = self._feeds[entry_id] = Feed(self._clock, is_over=self._is_over)
        return feed

    def end(self) -> None:
        """Let nobody wait any longer, nor from now on: the supervisor ends."""
        self._is_over = True
        for feed in self._feeds.values():
            feed.end()
