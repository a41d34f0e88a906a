"""What is needed to call rooms something else.

K124  A room's display name has 2 to 64 characters, with single blanks between them.
K125  Only an admin of the room changes it; the room stays where it is, under the same id.
"""

from typing import Protocol

from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.rooms import Room


class RoomNames(Protocol):
    """What rooms are called."""

    async def rename(self, room_id: RoomId, display_name: str, fence: Fence | None = None) -> Room:
        """Call the room so from now on, and return it.

        Raises:
            Malformed: no room is called so (K124).
            AdminRequired: who acts may not (K125).
            UnknownRoom, ConnectionLost: as RoomTransport.post.
        """
        ...
