"""Keeping one agent as a person wants it: started, resumed, stopped, or left alone.

What is about to be done is written down before it is done, and its outcome after it, so that
whoever comes after a killed supervisor finds the process again, or knows that it has ended, before
another is started (`domain/recovery.py` decides).
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime

import anyio
import attrs
import structlog

from letagents.application.agents.agent import Words
from letagents.application.agents.agent_records import AgentRecord
from letagents.application.agents.endings import until_one_is_over
from letagents.application.agents.entering import Entering
from letagents.application.agents.programs import LaunchOf, Program
from letagents.application.agents.servers import LodgingOf
from letagents.application.agents.supervising import Supervising
from letagents.application.agents.tending import LOOK_AGAIN, Tending
from letagents.domain import recovery
from letagents.domain.errors import LetAgentsError
from letagents.domain.generations import FenceLost
from letagents.domain.ingress import Ingress
from letagents.domain.manifest import Ending, Entry, Execution, TurnControl
from letagents.domain.recovery import Action, Seen
from letagents.domain.turns import ProcessAmbiguous
from letagents.ports.ids import Ids
from letagents.ports.providers import Conversation, Gone, Provider
from letagents.ports.supervision import Journal
from letagents.ports.workplaces import Workplaces

log = structlog.get_logger()


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
    _record: AgentRecord = attrs.field(init=False)
    _program: Program = attrs.field(init=False)
    _entering: Entering = attrs.field(init=False)
    _tending: Tending = attrs.field(init=False)
    _is_withdrawn: bool = False
    _changed: asyncio.Event = attrs.field(factory=asyncio.Event)

    def __attrs_post_init__(self) -> None:
        self._record = record = AgentRecord(self.entry_id, self.sessions, self.ids)
        self._program = Program(record, self.provider, self.launch_of, self.workplaces)
        self._entering = entering = Entering(record, self.lodging)
        self._tending = Tending(record, entering, self.words, self._idle, self.look_again)

    @property
    def is_delivering(self) -> bool:
        """Whether the agent is told what is said in its room now."""
        return self._tending.is_delivering

    def look_again(self) -> None:
        """Look now whether something else is wanted, or something else to be delivered."""
        self._changed.set()
        self._tending.look_again()

    def withdraw(self) -> None:
        """Hand the agent nothing until it is let into its room again; its process lives on."""
        self._is_withdrawn = True
        self.look_again()

    async def admit(self) -> Ingress:
        """Return up to where the agent has been told of its room; one that is new begins now."""
        return await self._entering.admit()

    async def stop_turn(self, begin: Callable[[Journal], TurnControl]) -> TurnControl:
        """Break off the turn that `begin` writes down to be stopped. Raises: as `begin`."""
        return await self._tending.stop_turn(begin)

    async def run(self) -> None:
        """Keep the agent until this is cancelled, which leaves its process as it is.

        Raises:
            FenceLost: another supervisor has taken over.
        """
        try:
            while True:
                await self._stepped()
        finally:
            await self.leave()

    async def leave(self) -> None:
        """Deliver nothing any more; the agent's process is left as it is."""
        await self._tending.leave()

    async def _stepped(self) -> None:
        """Do a step; where the journal or the room cannot be had now, wait and go on."""
        try:
            await self.step()
        except FenceLost:
            raise
        except LetAgentsError as error:
            log.warning("agent.unseen", entry_id=self.entry_id, code=error.code)
            await self._idle(LOOK_AGAIN)
        except Exception as error:  # nobody else would look after the agent
            log.exception("keeper.failed", entry_id=self.entry_id)
            with suppress(LetAgentsError):
                # Of an error that nobody foresaw it is not known what its words hold.
                what = error.strerror if isinstance(error, OSError) else None
                told = what or type(error).__name__
                await self._record.note(f"letagents failed as it kept this agent: {told}.")
            await self._idle(LOOK_AGAIN)

    async def step(self) -> Action:
        """Do what is to be done now, and wait until something is to be done again.

        Raises:
            FenceLost: another supervisor has taken over.
        """
        self._changed.clear()  # what changes from here on is for the next step
        if self._is_withdrawn:
            self._is_withdrawn = False
            await self._tending.rest()
        self._tending.check()
        seen = await self._seen(await self._record.entry())
        entry = await self._record.entry()
        decision = recovery.decide(
            entry.desired,
            seen,
            entry.history,
            can_resume=entry.continuation_id is not None,
            now=self.sessions.clock.now(),
        )
        if not await self._acted(decision.action, entry):
            await self._idle_until(decision.until)
        return decision.action

    async def _acted(self, action: Action, entry: Entry) -> bool:
        """Do what was decided; return whether there was anything to do."""
        acts = {
            Action.START: self._start,
            Action.RESUME: self._start,
            Action.STOP: self._stop,
            Action.QUARANTINE: self._quarantine,
        }
        if action not in acts:
            return False
        log.info("agent.moved", entry_id=self.entry_id, action=action.value)
        self._record.tell(f"agent.{action.value}", f"It is wanted {entry.desired.value}.")
        await acts[action](entry)
        return True

    async def _idle_until(self, until: datetime | None) -> None:
        now = self.sessions.clock.now()
        await self._idle(LOOK_AGAIN if until is None else (until - now).total_seconds())

    async def _idle(self, seconds: float) -> None:
        """Wait so long, or until the agent is to be looked at."""
        waiting = asyncio.ensure_future(self.wait(max(0.0, seconds)))
        changed = asyncio.ensure_future(self._changed.wait())
        await until_one_is_over(waiting, changed)

    # --- what is there ----------------------------------------------------------------------------

    async def _seen(self, entry: Entry) -> Seen:
        """Find out whether the agent's process is there, and write down if it is not any more."""
        execution, conversation = entry.execution, self._tending.conversation
        if execution is None or execution.is_over:
            return Seen.ABSENT
        if conversation is not None:
            if not self._tending.is_delivering:
                await self._taken_up(entry, execution, conversation)
            return Seen.ALIVE
        try:
            found = await self._program.find(entry, execution)
        except ProcessAmbiguous as error:
            await self._record.note(str(error))
            return Seen.UNSURE
        if isinstance(found, Gone):
            await self._record.gone(execution)
            return Seen.ABSENT
        try:
            await self._tending.begin(entry, execution, found)
        except BaseException:  # the room is away, say, and the process is found again later
            await found.leave()
            raise
        return Seen.ALIVE

    async def _taken_up(
        self, entry: Entry, execution: Execution, conversation: Conversation
    ) -> None:
        """Hand a living agent its messages again, if it is let into its room again."""
        try:
            await self._tending.begin(entry, execution, conversation)
        except FenceLost:
            raise
        except LetAgentsError as error:
            log.warning("agent.not_let_in", entry_id=self.entry_id, code=error.code)

    # --- what is done -----------------------------------------------------------------------------

    async def _start(self, entry: Entry) -> None:
        entry, execution = await self._record.begin(entry)
        try:
            await self._program.provide(entry)
            place = await self._entering.enter(entry, execution)
            session_id = str(place.fence.session_id)
            conversation = await self._program.begin(place.entry, execution, session_id)
        except FenceLost:
            raise
        except LetAgentsError as error:
            await self._record.failed(execution, error)
            return
        entry = await self._record.started(conversation.reference.conversation_id)
        await self._tending.begin(entry, execution, conversation, place)

    async def _stop(self, entry: Entry) -> None:
        conversation, execution = self._tending.conversation, entry.execution
        if conversation is None or execution is None:  # whether it is there cannot be told
            await self._idle(LOOK_AGAIN)
            return
        await self._tending.leave()
        ended = await conversation.end()
        await self._record.ended(execution, Ending.STOPPED, ended)

    async def _quarantine(self, _entry: Entry) -> None:
        await self._record.quarantine()
