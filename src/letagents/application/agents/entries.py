"""The agents of a journal, each found by its name and changed within one transaction."""

from collections.abc import Callable

from letagents.domain import manifest
from letagents.domain.manifest import Entry
from letagents.ports.supervision import Journal, Supervision


def known(journal: Journal, entry_id: str) -> Entry:
    """Return an agent.

    Raises:
        ManifestRefused: there is none of that name.
    """
    entry = journal.entry(entry_id)
    if entry is None:
        raise manifest.unknown(entry_id)
    return entry


def changed(journal: Journal, entry_id: str, move: Callable[[Entry], Entry]) -> Entry:
    """Return an agent as `move` makes it, and keep it so. Raises as `known`, and as `move`."""
    before = known(journal, entry_id)
    after = move(before)
    if after != before:
        journal.put_entry(after)
    return after


async def look(supervision: Supervision, entry_id: str) -> Entry:
    """Return an agent. Raises as `known`."""
    return await supervision.look(lambda journal: known(journal, entry_id))


async def change(supervision: Supervision, entry_id: str, move: Callable[[Entry], Entry]) -> Entry:
    """Return an agent as `move` makes it, once that is written down. Raises as `changed`."""
    return await supervision.change(lambda journal: changed(journal, entry_id, move))


async def find(supervision: Supervision, entry_id: str) -> Entry | None:
    """Return an agent, if there is one of that name."""
    return await supervision.look(lambda journal: journal.entry(entry_id))


async def change_if_there(
    supervision: Supervision, entry_id: str, move: Callable[[Entry], Entry]
) -> None:
    """Keep an agent as `move` makes it, if there is one of that name. Raises: as `move`."""

    def change(journal: Journal) -> None:
        if journal.entry(entry_id) is not None:
            changed(journal, entry_id, move)

    await supervision.change(change)
