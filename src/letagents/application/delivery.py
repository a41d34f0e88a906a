"""Handing one supervised agent what is said to it: each message is a turn, each answer is posted.

Every step is written down before the next begins (`domain/inbox.py` has the walk), so that whoever
comes after a killed supervisor finds out by what is written, the provider's transcript and the
room's keys what was done, and does the rest. Nothing is done within a transaction.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Protocol

import anyio
import attrs
import structlog

from letagents.application.admission import admitted, check_room
from letagents.application.receipts import Reached
from letagents.domain import (
    effects,
    inbox,
    ingress,
    manifest,
    room_moves,
    rooms,
    turn_answers,
    turn_controls,
    turn_prompts,
    turns,
)
from letagents.domain.activation import Reason
from letagents.domain.effects import Effect
from letagents.domain.errors import LetAgentsError, Retry
from letagents.domain.fencing import Fence
from letagents.domain.ids import ClientKey, MessageId, RoomId
from letagents.domain.inbox import Item, Move, Stage, TurnBinding
from letagents.domain.ingress import Ingress, RoomChanged, Seen
from letagents.domain.manifest import TurnControl
from letagents.domain.messages import After, Before, Draft, Latest, Message
from letagents.domain.turns import Fate
from letagents.ports.clock import Clock
from letagents.ports.ids import Ids
from letagents.ports.providers import Conversation, Turn
from letagents.ports.rooms import RoomTransport
from letagents.ports.supervision import Journal, Supervision

log = structlog.get_logger()

CONTEXT = 30
"""So many messages before the one of a turn are told with it."""
POLL = timedelta(seconds=25)
NAMING = 5.0
"""Seconds that the id of a turn which has just been begun is waited for by who is to leave."""
AGAIN_AFTER = 1.0
"""Seconds before a turn that goes on is looked at again, or a room that is away asked again."""
HUSH = 0.02
"""Seconds in which who has heard itself does not listen: its call is to be answered first."""
FIRST_LOOK = 0.05
"""The same for the first time that a turn is looked at again; then it doubles."""


class Words(Protocol):
    """Writes messages as agents read them, as JSON on one line."""

    def message(self, said: Message) -> str:
        """Return a message."""
        ...

    def messages(self, said: Sequence[Message]) -> str:
        """Return several."""
        ...

    def activation(self, said: Message) -> str:
        """Return why a message is for the agent."""
        ...

    def moved(self, room_id: str) -> str:
        """Return the result of a move to a room."""
        ...


@attrs.frozen
class Agent:
    """The agent as it is now: who it is in its room, and the conversation that it has."""

    entry_id: str
    room_id: RoomId
    charter: str
    work_attempt_id: str
    execution_id: str
    fence: Fence
    conversation: Conversation
    answers_by_tool: bool = False


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

    _came_in: asyncio.Event = attrs.field(factory=asyncio.Event)
    _moved: asyncio.Event = attrs.field(factory=asyncio.Event)
    _named: asyncio.Event = attrs.field(factory=asyncio.Event)
    """Set unless a turn was begun whose id is not written down yet."""
    _beginning: asyncio.Lock = attrs.field(factory=asyncio.Lock)
    """Held while a turn is about to be begun, or one is told to stop."""

    def __attrs_post_init__(self) -> None:
        self._named.set()

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
            with suppress(TimeoutError):
                async with asyncio.timeout(NAMING):
                    await self._named.wait()
            for task in (collecting, delivering):
                task.cancel()
            await asyncio.gather(collecting, delivering, return_exceptions=True)

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
                if error.retry is not Retry.LATER:
                    raise
                log.warning("room.unavailable", entry_id=self.agent.entry_id, code=error.code)
                self.tell("room.unavailable", str(error))
                await self.pause(AGAIN_AFTER)

    async def _deliver_always(self) -> None:
        while True:
            while await self.deliver():
                pass
            if self.has_moved:
                return
            await self._came_in.wait()
            self._came_in.clear()

    # --- what comes in ----------------------------------------------------------------------------

    async def collect(self, timeout: timedelta = POLL) -> int:
        """Write down what was said since the last time, as soon as something was; return how much
        of it is for the agent. An agent that is new in the room begins at its end.
        """
        known = await self._admitted()
        seen = [self._seen(said) for said in await self._heard(known.cursor, timeout)]

        def take(journal: Journal) -> int:
            check_room(journal, self.agent.entry_id, self.agent.room_id)
            now = journal.ingress(self.agent.entry_id) or known
            last = journal.last_sequence(self.agent.entry_id)
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

    async def _admitted(self) -> Ingress:
        return await admitted(self.journal, self.rooms, self.agent.entry_id, self.agent.room_id)

    def _seen(self, said: Message) -> Seen:
        activation = said.activation
        is_for_agent = activation is not None and activation.addressed
        if not is_for_agent:
            return Seen(said.id, is_for_agent=False)
        text, why = self.words.message(said), self.words.activation(said)
        return Seen(said.id, True, text, why, said.is_thread_reply)

    # --- what goes out ----------------------------------------------------------------------------

    async def deliver(self) -> bool:
        """Bring the first item a stage further or to its end; return whether there was one.

        Raises:
            TurnUnsettled: the agent's process ended in the turn; the next one is asked about it.
            FenceLost: another supervisor has taken over.
            LetAgentsError: the room refuses this agent.
        """
        move, item = await self.journal.look(self._next)
        if move is not None:
            await self._move(move)
            return not self.has_moved
        if item is None:
            return False
        if item.has_answer:
            await self._publish(item)
        elif item.is_unsure:
            await self._look_up(item)
        else:
            await self._run(item)
        return True

    def _next(self, journal: Journal) -> tuple[Move | None, Item | None]:
        entry = journal.entry(self.agent.entry_id)
        move = entry.move if entry is not None else None
        first = inbox.head(journal.unfinished(self.agent.entry_id))
        if first is not None and (first.is_unsure or first.has_answer):
            return None, first  # its turn was run, and a person wanted the move meanwhile
        return move, first

    async def _run(self, item: Item) -> None:
        text = await self._prompt(item)
        self._named.clear()
        try:
            outcome = await self._begun(item, text)
        finally:
            self._named.set()
        if outcome is not None:
            await self._end(item, outcome)

    async def _begun(self, item: Item, text: str) -> Fate | None:
        """Run a turn, and return how it ended; None if a person had it passed over just now."""
        async with self._beginning:
            moved = await self._change(
                item, lambda one: one if one.is_over else inbox.dispatched(one)
            )
        if moved.is_over:
            return None

        async def started(turn_id: str) -> None:
            agent = self.agent
            conversation_id = agent.conversation.reference.conversation_id
            turn = TurnBinding(turn_id, agent.work_attempt_id, agent.execution_id, conversation_id)
            await self._change(item, lambda one: inbox.started(one, turn))
            self._named.set()
            self.tell("turn.began", f"It is about {item.message_id}.")

        turn = Turn(item.turn_key, text, self.ids.uuid())
        try:
            return await self.agent.conversation.run(turn, started)
        except turns.ConversationBusy:
            return turns.NeverStarted()
        except turns.TurnUnsettled:
            await self._change(item, inbox.after_crash)
            raise

    async def _look_up(self, item: Item) -> None:
        if item.stage in (Stage.PENDING, Stage.DISPATCHING):
            await self._change(item, inbox.looked_up)
        turn_id = item.turn.turn_id if item.turn is not None else None
        conversation = self.agent.conversation
        fate, pause = await conversation.fate(item.turn_key, turn_id), FIRST_LOOK
        while isinstance(fate, turns.Running):
            await self.pause(pause)
            pause = min(2 * pause, AGAIN_AFTER)
            fate = await conversation.fate(item.turn_key, turn_id)
        await self._end(item, fate)

    async def _end(self, item: Item, fate: Fate) -> None:
        """Write down how a turn ended, and with it what it had only prepared; post its answer."""

        def end(journal: Journal) -> Item:
            known = _known(journal, item)
            left = room_moves.after_turn(self._ended(journal, known, fate))
            _put(journal, left)
            if known.turn is not None:
                _settle(journal, self._open(journal, known), left.move, self.clock)
            return left

        left = await self.journal.change(end)
        log.info("turn.ended", entry_id=item.entry_id, stage=left.stage.value)
        self.tell("turn.ended", left.trouble or left.stage.value)
        if left.stage is Stage.PUBLISHING:
            await self._publish(left)
        elif left.stage is Stage.ACKNOWLEDGED_NO_REPLY and self.reached is not None:
            about = MessageId.parse(item.message_id)
            await self.reached.passed_over(RoomId(item.room_id), about, self.agent.fence)

    def _ended(self, journal: Journal, item: Item, fate: Fate) -> Item:
        """Return an item once its turn has ended; what a person wanted of that turn is settled."""
        if item.turn is None and isinstance(fate, turns.Interrupted):
            # We did that, since we could not write its id down; no person wanted it passed over.
            fate = turns.Unknowable("Its turn was broken off as it began.")
        entry = journal.entry(item.entry_id)
        control = entry.control if entry is not None else None
        if entry is None or control is None or not turn_controls.is_about(control, item):
            return _ended(item, fate)
        settled = turn_controls.ended(control, fate, now=self.clock.now())
        journal.put_entry(attrs.evolve(entry, control=settled))
        if isinstance(fate, turns.Interrupted):
            return turn_controls.stopped(item, settled)
        return _ended(item, fate)

    async def stop_turn(self, begin: Callable[[Journal], TurnControl]) -> TurnControl:
        """Break off the turn that `begin` writes down to be stopped, and no other one.

        Raises: as `begin`.
        """
        async with self._beginning:  # no other turn begins before this one was told to stop
            control = await self.journal.change(begin)
            try:
                is_over = await self.agent.conversation.interrupt(control.turn_id)
                why = None if is_over else "The program did not say that the turn is over."
            except LetAgentsError as error:
                why = str(error)
        self.tell("turn.stopping", why or f"{control.turn_id} is over.")
        if why is None:
            return control
        doubted = turn_controls.doubtful
        return await self.journal.change(
            lambda journal: _controlled(
                journal, self.agent.entry_id, lambda one: doubted(one, why, now=self.clock.now())
            )
        )

    def _open(self, journal: Journal, item: Item) -> list[Effect]:
        turn_id = item.turn.turn_id if item.turn is not None else ""
        return [one for one in journal.unsettled(item.entry_id) if one.key.turn_id == turn_id]

    async def _publish(self, item: Item) -> None:
        if item.stage is Stage.PENDING:
            item = await self._change(item, inbox.publishing)
        text = item.outcome.text if item.outcome is not None else None
        try:
            said = await self._said(item, text or "")
        except LetAgentsError as error:
            if error.retry is not Retry.NEVER:
                raise
            refused = str(error)
            await self._change(item, lambda one: inbox.blocked(one, refused))
            self.tell("turn.blocked", refused)
            return
        await self._change(item, lambda one: inbox.published(one, str(said.id), str(said.room_id)))
        log.info("turn.answered", entry_id=item.entry_id, number=said.id.number)
        self.tell("turn.answered", f"{said.id} answers {item.message_id}.")

    async def _said(self, item: Item, text: str) -> Message:
        """Post the answer, which is one message however often this is done."""
        about = MessageId.parse(item.message_id)
        thread = about if turn_answers.goes_into_thread(item) else None
        draft = Draft(text, ClientKey(item.reply_key), about, thread)
        while True:
            try:
                return await self.rooms.post(RoomId(item.room_id), draft, self.agent.fence)
            except LetAgentsError as error:
                if error.retry not in (Retry.LATER, Retry.AFTER_READING):
                    raise
                log.warning("room.unavailable", room_id=item.room_id, code=error.code)
            await self.pause(AGAIN_AFTER)

    async def _prompt(self, item: Item) -> str:
        window = Before(MessageId.parse(item.message_id), CONTEXT)
        page = await self.rooms.read(RoomId(item.room_id), window)
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

    async def _change(self, item: Item, move: Callable[[Item], Item]) -> Item:
        def change(journal: Journal) -> Item:
            moved = move(_known(journal, item))
            _put(journal, moved)
            return moved

        return await self.journal.change(change)

    # --- to another room --------------------------------------------------------------------------

    async def _move(self, move: Move) -> None:
        """Make the move that a turn asked for, if the other room lets the agent in."""
        try:
            room_id, newest = await self._entered(move)
        except LetAgentsError as error:
            refused = str(error)
            await self.journal.change(lambda journal: self._stay(journal, move, refused))
            log.warning("agent.stayed", entry_id=self.agent.entry_id, code=error.code)
            return
        await self.journal.change(lambda journal: self._go(journal, move, room_id, newest))
        self._moved.set()
        self.tell("agent.moved_room", room_id)
        log.info("agent.moved_room", entry_id=self.agent.entry_id, room_id=room_id)

    async def _entered(self, move: Move) -> tuple[str, MessageId | None]:
        """Enter a room; return its own name and its last message."""
        while True:
            try:
                room = await self.rooms.join(rooms.canonical(move.destination))
                page = await self.rooms.read(room.room_id, Latest(1))
            except LetAgentsError as error:
                if error.retry not in (Retry.LATER, Retry.AFTER_READING):
                    raise
                log.warning("room.unavailable", room_id=move.destination, code=error.code)
            else:
                return str(room.room_id), page.messages[-1].id if page.messages else None
            await self.pause(AGAIN_AFTER)

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

    def _stay(self, journal: Journal, move: Move, why: str) -> None:
        entry, effect = journal.entry(self.agent.entry_id), journal.effect_named(move.effect_id)
        if entry is not None:
            journal.put_entry(room_moves.stayed(entry, why))
        if effect is not None:
            journal.put_effect(effects.failed(effect, why, now=self.clock.now()))


def _is_own(said: Message) -> bool:
    return said.activation is not None and said.activation.reason is Reason.SELF_MESSAGE


def _known(journal: Journal, item: Item) -> Item:
    return journal.item(item.item_id) or item


def _put(journal: Journal, item: Item) -> None:
    """Keep an item and, if it is over, the move that follows it."""
    journal.put_item(item)
    entry = journal.entry(item.entry_id) if item.move is not None else None
    if entry is not None:
        journal.put_entry(room_moves.due(entry, item))


def _controlled(
    journal: Journal, entry_id: str, move: Callable[[TurnControl], TurnControl]
) -> TurnControl:
    """Return what is known of the last stop of an agent's turn, changed by `move`."""
    entry = journal.entry(entry_id)
    if entry is None or entry.control is None:
        raise manifest.unknown(entry_id)
    moved = move(entry.control)
    if moved != entry.control:
        journal.put_entry(attrs.evolve(entry, control=moved))
    return moved


def _ended(item: Item, fate: Fate) -> Item:
    """Return an item once its turn is over, or cannot be known to be."""
    if item.proposal is not None and not isinstance(fate, turns.Interrupted):
        return inbox.ended(item, item.proposal)
    match fate:
        case turns.Answered():
            return inbox.ended(item, inbox.reply(fate.text))
        case turns.Silent():
            return inbox.ended(item, inbox.NO_REPLY)
        case turns.Unreadable():
            return inbox.ended(item, inbox.UNREADABLE)
        case turns.NeverStarted():
            return inbox.ended(item, inbox.NEVER_BEGAN)
        case turns.Interrupted():
            return inbox.cancelled(item)
        case turns.Failed() | turns.Unknowable():
            return inbox.blocked(item, fate.why)
    return item


def _settle(journal: Journal, unsettled: Sequence[Effect], move: Move | None, clock: Clock) -> None:
    now = clock.now()
    for effect in unsettled:
        is_next = move is not None and move.effect_id == effect.effect_id
        left = effects.when_turn_ends(effect, now=now, is_next=is_next)
        if left != effect:
            journal.put_effect(left)
