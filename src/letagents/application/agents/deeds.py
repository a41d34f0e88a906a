"""What others than a supervisor changed of its agents: put down with the change, and read later."""

from collections.abc import Sequence

from letagents.application.agents import entries
from letagents.domain.deeds import Act, Deed, Doer
from letagents.ports.supervision import Journal, Supervision


def put(journal: Journal, by: Doer | None, entry_id: str, act: Act, detail: str = "") -> None:
    """Put a change down; what a program does with its own supervisor is not."""
    if by is not None:
        journal.put_deed(by.did(entry_id, act, detail))


async def newest(supervision: Supervision, entry_id: str | None, most: int) -> Sequence[Deed]:
    """Return the newest changes of an agent or of all, the oldest first.

    Raises:
        ManifestRefused: there is none of that name, and nothing is known of one that there was.
    """

    def look(journal: Journal) -> Sequence[Deed]:
        found = journal.newest_deeds(entry_id, most)
        if entry_id is not None and not found:
            entries.known(journal, entry_id)
        return found[::-1]

    return await supervision.look(look)
