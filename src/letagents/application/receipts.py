"""What became of messages with those whom they are for, for one client."""

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import attrs

from letagents.domain.errors import LetAgentsError, NotAvailable
from letagents.domain.fencing import Fence
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

    async def passed_over(self, room_id: RoomId, message_id: MessageId, by: Fence) -> None:
        """Let the room know that a message is dealt with to which nothing is answered.

        Where that cannot be said, it goes on to be shown as what is being worked on, and no more
        comes of it.
        """
        from letagents.domain.receipts import State

        if (receipts := self.opening()) is not None:
            with suppress(LetAgentsError):
                await receipts.declare(room_id, message_id, State.ACKNOWLEDGED, by)
