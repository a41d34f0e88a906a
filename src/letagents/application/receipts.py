"""What became of messages with those whom they are for, for one client."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs

from letagents.domain.errors import NotAvailable
from letagents.domain.ids import MessageId, RoomId

if TYPE_CHECKING:  # a process that asks for nothing of this loads nothing of it
    from letagents.domain.receipts import Receipt
    from letagents.ports.receipts import Receipts

ReceiptsOpening = Callable[[], "Receipts | None"]
"""Returns the receipts; None where rooms keep none."""


@attrs.frozen
class Reached:
    """Whom messages have reached."""

    opening: ReceiptsOpening

    async def of(self, room_id: RoomId, message_id: MessageId) -> "tuple[Receipt, ...]":
        """Return the receipts of a message. Raises as Receipts.of, and NotAvailable."""
        if (receipts := self.opening()) is None:
            raise NotAvailable(
                "These rooms keep no receipts.", remedy="Ask in the room: send_message."
            )
        return await receipts.of(room_id, message_id)
