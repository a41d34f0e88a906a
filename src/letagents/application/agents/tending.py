"""Telling one agent what is said in its room while its process lives, wherever it moves."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import attrs
import structlog

from letagents.application.agents.agent import Agent, Words
from letagents.application.agents.agent_records import AgentRecord
from letagents.application.agents.delivery import Delivery
from letagents.application.agents.endings import end_all, until_one_is_over
from letagents.application.agents.entering import Entering, InRoom
from letagents.application.agents.polling_turns import PollingTurn
from letagents.application.agents.polls import Polls
from letagents.domain import manifest, turn_answers
from letagents.domain.errors import LetAgentsError
from letagents.domain.generations import FenceLost
from letagents.domain.ids import RoomId
from letagents.domain.manifest import Ending, Entry, Execution, TurnControl
from letagents.domain.turn_controls import TurnControlRefused
from letagents.ports.providers import Cause, Conversation
from letagents.ports.supervision import Journal

log = structlog.get_logger()

THERE = "agent.there"
"""What is told of an agent that can be spoken to."""
LOOK_AGAIN = 15.0
"""Seconds after which an agent is looked at again at the latest."""


@attrs.define(eq=False)
class Tending:
    """The living process of one agent, as long as there is one, and what is said to it."""

    record: AgentRecord
    entering: Entering
    words: Words
    idle: Callable[[float], Awaitable[None]]
    """Waits so many seconds, or until the agent is to be looked at."""
    wake: Callable[[], None]
    """Has the agent looked at now."""
    conversation: Conversation | None = None
    """What its process knows; None while none is known to live."""
    _delivery: Delivery | PollingTurn | None = None
    _delivering: "asyncio.Task[None] | None" = None

    @property
    def is_delivering(self) -> bool:
        """Whether the agent is told what is said now."""
        return self._delivering is not None

    def look_again(self) -> None:
        """Look whether there is something to deliver."""
        if self._delivery is not None:
            self._delivery.look_again()

    # --- begun, and ended -------------------------------------------------------------------------

    async def begin(
        self,
        entry: Entry,
        execution: Execution,
        conversation: Conversation,
        place: InRoom | None = None,
    ) -> None:
        """Tell the agent what is said in its room, where it is already at `place`, from now on."""
        place = place or await self.entering.enter(entry, execution)
        self.conversation = conversation
        self._delivery = delivery = self._served(place, execution, conversation)
        called = f", as {place.name}: its name is somebody's there" if place.name else ""
        self.record.tell(THERE, f"It is in {place.entry.room_id}{called}.")
        self._delivering = asyncio.create_task(self._delivered(delivery, execution))
        self._delivering.add_done_callback(lambda _: self.wake())

    def check(self) -> None:
        """Note that the process has ended, if it has.

        Raises: what ended it, if that was no end of the process.
        """
        delivering = self._delivering
        if delivering is not None and delivering.done():
            self._delivering = self.conversation = None
            delivering.result()

    async def rest(self) -> None:
        """Deliver nothing until it is begun again; the process lives on, and is known."""
        conversation = self.conversation
        await self.leave()
        self.conversation = conversation

    async def leave(self) -> None:
        """Deliver nothing any more; the process is left as it is."""
        delivering, self._delivering = self._delivering, None
        if delivering is not None:
            await end_all(delivering)
        self.conversation = self._delivery = None

    async def stop_turn(self, begin: Callable[[Journal], TurnControl]) -> TurnControl:
        """Break off the turn that `begin` writes down to be stopped. Raises: as `begin`."""
        if isinstance(self._delivery, PollingTurn):
            raise TurnControlRefused(
                "An agent that waits for messages by itself is in no turn about one of them.",
                remedy="Pause the agent: that ends its process, which later goes on where it was.",
            )
        if not isinstance(self._delivery, Delivery):
            raise TurnControlRefused(
                "The agent is in no turn that can be spoken to now.", remedy="Look again."
            )
        return await self._delivery.stop_turn(begin)

    # --- while it lives ---------------------------------------------------------------------------

    def _served(
        self, place: InRoom, execution: Execution, conversation: Conversation
    ) -> Delivery | PollingTurn:
        """Return how the agent comes to what is said in its room."""
        entry, sessions, ids = place.entry, self.record.sessions, self.record.ids
        agent = Agent(
            entry.entry_id,
            RoomId(entry.room_id),
            entry.charter,
            execution.work_attempt_id,
            execution.execution_id,
            place.fence,
            conversation,
            turn_answers.is_said_by_tool(entry.provider),
        )
        tell = self.record.tell
        if entry.delivery is manifest.Delivery.POLLING:
            polls = Polls(sessions)
            return PollingTurn(agent, sessions.journal, place.rooms, polls, ids, tell=tell)
        return Delivery(
            agent,
            sessions.journal,
            place.rooms,
            self.words,
            sessions.clock,
            ids,
            tell=tell,
            reached=place.reached,
        )

    async def _delivered(self, delivery: Delivery | PollingTurn, execution: Execution) -> None:
        """Deliver until the process ends, or delivering does; then see that both have."""
        conversation = delivery.agent.conversation
        delivering = asyncio.create_task(delivery.run())
        ending = asyncio.create_task(conversation.ended())
        await until_one_is_over(delivering, ending)
        why = None if delivering.cancelled() else delivering.exception()
        if isinstance(why, FenceLost):
            raise why  # the process is another supervisor's
        if delivery.has_moved and why is None and ending.cancelled():
            await self._followed(delivery, execution)
            return
        if why is not None:
            said = why.happened if isinstance(why, LetAgentsError) else type(why).__name__
            unforeseen = None if isinstance(why, LetAgentsError) else why
            log.warning(
                "delivery.ended",
                entry_id=delivery.agent.entry_id,
                error=said,
                exc_info=unforeseen,
            )
            self.record.tell("delivery.ended", said)
        ended = await conversation.end()
        self.conversation = None
        cause = Ending(ended.cause.value)
        if ended.cause is Cause.STOPPED and not delivering.cancelled():
            # We had to end it: its turns were lost, or the one in which it polls is over.
            cause = Ending.EXITED if why is None else Ending.CRASHED
        await self.record.ended(execution, cause, ended)

    async def _followed(self, delivery: Delivery | PollingTurn, execution: Execution) -> None:
        """Go on in the room to which the agent has moved, and leave the one where it was."""
        with suppress(LetAgentsError):
            await delivery.rooms.disconnect(delivery.agent.room_id, delivery.agent.fence)
        while True:
            try:
                place = await self.entering.enter(await self.record.entry(), execution)
            except LetAgentsError as error:
                if not error.retry.may_pass:
                    await delivery.agent.conversation.leave()  # its process is found again
                    raise
                await self.idle(LOOK_AGAIN)
            else:
                await self.begin(place.entry, execution, delivery.agent.conversation, place)
                return
