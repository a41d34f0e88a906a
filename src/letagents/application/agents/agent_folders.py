"""The folders of their own that a supervisor's agents have: planned for them, and cleared away."""

from collections.abc import Iterable

import attrs
import structlog

from letagents.domain.manifest import Entry
from letagents.domain.workplaces import Kept, Wish
from letagents.ports.ids import Ids
from letagents.ports.workplaces import Workplaces

log = structlog.get_logger()


@attrs.frozen
class AgentFolders:
    """The folders of agents, which `workplaces` makes."""

    workplaces: Workplaces
    ids: Ids

    async def placed(self, entry: Entry, wish: Wish, others: Iterable[Entry]) -> Entry:
        """Return the agent with the folder that it is to have, beside those of the others.

        Raises:
            WorkplaceRefused: it cannot have such a folder.
        """
        attempt = self.ids.uuid()
        taken = [one.worktree.branch for one in others if one.worktree is not None]
        worktree = await self.workplaces.plan(wish, entry.entry_id, attempt, taken)
        return attrs.evolve(
            entry, work_attempt_id=attempt, workspace=worktree.folder, worktree=worktree
        )

    async def cleared(self, entry: Entry) -> Kept | None:
        """Remove an agent's folder if nothing is lost with it, before the agent is forgotten."""
        if entry.worktree is None:
            return None
        kept = await self.workplaces.remove(entry.worktree, entry.work_attempt_id)
        if kept is not None:
            log.info("workplace.kept", entry_id=entry.entry_id)
        return kept
