"""What is written down of one agent and its processes, and told to those who watch it."""

from collections.abc import Callable

import attrs
import structlog

from letagents.application.agents import entries
from letagents.application.agents.supervising import Supervising
from letagents.domain import agent_troubles, executions, recovery
from letagents.domain.errors import LetAgentsError
from letagents.domain.manifest import Ending, Entry, Execution, Process
from letagents.domain.turns import ConversationMissing
from letagents.ports.ids import Ids
from letagents.ports.providers import Connection
from letagents.ports.providers import Ending as End

log = structlog.get_logger()


@attrs.define(eq=False)
class AgentRecord:
    """The entry of one agent."""

    entry_id: str
    sessions: Supervising
    ids: Ids

    def tell(self, kind: str, summary: str) -> None:
        """Tell whoever watches the agent what happens."""
        self.sessions.feeds.of(self.entry_id).tell(kind, summary)

    async def entry(self) -> Entry:
        """Return the agent as it is written down."""
        return await entries.look(self.sessions.journal, self.entry_id)

    async def change(self, move: Callable[[Entry], Entry]) -> Entry:
        """Return the agent as `move` makes it, once that is written down."""
        return await entries.change(self.sessions.journal, self.entry_id, move)

    async def begin(self, entry: Entry) -> tuple[Entry, Execution]:
        """Write down that a process is about to be started."""
        now, attempt = self.sessions.clock.now(), entry.work_attempt_id or self.ids.uuid()
        execution = Execution(self.ids.uuid(), attempt, self.sessions.hold.generation, now)

        def begin(known: Entry) -> Entry:
            history = recovery.begun(known.history, execution.execution_id)
            return attrs.evolve(executions.begun(known, execution), history=history)

        return await self.change(begin), execution

    async def born(self, execution: Execution, there: Connection) -> None:
        """Write down which process it is that was begun, before its program begins."""
        process = Process(**attrs.asdict(there))
        await self.change(lambda known: executions.born(known, execution.execution_id, process))

    async def started(self, conversation_id: str) -> Entry:
        """Write down that a conversation goes on in the process."""
        return await self.change(lambda known: executions.started(known, conversation_id))

    async def failed(self, execution: Execution, error: LetAgentsError) -> None:
        """Write down that no process came of it, and why."""
        now, why = self.sessions.clock.now(), agent_troubles.shown(error, self.entry_id)

        def fail(known: Entry) -> Entry:
            over = executions.ended(known, execution.execution_id, Ending.STOPPED, now=now)
            history = recovery.failed(over.history, now=now)
            gone_on = None if isinstance(error, ConversationMissing) else over.continuation_id
            return attrs.evolve(over, history=history, continuation_id=gone_on, last_error=why)

        await self.change(fail)
        log.warning("agent.failed", entry_id=self.entry_id, code=error.code)
        self.tell("agent.failed", why)

    async def gone(self, execution: Execution) -> None:
        """Write down that a process that was looked for is there no more, unless that is known."""
        await self.ended(execution, Ending.CRASHED, own=self.sessions.hold.generation)

    async def ended(
        self,
        execution: Execution,
        ending: Ending,
        told: End | None = None,
        own: int | None = None,
    ) -> None:
        """Write down how a process ended, unless that is known; `told` is what is seen of that."""
        now = self.sessions.clock.now()
        code, tail = (told.exit_code, told.tail) if told is not None else (None, "")

        def end(known: Entry) -> Entry:
            there = known.execution
            if there is None or there.execution_id != execution.execution_id or there.is_over:
                return known
            over = executions.ended(
                known, execution.execution_id, ending, now=now, exit_code=code, tail=tail, own=own
            )
            return attrs.evolve(over, history=attrs.evolve(over.history, pending=None))

        await self.change(end)
        self.tell("process.ended", ending.value)

    async def quarantine(self) -> None:
        """Write down that the agent is left alone."""

        def quarantine(known: Entry) -> Entry:
            why = "Its process ended again and again; start it once you know why."
            history = recovery.quarantined(known.history)
            return attrs.evolve(known, history=history, last_error=why)

        await self.change(quarantine)

    async def note(self, why: str) -> None:
        """Write down what is wrong with the agent now."""
        await self.change(lambda known: attrs.evolve(known, last_error=why))
