"""Taking an agent to the other room that a turn of it asked for, or a person."""

from collections.abc import Awaitable, Callable

import anyio
import attrs
import structlog

from letagents.application.agents.agent import Agent, Words
from letagents.application.agents.outages import outlasted
from letagents.domain import agent_troubles, effects, room_moves, rooms
from letagents.domain.errors import LetAgentsError
from letagents.domain.ids import MessageId
from letagents.domain.inbox import Move
from letagents.domain.messages import Latest
from letagents.ports.clock import Clock
from letagents.ports.rooms import RoomTransport
from letagents.ports.supervision import Journal, Supervision

log = structlog.get_logger()


@attrs.define(eq=False)
class RoomMoves:
    """The moves of one agent."""

    agent: Agent
    journal: Supervision
    rooms: RoomTransport
    words: Words
    clock: Clock
    tell: Callable[[str, str], None]
    pause: Callable[[float], Awaitable[None]] = anyio.sleep

    async def make(self, move: Move) -> bool:
        """Make a move if the other room lets the agent in; return whether it did."""
        try:
            room_id, newest = await self._entered(move)
        except LetAgentsError as error:
            refused = error
            await self.journal.change(lambda journal: self._stay(journal, move, refused))
            log.warning("agent.stayed", entry_id=self.agent.entry_id, code=error.code)
            return False
        await self.journal.change(lambda journal: self._go(journal, move, room_id, newest))
        self.tell("agent.moved_room", room_id)
        log.info("agent.moved_room", entry_id=self.agent.entry_id, room_id=room_id)
        return True

    async def _entered(self, move: Move) -> tuple[str, MessageId | None]:
        """Enter a room; return its own name and its last message."""

        async def enter() -> tuple[str, MessageId | None]:
            room = await self.rooms.join(rooms.canonical(move.destination))
            page = await self.rooms.read(room.room_id, Latest(1))
            return str(room.room_id), page.messages[-1].id if page.messages else None

        return await outlasted(enter, self.pause, room_id=move.destination)

    def _go(self, journal: Journal, move: Move, room_id: str, newest: MessageId | None) -> None:
        entry_id = self.agent.entry_id
        entry, waiting = journal.entry(entry_id), journal.unfinished(entry_id)
        if entry is None:
            return
        there, begun, cancelled = room_moves.moved(entry, room_id, newest, waiting)
        journal.put_entry(there)
        journal.put_ingress(begun)
        for item in cancelled:
            journal.put_item(item)
        effect = journal.effect_named(move.effect_id)
        if effect is not None:
            result = self.words.moved(room_id)
            journal.put_effect(effects.completed(effect, result, now=self.clock.now()))

    def _stay(self, journal: Journal, move: Move, why: LetAgentsError) -> None:
        entry, effect = journal.entry(self.agent.entry_id), journal.effect_named(move.effect_id)
        if entry is not None:
            journal.put_entry(room_moves.stayed(entry, agent_troubles.shown(why, entry.entry_id)))
        if effect is not None:  # which is told to the agent
            journal.put_effect(effects.failed(effect, str(why), now=self.clock.now()))
