"""The folders that a supervisor makes for its agents."""

from collections.abc import Collection
from typing import Protocol

from letagents.domain.workplaces import Context, Kept, Wish, Worktree


class Workplaces(Protocol):
    """Makes, finds again and removes folders, each a worktree of a person's repository.

    J74  `plan` changes nothing. What is planned is made by `provide`, as often as it is asked, also
         where one that asked before was killed in the middle; it is made whole, or not worked in.
    J75  Nobody's checkout is changed, and nothing in a folder that somebody may have worked in.
    J76  What tells who works in a folder is a file of its own, whole and for its owner alone; no
         link is followed, and git does not see it.
    """

    async def plan(
        self, wish: Wish, entry_id: str, attempt_id: str, taken: Collection[str]
    ) -> Worktree:
        """Return how the folder of an agent is to be; `taken` are branches promised to others.

        Raises:
            WorkplaceRefused: there is no such repository, branch or commit.
        """
        ...

    async def provide(self, worktree: Worktree, attempt_id: str) -> None:
        """See that the folder is there, and is that of the attempt.

        Raises:
            WorkplaceRefused: it cannot be made, or something else is in its place.
        """
        ...

    async def introduce(self, worktree: Worktree, context: Context) -> None:
        """Write down in the folder who works there now.

        Raises:
            WorkplaceRefused: it cannot be written.
        """
        ...

    async def remove(self, worktree: Worktree, attempt_id: str) -> Kept | None:
        """Remove the folder if nothing would be lost with it; else return why it is kept."""
        ...
