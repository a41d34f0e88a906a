"""What the application needs of what people wish from the agents in a room.

K38  Guidelines that were set are in force at once, in the room and in those that inherit them.
K39  A change of them is said in the room in the transaction that keeps it, and calls nobody; so is
     one of the order of replies.
"""

from typing import Protocol

from letagents.domain.fencing import Fence
from letagents.domain.guidelines import InForce, ReplyOrder
from letagents.domain.ids import RoomId


class GuidelinesOf(Protocol):
    """The guidelines of rooms. Where no fence is shown, the room's owner acts."""

    async def in_force(self, room_id: RoomId, viewer: Fence | None = None) -> InForce:
        """Return what counts in the room. Raises: UnknownRoom, ConnectionLost."""
        ...

    async def set(self, room_id: RoomId, text: str, fence: Fence | None = None) -> InForce:
        """Set a room's own, or give them up with a blank text; return what counts then.

        Raises: as `domain.guidelines.set_by`, and AdminRequired.
        """
        ...

    async def set_reply_order(
        self, room_id: RoomId, order: ReplyOrder, fence: Fence | None = None
    ) -> InForce:
        """Set how the room's agents answer that are called together; return what counts then.

        Raises: HumansOnly, AdminRequired.
        """
        ...
