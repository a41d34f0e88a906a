"""What the room is told of a turn that has ended: its answer, once, or that there is none."""

from collections.abc import Awaitable, Callable

import anyio
import attrs
import structlog

from letagents.application.agents import item_steps
from letagents.application.agents.agent import Agent
from letagents.application.agents.outages import outlasted
from letagents.application.receipts import Reached
from letagents.domain import agent_troubles, inbox, turn_answers
from letagents.domain.errors import LetAgentsError, Retry
from letagents.domain.ids import ClientKey, RoomId
from letagents.domain.inbox import Item, Stage
from letagents.domain.messages import Draft, Message
from letagents.ports.rooms import RoomTransport
from letagents.ports.supervision import Supervision

log = structlog.get_logger()


@attrs.define(eq=False)
class Answers:
    """The answers of one agent, on their way into its room."""

    agent: Agent
    journal: Supervision
    rooms: RoomTransport
    tell: Callable[[str, str], None]
    pause: Callable[[float], Awaitable[None]] = anyio.sleep
    reached: Reached | None = None

    async def give(self, item: Item) -> None:
        """Tell the room of an item whose turn has just ended, where there is something to tell."""
        if item.stage is Stage.PUBLISHING:
            await self.publish(item)
        elif item.stage is Stage.ACKNOWLEDGED_NO_REPLY and item.said is not None and self.reached:
            await self.reached.passed_over(RoomId(item.room_id), item.said, self.agent.fence)

    async def publish(self, item: Item) -> None:
        """Post the answer of an item; one that its room refuses is kept, and blocks it.

        Raises:
            LetAgentsError: the room lets the agent in no more.
        """
        if item.stage is Stage.PENDING:
            item = await item_steps.change(self.journal, item, inbox.publishing)
        try:
            said = await self._said(item)
        except LetAgentsError as error:
            if error.retry is not Retry.NEVER:
                raise
            await self._refused(item, agent_troubles.shown(error, item.entry_id))
            return
        await item_steps.change(
            self.journal, item, lambda one: inbox.published(one, str(said.id), str(said.room_id))
        )
        log.info("turn.answered", entry_id=item.entry_id, number=said.id.number)
        self.tell("turn.answered", f"{said.id} answers {item.message_id}.")

    async def _refused(self, item: Item, why: str) -> None:
        await item_steps.change(self.journal, item, lambda one: inbox.blocked(one, why))
        self.tell("turn.blocked", why)

    async def _said(self, item: Item) -> Message:
        """Post the answer, which is one message however often this is done."""
        text = item.outcome.text if item.outcome is not None else None
        about, room_id = item.said, RoomId(item.room_id)
        thread = about if turn_answers.goes_into_thread(item) else None
        draft = Draft(turn_answers.postable(text or ""), ClientKey(item.reply_key), about, thread)
        return await outlasted(
            lambda: self.rooms.post(room_id, draft, self.agent.fence),
            self.pause,
            room_id=item.room_id,
        )
