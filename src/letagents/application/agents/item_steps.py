"""One step of an item, written down together with what follows from it."""

from collections.abc import Callable

from letagents.domain import room_moves
from letagents.domain.inbox import Item
from letagents.ports.supervision import Journal, Supervision


def known(journal: Journal, item: Item) -> Item:
    """Return an item as it is by now."""
    return journal.item(item.item_id) or item


def put(journal: Journal, item: Item) -> None:
    """Keep an item and, if it is over, the move that follows it."""
    journal.put_item(item)
    entry = journal.entry(item.entry_id) if item.move is not None else None
    if entry is not None:
        journal.put_entry(room_moves.due(entry, item))


async def change(supervision: Supervision, item: Item, move: Callable[[Item], Item]) -> Item:
    """Return an item as `move` makes it, once that is written down. Raises: as `move`."""

    def change(journal: Journal) -> Item:
        moved = move(known(journal, item))
        put(journal, moved)
        return moved

    return await supervision.change(change)
