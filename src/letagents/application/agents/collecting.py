"""Writing down what is said in an agent's room, as items for what is for the agent."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import anyio
import attrs

from letagents.application.agents.admission import admitted, check_room
from letagents.application.agents.agent import Agent, Words
from letagents.domain import ingress
from letagents.domain.activation import Reason
from letagents.domain.ids import MessageId
from letagents.domain.ingress import Seen
from letagents.domain.messages import After, Message
from letagents.ports.rooms import RoomTransport
from letagents.ports.supervision import Journal, Supervision

HUSH = 0.02
"""Seconds in which who has heard itself does not listen: its call is to be answered first."""


@attrs.define(eq=False)
class Collecting:
    """What comes in for one agent."""

    agent: Agent
    journal: Supervision
    rooms: RoomTransport
    words: Words
    pause: Callable[[float], Awaitable[None]] = anyio.sleep

    async def collect(self, timeout: timedelta) -> int:
        """Write down what was said since the last time, as soon as something was; return how much
        of it is for the agent. An agent that is new in the room begins at its end.

        Raises:
            RoomChanged: the agent is in another room meanwhile.
            LetAgentsError: the room cannot be had.
        """
        entry_id, room_id = self.agent.entry_id, self.agent.room_id
        known = await admitted(self.journal, self.rooms, entry_id, room_id)
        seen = [self._seen(said) for said in await self._heard(known.cursor, timeout)]

        def take(journal: Journal) -> int:
            check_room(journal, entry_id, room_id)
            now, last = journal.ingress(entry_id) or known, journal.last_sequence(entry_id)
            there, items = ingress.taken(now, seen, after=known.cursor, last_sequence=last)
            for item in items:
                journal.put_item(item)
            if there != now:
                journal.put_ingress(there)
            return len(items)

        return await self.journal.change(take)

    async def _heard(self, cursor: MessageId | None, timeout: timedelta) -> list[Message]:
        """Return what was said behind `cursor`, once anybody else has spoken or time is up.

        Nobody is woken by their own words: that an agent has heard itself is worth no record.
        """
        loop, heard = asyncio.get_running_loop(), list[Message]()
        ends = loop.time() + timeout.total_seconds()
        while all(map(_is_own, heard)):
            if heard:
                await self.pause(HUSH)
            left = timedelta(seconds=max(ends - loop.time(), 0))
            page = await self.rooms.wait(
                self.agent.room_id, After(cursor), timeout=left, viewer=self.agent.fence
            )
            if not page.messages:
                break
            heard, cursor = [*heard, *page.messages], page.messages[-1].id
        return heard

    def _seen(self, said: Message) -> Seen:
        activation = said.activation
        is_for_agent = activation is not None and activation.addressed
        if not is_for_agent:
            return Seen(said.id, is_for_agent=False)
        text, why = self.words.message(said), self.words.activation(said)
        return Seen(said.id, True, text, why, said.is_thread_reply)


def _is_own(said: Message) -> bool:
    return said.activation is not None and said.activation.reason is Reason.SELF_MESSAGE
