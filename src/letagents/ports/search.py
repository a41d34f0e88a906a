"""What the application needs of a place that can be searched.

V13  What was said before a search began is searched, wherever it was said.
V14  A replaced or ended connection that shows its fence finds nothing; nor does a room not there.
V15  A place that cannot search says so with NotAvailable, and does all the rest.
"""

from typing import Protocol, runtime_checkable

from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.search import Found, Query


@runtime_checkable
class Search(Protocol):
    """Rooms whose messages can be searched."""

    async def search(self, room_id: RoomId, query: Query, viewer: Fence | None = None) -> Found:
        """Return the newest hits of `query` in the room, below where the query says.

        Raises:
            UnknownRoom: the room is not there.
            ConnectionLost: `viewer` does not admit.
            UnknownMessage: the query names a thread by a message that is not there.
            NotAvailable: nothing can be searched here.
        """
        ...
