"""The program that runs one agent: begun in the agent's folder, or found where it runs already."""

from collections.abc import Callable

import attrs

from letagents.application.agents.agent_records import AgentRecord
from letagents.domain import executions
from letagents.domain.manifest import Entry, Execution
from letagents.domain.workplaces import Context
from letagents.ports.providers import (
    Connection,
    Conversation,
    Gone,
    Launch,
    Provider,
    Reference,
)
from letagents.ports.workplaces import Workplaces

_BY_FILES = "codex"
"""The provider whose processes may look for their supervisor in files. (Source: supervisor 4.2.)"""

LaunchOf = Callable[[Entry, Execution, str], Launch]
"""Returns how an agent is run, in which process, under which session."""


@attrs.define(eq=False)
class Program:
    """The program of one agent."""

    record: AgentRecord
    provider: Provider
    launch_of: LaunchOf
    workplaces: Workplaces | None = None
    """Who makes the agent's folder, where it has one of its own."""

    async def provide(self, entry: Entry) -> None:
        """See that the agent's folder is there, where it has one of its own."""
        if entry.worktree is not None and self.workplaces is not None:
            await self.workplaces.provide(entry.worktree, entry.work_attempt_id)

    async def begin(self, entry: Entry, execution: Execution, session_id: str) -> Conversation:
        """Begin a process, in which the agent's conversation goes on if it has one.

        Raises:
            LetAgentsError: none is there.
        """
        await self._introduce(entry, execution, session_id)
        launch = self.launch_of(entry, execution, session_id)

        async def born(there: Connection) -> None:
            await self.record.born(execution, there)

        if entry.continuation_id is None:
            return await self.provider.start(launch, born)
        return await self.provider.resume(launch, entry.continuation_id, born)

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

    async def find(self, entry: Entry, execution: Execution) -> Conversation | Gone:
        """Find the process of an earlier supervisor; one without a number never ran.

        Raises:
            ProcessAmbiguous: whether it is there cannot be told.
        """
        process, conversation_id = execution.process, entry.continuation_id
        if process is None:
            return Gone()
        connection = Connection(**attrs.asdict(process))
        if conversation_id is None or executions.came_to_nothing(entry):
            await self.provider.abandon(connection)
            return Gone()
        launch = self.launch_of(entry, execution, "")
        return await self.provider.attach(launch, Reference(conversation_id, connection))
