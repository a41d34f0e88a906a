"""What the application needs to tell what became of a message with those whom it is for.

A78  Who may read a room may see whom each of its messages woke, and how far that has come.
"""

from typing import Protocol

from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.receipts import Receipt, State


class Receipts(Protocol):
    """The receipts of rooms."""

    async def of(
        self, room_id: RoomId, message_id: MessageId, viewer: Fence | None = None
    ) -> tuple[Receipt, ...]:
        """Return the receipts of a message, in the order of their agents' keys.

        Raises:
            UnknownRoom: the room is not there.
            UnknownMessage: it has no such message.
            ConnectionLost: `viewer` does not admit.
        """
        ...

    async def declare(
        self, room_id: RoomId, message_id: MessageId, state: State, fence: Fence
    ) -> Receipt:
        """Note how far whoever `fence` is says that they are with a message (A79).

        `state` is that they respond, are blocked, or have acknowledged it.

        Raises:
            UnknownRoom, UnknownMessage, ConnectionLost: as `of`.
            NoReceipt: it is not for them.
        """
        ...
