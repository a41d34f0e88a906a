"""Handing one supervised agent what is said to it: each message is a turn, each answer is posted.

What comes in is collected (`collecting.py`) beside what goes out: the first item is brought a stage
further by its turn (`item_turns.py`), by its answer (`answers.py`), or by a move to another room
(`room_moves.py`), until there is none.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import anyio
import attrs
import structlog

from letagents.application.agents.agent import Agent, Words
from letagents.application.agents.answers import Answers
from letagents.application.agents.collecting import Collecting
from letagents.application.agents.endings import end_all
from letagents.application.agents.item_turns import ItemTurns
from letagents.application.agents.outages import AGAIN_AFTER
from letagents.application.agents.room_moves import RoomMoves
from letagents.application.receipts import Reached
from letagents.domain import agent_troubles, inbox
from letagents.domain.errors import LetAgentsError
from letagents.domain.inbox import Item, Move
from letagents.domain.ingress import RoomChanged
from letagents.domain.manifest import TurnControl
from letagents.ports.clock import Clock
from letagents.ports.ids import Ids
from letagents.ports.rooms import RoomTransport
from letagents.ports.supervision import Journal, Supervision

log = structlog.get_logger()

POLL = timedelta(seconds=25)


@attrs.define(eq=False)
class Delivery:
    """What is said to one agent, on its way to it and back."""

    agent: Agent
    journal: Supervision
    rooms: RoomTransport
    words: Words
    clock: Clock
    ids: Ids
    pause: Callable[[float], Awaitable[None]] = anyio.sleep
    tell: Callable[[str, str], None] = lambda kind, summary: None
    """Is told what happens, as it happens."""
    reached: Reached | None = None

    _collecting: Collecting = attrs.field(init=False)
    _turns: ItemTurns = attrs.field(init=False)
    _answers: Answers = attrs.field(init=False)
    _moves: RoomMoves = attrs.field(init=False)
    _came_in: asyncio.Event = attrs.field(factory=asyncio.Event)
    _moved: asyncio.Event = attrs.field(factory=asyncio.Event)

    def __attrs_post_init__(self) -> None:
        agent, journal, rooms, words = self.agent, self.journal, self.rooms, self.words
        clock, tell, pause = self.clock, self.tell, self.pause
        self._collecting = Collecting(agent, journal, rooms, words, pause)
        self._turns = ItemTurns(agent, journal, rooms, words, clock, self.ids, tell, pause)
        self._answers = Answers(agent, journal, rooms, tell, pause, self.reached)
        self._moves = RoomMoves(agent, journal, rooms, words, clock, tell, pause)

    @property
    def has_moved(self) -> bool:
        """Whether the agent has another room now: then nothing more is delivered here."""
        return self._moved.is_set()

    async def run(self) -> None:
        """Collect and deliver until the agent has moved, or something ends it.

        Raises: as `deliver`, and as the room.
        """
        unwatch = self.agent.conversation.watch(lambda one: self.tell(one.method, one.summary))
        collecting = asyncio.create_task(self._collect_always())
        delivering = asyncio.create_task(self._deliver_always())
        try:
            done, _ = await asyncio.wait(
                (collecting, delivering), return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                task.result()
        finally:
            unwatch()
            await self._turns.naming.waited_for()
            await end_all(collecting, delivering)

    def look_again(self) -> None:
        """Look whether there is something to deliver: a person has changed it."""
        self._came_in.set()

    async def _collect_always(self) -> None:
        while True:
            try:
                if await self.collect():
                    self._came_in.set()
            except RoomChanged:
                await self._moved.wait()
                return
            except LetAgentsError as error:
                if not error.retry.may_pass:
                    raise
                log.warning("room.unavailable", entry_id=self.agent.entry_id, code=error.code)
                why = agent_troubles.shown(error, self.agent.entry_id)
                self.tell("room.unavailable", why)
                await self.pause(AGAIN_AFTER)

    async def _deliver_always(self) -> None:
        while True:
            while await self.deliver():
                pass
            if self.has_moved:
                return
            await self._came_in.wait()
            self._came_in.clear()

    async def collect(self, timeout: timedelta = POLL) -> int:
        """Write down what was said since the last time; return how much is for the agent.

        Raises: as Collecting.collect.
        """
        return await self._collecting.collect(timeout)

    async def deliver(self) -> bool:
        """Bring the first item a stage further or to its end; return whether there was one.

        Raises:
            TurnUnsettled: the agent's process ended in the turn; the next one is asked about it.
            FenceLost: another supervisor has taken over.
            LetAgentsError: the room refuses this agent.
        """
        move, item = await self.journal.look(self._next)
        if move is not None:
            if await self._moves.make(move):
                self._moved.set()
            return not self.has_moved
        if item is None:
            return False
        if item.has_answer:
            await self._answers.publish(item)
            return True
        left = await (self._turns.look_up(item) if item.is_unsure else self._turns.run(item))
        if left is not None:
            await self._answers.give(left)
        return True

    def _next(self, journal: Journal) -> tuple[Move | None, Item | None]:
        entry = journal.entry(self.agent.entry_id)
        move = entry.move if entry is not None else None
        first = inbox.head(journal.unfinished(self.agent.entry_id))
        if first is not None and (first.is_unsure or first.has_answer):
            return None, first  # its turn was run, and a person wanted the move meanwhile
        return move, first

    async def stop_turn(self, begin: Callable[[Journal], TurnControl]) -> TurnControl:
        """Break off the turn that `begin` writes down to be stopped. Raises: as `begin`."""
        return await self._turns.stop(begin)
