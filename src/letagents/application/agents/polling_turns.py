"""The one turn in which an agent waits for messages by itself, while its process lives.

It is written down before it is begun. Whoever comes after a killed supervisor finds out what became
of it, and begins no other in the same process; its end ends the process, and the next process has a
turn of its own. What is said in the room is not handed over here: the agent asks for it
(`polls.py`).
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import anyio
import attrs
import structlog

from letagents.application.agents import begun_turns
from letagents.application.agents.admission import admitted
from letagents.application.agents.agent import Agent
from letagents.application.agents.begun_turns import Naming
from letagents.application.agents.endings import end_all
from letagents.application.agents.outages import outlasted
from letagents.application.agents.polls import Polls
from letagents.domain import custody, turn_prompts, turns
from letagents.domain.custody import End, Phase, Polling
from letagents.domain.ids import MessageId
from letagents.domain.messages import After
from letagents.domain.turns import Fate
from letagents.ports.ids import Ids
from letagents.ports.providers import Turn
from letagents.ports.rooms import RoomTransport
from letagents.ports.supervision import Supervision

log = structlog.get_logger()

POLL = timedelta(seconds=25)
"""How long an empty room is waited in at a time."""
LOOKED_EVERY = 15.0
"""Seconds between two looks at a turn that an earlier supervisor has begun."""


@attrs.define(eq=False)
class PollingTurn:
    """The turn of one process of an agent."""

    agent: Agent
    journal: Supervision
    rooms: RoomTransport
    polls: Polls
    ids: Ids
    pause: Callable[[float], Awaitable[None]] = anyio.sleep
    tell: Callable[[str, str], None] = lambda kind, summary: None
    """Is told what happens, as it happens."""
    _naming: Naming = attrs.field(factory=Naming)

    @property
    def has_moved(self) -> bool:
        """Whether the agent has another room now: who polls stays where it is."""
        return False

    def look_again(self) -> None:
        """Do nothing: the agent looks itself."""

    async def run(self) -> None:
        """See the turn through to its end; who cancels this leaves it running.

        Raises:
            TurnUnsettled: the agent's process ended in it.
            FenceLost: another supervisor has taken over.
            LetAgentsError: the room refuses this agent.
        """
        unwatch = self.agent.conversation.watch(lambda one: self.tell(one.method, one.summary))
        turn = asyncio.create_task(self._turn())
        try:
            await asyncio.wait((turn,))
            turn.result()
        finally:
            unwatch()
            await self._naming.waited_for()
            await end_all(turn)

    async def _turn(self) -> None:
        entry_id, execution_id = self.agent.entry_id, self.agent.execution_id
        known = await self.polls.of(entry_id, execution_id)
        try:
            fate = await (self._begun() if known is None else self._looked_up(known))
        except turns.TurnUnsettled:
            await self._change(custody.uncertain)
            raise
        await self._change(lambda polling: custody.over(polling, _end(fate)))
        log.info("polling.over", entry_id=entry_id, end=_end(fate).value)
        self.tell("polling.over", why(fate))

    async def _begun(self) -> Fate:
        begins = await self._where_it_begins()
        activation_id = self.ids.uuid()
        await self.polls.begin(self.agent.entry_id, activation_id, begins)
        text = turn_prompts.polling(
            activation_id, self.agent.charter, is_at_the_beginning=begins == MessageId(1)
        )

        async def started(turn_id: str) -> None:
            await self._change(lambda polling: custody.active(polling, turn_id))
            self._naming.done()
            self.tell("polling.began", f"It waits from {begins} on.")

        with self._naming.under_way():
            turn = Turn(activation_id, text, self.ids.uuid())
            return await self.agent.conversation.run(turn, started)

    async def _where_it_begins(self) -> MessageId:
        """Return up to where the agent has seen its room; an empty one is waited in."""
        agent = self.agent
        known = await admitted(self.journal, self.rooms, agent.entry_id, agent.room_id)
        cursor = known.cursor
        while cursor is None:
            page = await outlasted(
                lambda: self.rooms.wait(
                    agent.room_id, After(None), timeout=POLL, viewer=agent.fence
                ),
                self.pause,
                room_id=str(agent.room_id),
            )
            cursor = page.messages[0].id if page.messages else None
        return cursor

    async def _looked_up(self, known: Polling) -> Fate:
        """Find out what became of the turn that an earlier supervisor has begun."""
        if known.phase is Phase.COMPLETE:
            return turns.Unknowable("its turn is over")
        if known.session_id != str(self.agent.fence.session_id):
            return turns.Unknowable("its server gave it another session")
        turn_id = known.turn_id

        async def ask() -> Fate:
            return await self.agent.conversation.fate(known.activation_id, turn_id)

        await self._change(custody.uncertain)
        fate = await ask()
        if turn_id is not None and isinstance(fate, turns.Running):
            await self._change(lambda polling: custody.active(polling, turn_id))
        return await begun_turns.over(fate, ask, self.pause, longest=LOOKED_EVERY)

    async def _change(self, move: Callable[[Polling], Polling]) -> None:
        known = await self.polls.of(self.agent.entry_id, self.agent.execution_id)
        if known is not None:
            await self.polls.change(self.agent.entry_id, known.activation_id, move)


def why(fate: Fate) -> str:
    """Return what is said of a turn that has ended."""
    match fate:
        case turns.Failed() | turns.Unknowable() | turns.Unreadable():
            return fate.why
        case turns.Interrupted():
            return "It was broken off."
        case turns.NeverStarted():
            return "It never began."
        case _:
            return "The agent has stopped waiting."


def _end(fate: Fate) -> End:
    match fate:
        case turns.Failed():
            return End.FAILED
        case turns.Interrupted():
            return End.INTERRUPTED
        case turns.NeverStarted() | turns.Unknowable():
            return End.LOST
        case _:
            return End.COMPLETED
