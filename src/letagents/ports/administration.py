"""What the admins of a room do with it.

K124  A room's display name has 2 to 64 characters, with single blanks between them.
K125  Only an admin of the room changes it; the room stays where it is, under the same id.
K126  An admin ends any session of the room; whose it was may come back, as after any end.
"""

from typing import Protocol

from letagents.domain.event_filters import EventFilter, EventKind
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.rooms import Room
from letagents.domain.sessions import Session


class Administration(Protocol):
    """Looks after rooms, for their admins."""

    async def rename(self, room_id: RoomId, display_name: str, fence: Fence | None = None) -> Room:
        """Call the room so from now on, and return it.

        Raises:
            Malformed: no room is called so (K124).
            AdminRequired: who acts may not (K125).
            UnknownRoom, ConnectionLost: as RoomTransport.post.
        """
        ...

    async def event_filter(self, room_id: RoomId, viewer: Fence | None = None) -> EventFilter:
        """Return of which events of its repository the room wants to hear (K140).

        Raises: UnknownRoom, ConnectionLost.
        """
        ...

    async def filter_events(
        self, room_id: RoomId, kinds: tuple[EventKind, ...], fence: Fence | None = None
    ) -> EventFilter:
        """Let the room hear of those kinds alone; return what counts then.

        Raises:
            HumansOnly, AdminRequired: who acts may not (K141).
            UnknownRoom, ConnectionLost: as RoomTransport.post.
        """
        ...

    async def end(
        self, room_id: RoomId, session_id: SessionId, fence: Fence | None = None
    ) -> Session:
        """End a session, and return it; one that has ended stays as it is.

        Raises:
            NoSuchSession: the room never had it.
            AdminRequired: who acts may not (K126).
            UnknownRoom, ConnectionLost: as RoomTransport.post.
        """
        ...
