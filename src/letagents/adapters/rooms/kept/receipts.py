"""The receipts of rooms that keep books."""

import attrs

from letagents.adapters.rooms.book import Book, Keeping
from letagents.domain.errors import UnknownMessage
from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.receipts import NoReceipt, Receipt, State


@attrs.frozen
class KeptReceipts:
    """The receipts of rooms that are kept in books."""

    _rooms: Keeping

    async def of(
        self, room_id: RoomId, message_id: MessageId, viewer: Fence | None = None
    ) -> tuple[Receipt, ...]:
        """Return the receipts of a message."""

        def of(book: Book) -> tuple[Receipt, ...]:
            _check_there(book, message_id)
            return tuple(book.receipts(message_id.number))

        return await self._rooms.look(room_id, of, viewer)

    async def declare(
        self, room_id: RoomId, message_id: MessageId, state: State, fence: Fence
    ) -> Receipt:
        """Note how far whoever `fence` is says that they are with a message."""

        def declare(book: Book) -> Receipt:
            _check_there(book, message_id)
            if (session := book.caller) is None:
                raise NoReceipt.of(message_id)
            return book.declare_receipt(session, message_id, state)

        return await self._rooms.change(room_id, declare, fence)


def _check_there(book: Book, message_id: MessageId) -> None:
    if book.message(message_id.number) is None:
        raise UnknownMessage(
            f"message_id: {message_id} does not exist in this room.",
            remedy="Call read_messages to see the ids of the room's messages.",
        )
