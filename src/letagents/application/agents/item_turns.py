"""The turn of one item: begun once, looked up after a crash, stopped, and ended.

Every step is written down before the next begins (`domain/inbox.py` has the walk), so that whoever
comes after a killed supervisor finds out by what is written and by the provider's transcript what
was done. Nothing is done within a transaction.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime

import anyio
import attrs
import structlog

from letagents.application.agents import begun_turns, entries, item_steps
from letagents.application.agents.agent import Agent, Words
from letagents.application.agents.begun_turns import Naming
from letagents.application.agents.outages import outlasted
from letagents.domain import (
    effects,
    inbox,
    manifest,
    room_moves,
    turn_answers,
    turn_controls,
    turn_prompts,
    turns,
)
from letagents.domain.errors import LetAgentsError
from letagents.domain.ids import RoomId
from letagents.domain.inbox import Item, Stage, TurnBinding
from letagents.domain.manifest import TurnControl
from letagents.domain.messages import Before, Latest
from letagents.domain.turns import Fate
from letagents.ports.clock import Clock
from letagents.ports.ids import Ids
from letagents.ports.providers import Turn
from letagents.ports.rooms import RoomTransport
from letagents.ports.supervision import Journal, Supervision

log = structlog.get_logger()

CONTEXT = 30
"""So many messages before the one of a turn are told with it."""
LOOKED_EVERY = 1.0
"""Seconds between two looks at a turn that an earlier supervisor has begun, at the most."""


@attrs.define(eq=False)
class ItemTurns:
    """The turns of one agent."""

    agent: Agent
    journal: Supervision
    rooms: RoomTransport
    words: Words
    clock: Clock
    ids: Ids
    tell: Callable[[str, str], None]
    pause: Callable[[float], Awaitable[None]] = anyio.sleep
    naming: Naming = attrs.field(factory=Naming)
    _beginning: asyncio.Lock = attrs.field(factory=asyncio.Lock)
    """Held while a turn is about to be begun, or one is told to stop."""

    # --- begun, and looked up ---------------------------------------------------------------------

    async def run(self, item: Item) -> Item | None:
        """Run the turn of an item, and return the item once it has ended; None if it was not run
        since a person had it passed over just now.

        Raises:
            TurnUnsettled: the agent's process ended in the turn; the next one is asked about it.
        """
        text = await self._prompt(item)
        with self.naming.under_way():
            fate = await self._begun(item, text)
        return await self._end(item, fate) if fate is not None else None

    async def _begun(self, item: Item, text: str) -> Fate | None:
        async with self._beginning:
            moved = await self._change(
                item, lambda one: one if one.is_over else inbox.dispatched(one)
            )
        if moved.is_over:
            return None

        async def started(turn_id: str) -> None:
            turn = self._bound(turn_id)
            await self._change(item, lambda one: inbox.started(one, turn))
            self.naming.done()
            self.tell("turn.began", f"It is about {item.message_id}.")

        turn = Turn(item.turn_key, text, self.ids.uuid())
        try:
            return await self.agent.conversation.run(turn, started)
        except turns.ConversationBusy:
            return turns.NeverStarted()
        except turns.TurnUnsettled:
            await self._change(item, inbox.after_crash)
            raise

    def _bound(self, turn_id: str) -> TurnBinding:
        agent = self.agent
        conversation_id = agent.conversation.reference.conversation_id
        return TurnBinding(turn_id, agent.work_attempt_id, agent.execution_id, conversation_id)

    async def _prompt(self, item: Item) -> str:
        window = Before(item.said, CONTEXT) if item.said is not None else Latest(CONTEXT)
        page = await outlasted(
            lambda: self.rooms.read(RoomId(item.room_id), window), self.pause, room_id=item.room_id
        )
        about = turn_prompts.Item(
            item_id=item.turn_key,
            corrections=item.corrections,
            charter=self.agent.charter,
            context=self.words.messages(page.messages),
            message=item.message,
            activation=item.activation,
            is_said_by_tool=self.agent.answers_by_tool,
        )
        return turn_prompts.prompt(about)

    async def look_up(self, item: Item) -> Item:
        """Return an item, whose turn may have begun, once it is known how that ended."""
        if item.stage in (Stage.PENDING, Stage.DISPATCHING):
            await self._change(item, inbox.looked_up)
        turn_id = item.turn.turn_id if item.turn is not None else None

        async def ask() -> Fate:
            return await self.agent.conversation.fate(item.turn_key, turn_id)

        fate = await begun_turns.over(await ask(), ask, self.pause, longest=LOOKED_EVERY)
        return await self._end(item, fate)

    # --- ended ------------------------------------------------------------------------------------

    async def _end(self, item: Item, fate: Fate) -> Item:
        """Write down how a turn ended, and with it what it had only prepared."""

        def end(journal: Journal) -> Item:
            now = self.clock.now()
            known = item_steps.known(journal, item)
            left = room_moves.after_turn(_ended(journal, known, fate, now))
            item_steps.put(journal, left)
            _settle(journal, known, left, now)
            return left

        left = await self.journal.change(end)
        log.info("turn.ended", entry_id=item.entry_id, stage=left.stage.value)
        self.tell("turn.ended", left.trouble or left.stage.value)
        return left

    async def _change(self, item: Item, move: Callable[[Item], Item]) -> Item:
        return await item_steps.change(self.journal, item, move)

    # --- stopped ----------------------------------------------------------------------------------

    async def stop(self, begin: Callable[[Journal], TurnControl]) -> TurnControl:
        """Break off the turn that `begin` writes down to be stopped, and no other one.

        Raises: as `begin`.
        """
        async with self._beginning:  # no other turn begins before this one was told to stop
            control = await self.journal.change(begin)
            why = await self._not_stopped(control)
        self.tell("turn.stopping", why or f"{control.turn_id} is over.")
        if why is None:
            return control
        return await self.journal.change(
            lambda journal: _doubted(journal, self.agent.entry_id, why, self.clock.now())
        )

    async def _not_stopped(self, control: TurnControl) -> str | None:
        """Tell the program to stop a turn; return why it is not known to be over, if it is not."""
        try:
            is_over = await self.agent.conversation.interrupt(control.turn_id)
        except LetAgentsError as error:
            return str(error)
        return None if is_over else "The program did not say that the turn is over."


def _ended(journal: Journal, item: Item, fate: Fate, now: datetime) -> Item:
    """Return an item once its turn has ended; what a person wanted of that turn is settled."""
    if item.turn is None and isinstance(fate, turns.Interrupted):
        # We did that, since we could not write its id down; no person wanted it passed over.
        fate = turns.Unknowable("Its turn was broken off as it began.")
    entry = journal.entry(item.entry_id)
    control = entry.control if entry is not None else None
    if entry is None or control is None or not turn_controls.is_about(control, item):
        return turn_answers.ended(item, fate)
    settled = turn_controls.ended(control, fate, now=now)
    journal.put_entry(attrs.evolve(entry, control=settled))
    if isinstance(fate, turns.Interrupted):
        return turn_controls.stopped(item, settled)
    return turn_answers.ended(item, fate)


def _settle(journal: Journal, item: Item, left: Item, now: datetime) -> None:
    """Say of what a turn has prepared, and not done, what becomes of it now that it has ended."""
    if item.turn is None:
        return
    for effect in journal.unsettled(item.entry_id):
        if effect.key.turn_id != item.turn.turn_id:
            continue
        is_next = left.move is not None and left.move.effect_id == effect.effect_id
        settled = effects.when_turn_ends(effect, now=now, is_next=is_next)
        if settled != effect:
            journal.put_effect(settled)


def _doubted(journal: Journal, entry_id: str, why: str, now: datetime) -> TurnControl:
    """Return the last stop of an agent's turn, once it is not known whether it took effect."""

    entry = entries.known(journal, entry_id)
    if entry.control is None:
        raise manifest.unknown(entry_id)
    doubted = turn_controls.doubtful(entry.control, why, now=now)
    if doubted != entry.control:
        journal.put_entry(attrs.evolve(entry, control=doubted))
    return doubted
