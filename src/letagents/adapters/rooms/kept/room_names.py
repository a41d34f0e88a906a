"""What rooms are called, as they keep it."""

import attrs

from letagents.adapters.rooms.book import Book, Keeping
from letagents.domain import governance, rooms
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.rooms import Room


@attrs.frozen
class KeptRoomNames:
    """The names of rooms that are kept in books."""

    _rooms: Keeping

    async def rename(self, room_id: RoomId, display_name: str, fence: Fence | None = None) -> Room:
        """Call the room so from now on."""
        name = rooms.checked_display_name(display_name)

        def rename(book: Book) -> Room:
            governance.check_admin(is_admin=book.is_admin, what="say what it is called")
            return book.rename(name)

        return await self._rooms.change(room_id, rename, fence)
