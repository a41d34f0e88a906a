"""The receipts of rooms that keep books."""

import attrs

from letagents.adapters.rooms.book import Book, Keeping
from letagents.domain.errors import UnknownMessage
from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.receipts import Receipt


@attrs.frozen
class KeptReceipts:
    """The receipts of rooms that are kept in books."""

    _rooms: Keeping

    async def of(
        self, room_id: RoomId, message_id: MessageId, viewer: Fence | None = None
    ) -> tuple[Receipt, ...]:
        """Return the receipts of a message."""

        def of(book: Book) -> tuple[Receipt, ...]:
            if book.message(message_id.number) is None:
                raise UnknownMessage(
                    f"message_id: {message_id} does not exist in this room.",
                    remedy="Call read_messages to see the ids of the room's messages.",
                )
            return tuple(book.receipts(message_id.number))

        return await self._rooms.look(room_id, of, viewer)
