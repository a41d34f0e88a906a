"""Which agents there are and how each is, for whoever waits until that changes.

How often it has changed is counted in memory: a number means something together with the
generation of its supervisor alone.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar, cast

import attrs

from letagents.domain import agent_states, timelines
from letagents.domain.agent_states import State
from letagents.domain.inbox import Item
from letagents.domain.manifest import Entry
from letagents.ports.clock import Clock
from letagents.ports.supervision import Journal, Supervision

T = TypeVar("T")


@attrs.frozen
class Agent:
    """An agent as it is written down, and how it is."""

    entry: Entry
    state: State


@attrs.frozen
class States:
    """All agents, and the number of that state."""

    sequence: int
    agents: Sequence[Agent]


@attrs.define(eq=False)
class WatchedJournal:
    """The journal `inner`, whose agents can be waited for, and whose items remember their steps."""

    inner: Supervision
    _clock: Clock
    _kept: asyncio.Event = attrs.field(factory=asyncio.Event)
    _looking: asyncio.Lock = attrs.field(factory=asyncio.Lock)
    _states: States = States(0, ())
    _is_over: bool = False

    async def change(self, work: Callable[[Journal], T]) -> T:
        """Return what `work` returns once what it did is on the disk. Raises: as Supervision."""
        now = self._clock.now()
        done = await self.inner.change(lambda journal: work(cast(Journal, _Noting(journal, now))))
        self._wake()
        return done

    async def look(self, work: Callable[[Journal], T]) -> T:
        """Return what `work` finds in one state of the journal. Raises: as Supervision."""
        return await self.inner.look(work)

    async def agents_after(self, sequence: int, timeout: timedelta) -> States:
        """Return the agents once their state has another number than that, or time is over."""
        until = asyncio.get_running_loop().time() + timeout.total_seconds()
        while True:
            kept = self._kept
            states = await self._looked()
            if states.sequence != sequence or self._is_over:
                return states
            try:
                async with asyncio.timeout_at(until):
                    await kept.wait()
            except TimeoutError:
                return states

    def end(self) -> None:
        """Let nobody wait any longer."""
        self._is_over = True
        self._wake()

    def _wake(self) -> None:
        self._kept.set()
        self._kept = asyncio.Event()

    async def _looked(self) -> States:
        async with self._looking:  # a look that began earlier must not come to be the later one
            agents = await self.look(all_of)
            last = self._states
            if agents != last.agents or not last.sequence:
                self._states = States(last.sequence + 1, agents)
            return self._states


@attrs.define(eq=False)
class _Noting:
    """A journal within one transaction, in which each step of an item is noted."""

    _inner: Journal
    _now: datetime

    def put_item(self, item: Item) -> None:
        before = self._inner.item(item.item_id)
        self._inner.put_item(timelines.noted(before, item, now=self._now))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)  # all else is as it is


def agent(journal: Journal, entry: Entry) -> Agent:
    """Return how an agent is."""
    first = next(iter(journal.unfinished(entry.entry_id)), None)
    return Agent(entry, agent_states.of(entry, first))


def all_of(journal: Journal) -> list[Agent]:
    """Return all agents, by their names."""
    first = {one.entry_id: one for one in journal.firsts()}
    entries = journal.entries()
    return [Agent(one, agent_states.of(one, first.get(one.entry_id))) for one in entries]
