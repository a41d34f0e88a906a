"""Guidelines, as rooms keep them; a room may look into others that stand behind it."""

import attrs

from letagents.adapters.rooms.book import Book, Keeping, Kind
from letagents.domain import governance, guidelines
from letagents.domain.audience import SETTINGS
from letagents.domain.errors import UnknownRoom
from letagents.domain.fencing import Fence
from letagents.domain.guidelines import Guidelines, InForce
from letagents.domain.ids import RoomId

_ONE = "guidelines"

GUIDELINES = Kind(
    name="guidelines", of=Guidelines, key=lambda _one: _ONE, number=lambda one: one.version
)


@attrs.frozen
class KeptGuidelines:
    """The guidelines of rooms that are kept in books."""

    _rooms: Keeping

    async def in_force(self, room_id: RoomId, viewer: Fence | None = None) -> InForce:
        """Return what counts in the room."""
        own, parent = await self._rooms.look(
            room_id, lambda book: (_own(book), book.parent), viewer
        )
        if own is not None and own.text is not None:
            return InForce(own)
        for behind in guidelines.forebears_of(room_id, parent):
            theirs = await self._of(behind)
            if theirs is not None and theirs.text is not None:
                return InForce(theirs, inherited_from=behind)
        return InForce(own)

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
