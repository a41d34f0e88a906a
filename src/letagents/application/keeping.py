"""Keeping one agent as a person wants it: started, resumed, stopped, or left alone.

What is about to be done is written down before it is done, and its outcome after it, so that
whoever comes after a killed supervisor finds the process again, or knows that it has ended, before
another is started (`domain/recovery.py` decides).
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import anyio
import attrs
import structlog

from letagents.application import entries
from letagents.application.admission import admitted
from letagents.application.agents import Agent, Words
from letagents.application.delivery import Delivery
from letagents.application.endings import end_all, until_one_is_over
from letagents.application.polling_turns import PollingTurn
from letagents.application.polls import Polls
from letagents.application.receipts import Reached
from letagents.application.servers import Lodging, LodgingOf
from letagents.application.supervising import Supervising
from letagents.domain import custody, manifest, recovery, turn_answers
from letagents.domain.bindings import Claim
from letagents.domain.errors import LetAgentsError, Retry
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.ingress import Ingress
from letagents.domain.manifest import Ending, Entry, Execution, FenceLost, Process, TurnControl
from letagents.domain.recovery import Action, Seen
from letagents.domain.sessions import Arrival
from letagents.domain.turn_controls import TurnControlRefused
from letagents.domain.turns import ConversationMissing, ProcessAmbiguous
from letagents.domain.workplaces import Context
from letagents.ports.ids import Ids
from letagents.ports.providers import (
    Cause,
    Connection,
    Conversation,
    Gone,
    Launch,
    Provider,
    Reference,
)
from letagents.ports.rooms import RoomTransport
from letagents.ports.supervision import Journal
from letagents.ports.workplaces import Workplaces

log = structlog.get_logger()

THERE = "agent.there"
"""What is told of an agent that can be spoken to."""
LOOK_AGAIN = 15.0
"""Seconds after which an agent is looked at again at the latest."""

_BY_FILES = "codex"
"""The provider whose processes may look for their supervisor in files. (Source: supervisor 4.2.)"""
_LABELS = {"codex": "Codex", "claude-code": "Claude Code", "cursor": "Cursor"}

LaunchOf = Callable[[Entry, Execution, str], Launch]
"""Returns how an agent is run, in which process, under which session."""


@attrs.frozen
class _InRoom:
    """An agent as it is in its room now, and the rooms of that server."""

    entry: Entry
    rooms: RoomTransport
    fence: Fence
    reached: Reached | None = None


@attrs.define(eq=False)
class Keeper:
    """Keeps one agent. `lodging` returns the rooms where its entry says that they are."""

    entry_id: str
    sessions: Supervising
    provider: Provider
    lodging: LodgingOf
    words: Words
    ids: Ids
    launch_of: LaunchOf
    workplaces: Workplaces | None = None
    """Who makes the agent's folder, where it has one of its own."""
    wait: Callable[[float], Awaitable[None]] = anyio.sleep
    _conversation: Conversation | None = None
    _delivery: Delivery | PollingTurn | None = None
    _delivering: "asyncio.Task[None] | None" = None
    _is_withdrawn: bool = False
    _changed: asyncio.Event = attrs.field(factory=asyncio.Event)

    def look_again(self) -> None:
        """Look now whether something else is wanted, or something else to be delivered."""
        self._changed.set()
        if self._delivery is not None:
            self._delivery.look_again()

    def withdraw(self) -> None:
        """Hand the agent nothing until it is let into its room again; its process lives on."""
        self._is_withdrawn = True
        self.look_again()

    def _tell(self, kind: str, summary: str) -> None:
        self.sessions.feeds.of(self.entry_id).tell(kind, summary)

    async def run(self) -> None:
        """Keep the agent until this is cancelled, which leaves its process as it is.

        Raises:
            FenceLost: another supervisor has taken over.
        """
        try:
            while True:
                await self._stepped()
        finally:
            await self._leave()

    async def _stepped(self) -> None:
        """Do a step; where the journal or the room cannot be had now, wait and go on."""
        try:
            await self.step()
        except FenceLost:
            raise
        except LetAgentsError as error:
            log.warning("agent.unseen", entry_id=self.entry_id, code=error.code)
            await self._idle(LOOK_AGAIN)

    async def step(self) -> Action:
        """Do what is to be done now, and wait until something is to be done again.

        Raises:
            FenceLost: another supervisor has taken over.
        """
        if self._is_withdrawn:
            self._is_withdrawn, conversation = False, self._conversation
            await self._leave()
            self._conversation = conversation
        delivering = self._delivering
        if delivering is not None and delivering.done():
            self._delivering = self._conversation = None
            delivering.result()
        entry = await self._entry()
        seen = await self._seen(entry)
        entry = await self._entry()
        decision = recovery.decide(
            entry.desired,
            seen,
            entry.history,
            can_resume=entry.continuation_id is not None,
            now=self.sessions.clock.now(),
        )
        acts = {
            Action.START: self._start,
            Action.RESUME: self._start,
            Action.STOP: self._stop,
            Action.QUARANTINE: self._quarantine,
        }
        if decision.action in acts:
            log.info("agent.moved", entry_id=self.entry_id, action=decision.action.value)
            self._tell(f"agent.{decision.action.value}", f"It is wanted {entry.desired.value}.")
            await acts[decision.action](entry)
        else:
            until = decision.until
            now = self.sessions.clock.now()
            await self._idle(LOOK_AGAIN if until is None else (until - now).total_seconds())
        return decision.action

    # --- what is there ----------------------------------------------------------------------------

    async def _seen(self, entry: Entry) -> Seen:
        """Find out whether the agent's process is there, and write down if it is not any more."""
        execution = entry.execution
        if execution is None or execution.is_over:
            return Seen.ABSENT
        if self._conversation is not None:
            if self._delivering is None:
                await self._taken_up(entry, execution, self._conversation)
            return Seen.ALIVE
        try:
            found = await self._attached(entry, execution)
        except ProcessAmbiguous as error:
            await self._note(str(error))
            return Seen.UNSURE
        if isinstance(found, Gone):
            await self._ended(execution, Ending.CRASHED)
            return Seen.ABSENT
        try:
            await self._deliver(entry, execution, found)
        except LetAgentsError:  # the room is away, and the process is found again later
            await found.leave()
            raise
        return Seen.ALIVE

    async def _taken_up(
        self, entry: Entry, execution: Execution, conversation: Conversation
    ) -> None:
        """Hand a living agent its messages again, if it is let into its room again."""
        try:
            await self._deliver(entry, execution, conversation)
        except FenceLost:
            raise
        except LetAgentsError as error:
            log.warning("agent.not_let_in", entry_id=self.entry_id, code=error.code)

    async def _attached(self, entry: Entry, execution: Execution) -> Conversation | Gone:
        """Find the process of an earlier supervisor; one without a number never ran."""
        process, conversation_id = execution.process, entry.continuation_id
        if process is None:
            return Gone()
        connection = Connection(**attrs.asdict(process))
        if conversation_id is None or manifest.came_to_nothing(entry):
            await self.provider.abandon(connection)
            return Gone()
        launch = self.launch_of(entry, execution, "")
        return await self.provider.attach(launch, Reference(conversation_id, connection))

    # --- what is done -----------------------------------------------------------------------------

    async def _start(self, entry: Entry) -> None:
        now = self.sessions.clock.now()
        attempt = entry.work_attempt_id or self.ids.uuid()
        execution = Execution(self.ids.uuid(), attempt, self.sessions.hold.generation, now)

        def begin(known: Entry) -> Entry:
            history = recovery.begun(known.history, execution.execution_id)
            return attrs.evolve(manifest.begun(known, execution), history=history)

        entry = await self._change(begin)
        try:
            await self._provide(entry)
            place = await self._registered(entry, execution)
            session_id = str(place.fence.session_id)
            await self._introduce(place.entry, execution, session_id)
            conversation = await self._opened(place.entry, execution, session_id)
        except FenceLost:
            raise
        except LetAgentsError as error:
            await self._failed(execution, error)
            return
        conversation_id = conversation.reference.conversation_id
        entry = await self._change(lambda known: manifest.started(known, conversation_id))
        await self._deliver(entry, execution, conversation, place)

    async def _provide(self, entry: Entry) -> None:
        """See that the agent's folder is there, where it has one of its own."""
        if entry.worktree is not None and self.workplaces is not None:
            await self.workplaces.provide(entry.worktree, entry.work_attempt_id)

    async def _introduce(self, entry: Entry, execution: Execution, session_id: str) -> None:
        """Write down in its folder who works there now, for who looks for that in files."""
        if entry.worktree is None or self.workplaces is None or entry.provider != _BY_FILES:
            return
        context = Context(
            entry.entry_id,
            entry.room_id,
            execution.work_attempt_id,
            execution.execution_id,
            session_id,
            entry.display_name,
        )
        await self.workplaces.introduce(entry.worktree, context)

    async def _opened(self, entry: Entry, execution: Execution, session_id: str) -> Conversation:
        launch = self.launch_of(entry, execution, session_id)

        async def born(there: Connection) -> None:
            process = Process(**attrs.asdict(there))
            await self._change(lambda known: manifest.born(known, execution.execution_id, process))

        if entry.continuation_id is None:
            return await self.provider.start(launch, born)
        return await self.provider.resume(launch, entry.continuation_id, born)

    async def _registered(self, entry: Entry, execution: Execution) -> "_InRoom":
        """Let the agent be in its room under a new secret, which only we know."""
        lodging = await self.lodging(entry.api_url)
        entry = await self._entered(entry, lodging.rooms)
        room_id = RoomId(entry.room_id)
        # Whoever sees that it is there may speak to it.
        await admitted(self.sessions.journal, lodging.rooms, entry.entry_id, room_id)
        made = await lodging.rooms.connect(room_id, self._arrival(entry, lodging))
        if entry.delivery is manifest.Delivery.POLLING:
            custody.check_bearer(made.bearer)
        claim = Claim(
            entry_id=entry.entry_id,
            room_id=entry.room_id,
            work_attempt_id=execution.work_attempt_id,
            execution_id=execution.execution_id,
            session_id=str(made.session.session_id),
            api_url=entry.api_url,
        )
        await self.sessions.bind(claim, made.fence.token, made)
        return _InRoom(entry, lodging.rooms, made.fence, lodging.reached)

    async def stop_turn(self, begin: Callable[[Journal], TurnControl]) -> TurnControl:
        """Break off the turn that `begin` writes down to be stopped. Raises: as `begin`."""
        if not isinstance(self._delivery, Delivery):
            raise TurnControlRefused(
                "The agent is in no turn that can be spoken to now.", remedy="Look again."
            )
        return await self._delivery.stop_turn(begin)

    async def admit(self) -> Ingress:
        """Return up to where the agent has been told of its room; one that is new begins now."""
        known = await self._entry()
        rooms = (await self.lodging(known.api_url)).rooms
        entry = await self._entered(known, rooms)
        room_id = RoomId(entry.room_id)
        return await admitted(self.sessions.journal, rooms, self.entry_id, room_id)

    async def _entered(self, entry: Entry, rooms: RoomTransport) -> Entry:
        """Enter the room, and note its own name where it was called by another."""
        room_id = str((await rooms.join(RoomId(entry.room_id))).room_id)
        if room_id == entry.room_id:
            return entry
        return await self._change(lambda known: attrs.evolve(known, room_id=room_id))

    def _arrival(self, entry: Entry, lodging: Lodging) -> Arrival:
        return Arrival(
            token=self.ids.token(),
            agent_key=f"{lodging.owner}/{entry.entry_id}",
            instance_id=f"daemon:{entry.entry_id}",
            display_name=entry.display_name,
            owner_label=lodging.owner_label,
            ide_label=_LABELS.get(entry.provider, entry.provider),
            runtime=entry.provider,
            insists=True,
        )

    async def _deliver(
        self,
        entry: Entry,
        execution: Execution,
        conversation: Conversation,
        place: "_InRoom | None" = None,
    ) -> None:
        place = place or await self._registered(entry, execution)
        self._conversation = conversation
        self._delivery = delivery = self._served(place, execution, conversation)
        self._tell(THERE, f"It is in {place.entry.room_id}.")
        self._delivering = asyncio.create_task(self._delivered(delivery, execution))
        self._delivering.add_done_callback(lambda _: self.look_again())

    def _served(
        self, place: "_InRoom", execution: Execution, conversation: Conversation
    ) -> Delivery | PollingTurn:
        """Return how the agent comes to what is said in its room."""
        entry, journal = place.entry, self.sessions.journal
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
        if entry.delivery is manifest.Delivery.POLLING:
            polls = Polls(self.sessions)
            return PollingTurn(agent, journal, place.rooms, polls, self.ids, tell=self._tell)
        return Delivery(
            agent,
            journal,
            place.rooms,
            self.words,
            self.sessions.clock,
            self.ids,
            tell=self._tell,
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
            log.warning("delivery.ended", entry_id=self.entry_id, error=type(why).__name__)
        ended = await conversation.end()
        self._conversation = None
        cause = Ending(ended.cause.value)
        if ended.cause is Cause.STOPPED and not delivering.cancelled():
            # We had to end it: its turns were lost, or the one in which it polls is over.
            cause = Ending.EXITED if why is None else Ending.CRASHED
        await self._ended(execution, cause)

    async def _followed(self, delivery: Delivery | PollingTurn, execution: Execution) -> None:
        """Go on in the room to which the agent has moved, and leave the one where it was."""
        with suppress(LetAgentsError):
            await delivery.rooms.disconnect(delivery.agent.room_id, delivery.agent.fence)
        while True:
            try:
                place = await self._registered(await self._entry(), execution)
            except LetAgentsError as error:
                if error.retry not in (Retry.LATER, Retry.AFTER_READING):
                    raise
                await self._idle(LOOK_AGAIN)
            else:
                await self._deliver(place.entry, execution, delivery.agent.conversation, place)
                return

    async def _stop(self, entry: Entry) -> None:
        conversation, execution = self._conversation, entry.execution
        if conversation is None or execution is None:  # whether it is there cannot be told
            await self._idle(LOOK_AGAIN)
            return
        await self._leave()
        await conversation.end()
        await self._ended(execution, Ending.STOPPED)

    async def _leave(self) -> None:
        """Deliver nothing any more; the process is left as it is."""
        delivering, self._delivering = self._delivering, None
        if delivering is not None:
            await end_all(delivering)
        self._conversation = self._delivery = None

    async def _quarantine(self, _entry: Entry) -> None:
        def quarantine(known: Entry) -> Entry:
            why = "Its process ended again and again; start it once you know why."
            history = recovery.quarantined(known.history)
            return attrs.evolve(known, history=history, last_error=why)

        await self._change(quarantine)

    async def _failed(self, execution: Execution, error: LetAgentsError) -> None:
        now = self.sessions.clock.now()

        def fail(known: Entry) -> Entry:
            over = manifest.ended(known, execution.execution_id, Ending.STOPPED, now=now)
            history = recovery.failed(over.history, now=now)
            gone_on = None if isinstance(error, ConversationMissing) else over.continuation_id
            return attrs.evolve(
                over, history=history, continuation_id=gone_on, last_error=str(error)
            )

        await self._change(fail)
        log.warning("agent.failed", entry_id=self.entry_id, code=error.code)
        self._tell("agent.failed", str(error))

    # --- what is written down ---------------------------------------------------------------------

    async def _entry(self) -> Entry:
        return await entries.look(self.sessions.journal, self.entry_id)

    async def _ended(self, execution: Execution, ending: Ending) -> None:
        now = self.sessions.clock.now()

        def end(known: Entry) -> Entry:
            there = known.execution
            if there is None or there.execution_id != execution.execution_id or there.is_over:
                return known
            over = manifest.ended(known, execution.execution_id, ending, now=now)
            return attrs.evolve(over, history=attrs.evolve(over.history, pending=None))

        await self._change(end)
        self._tell("process.ended", ending.value)

    async def _note(self, why: str) -> None:
        await self._change(lambda known: attrs.evolve(known, last_error=why))

    async def _change(self, move: Callable[[Entry], Entry]) -> Entry:
        return await entries.change(self.sessions.journal, self.entry_id, move)

    async def _idle(self, seconds: float) -> None:
        waiting = asyncio.ensure_future(self.wait(max(0.0, seconds)))
        changed = asyncio.ensure_future(self._changed.wait())
        try:
            await until_one_is_over(waiting, changed)
        finally:
            self._changed.clear()
