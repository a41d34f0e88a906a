"""Guidelines, as rooms keep them; a room may look into others that stand behind it."""

import attrs

from letagents.adapters.rooms.book import Book, Keeping, Kind
from letagents.domain import governance, guidelines
from letagents.domain.audience import SETTINGS
from letagents.domain.errors import UnknownRoom
from letagents.domain.fencing import Fence
from letagents.domain.guidelines import Guidelines, InForce, Ordered, ReplyOrder
from letagents.domain.ids import RoomId

_ONE = "guidelines"

GUIDELINES = Kind(
    name="guidelines", of=Guidelines, key=lambda _one: _ONE, number=lambda one: one.version
)
ORDER = Kind(name="reply_order", of=Ordered, key=lambda _one: _ONE, number=lambda one: one.version)
_ORDERS = {
    ReplyOrder.PARALLEL: "set that agents which are called together answer at once.",
    ReplyOrder.SEQUENTIAL: "set that agents which are called together answer one after another: "
    "in the order in which they are named, each once it has read what those before it said, and "
    "with what they left out.",
}


@attrs.frozen
class KeptGuidelines:
    """The guidelines of rooms that are kept in books."""

    _rooms: Keeping

    async def in_force(self, room_id: RoomId, viewer: Fence | None = None) -> InForce:
        """Return what counts in the room."""
        own, parent, ordered = await self._rooms.look(
            room_id, lambda book: (_own(book), book.parent, book.get(ORDER, _ONE)), viewer
        )
        order = ordered.order if ordered else ReplyOrder.PARALLEL
        if own is not None and own.text is not None:
            return InForce(own, reply_order=order)
        for behind in guidelines.forebears_of(room_id, parent):
            theirs = await self._of(behind)
            if theirs is not None and theirs.text is not None:
                return InForce(theirs, inherited_from=behind, reply_order=order)
        return InForce(own, reply_order=order)

    async def set(self, room_id: RoomId, text: str, fence: Fence | None = None) -> InForce:
        """Set a room's own, or give them up."""

        def change(book: Book) -> None:
            before = _own(book)
            after = guidelines.set_by(book.caller, text, before, book.now)
            governance.check_admin(is_admin=book.is_admin, what="set its guidelines")
            if after == before or (before is None and after.text is None):
                return
            book.put(GUIDELINES, after)
            book.say(_words(after), key=f"guidelines:{after.version}", source=SETTINGS)

        await self._rooms.change(room_id, change, fence)
        return await self.in_force(room_id)

    async def set_reply_order(
        self, room_id: RoomId, order: ReplyOrder, fence: Fence | None = None
    ) -> InForce:
        """Set how the room's agents answer that are called together."""

        def change(book: Book) -> None:
            author, after = guidelines.ordered_by(book.caller, order, book.get(ORDER, _ONE))
            governance.check_admin(is_admin=book.is_admin, what="set in which order agents reply")
            if after is not None:
                book.put(ORDER, after)
                words = f"[room] {author.label} {_ORDERS[order]}"
                book.say(words, key=f"reply_order:{after.version}", source=SETTINGS)

        await self._rooms.change(room_id, change, fence)
        return await self.in_force(room_id)

    async def _of(self, room_id: RoomId) -> Guidelines | None:
        try:
            return await self._rooms.look(room_id, _own)
        except UnknownRoom:
            return None


def _own(book: Book) -> Guidelines | None:
    return book.get(GUIDELINES, _ONE)


def _words(after: Guidelines) -> str:
    if after.text is None:
        return f"[room] {after.updated_by.label} took the room's guidelines for agents away."
    return (
        f"[room] {after.updated_by.label} changed the room's guidelines for agents: "
        "get_room_guidelines shows them."
    )
