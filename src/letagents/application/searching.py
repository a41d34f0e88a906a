"""Searching what was said."""

import attrs

from letagents.application.connections import Connections, fence_of
from letagents.domain.errors import NotAvailable
from letagents.domain.ids import RoomId
from letagents.domain.search import Found, Query
from letagents.domain.sessions import Connection
from letagents.ports.rooms import RoomTransport
from letagents.ports.search import Search


@attrs.frozen
class Searching:
    """Searches for one client. Rooms that were passed in may not be able to."""

    rooms: RoomTransport
    connections: Connections

    async def search(
        self, room_id: RoomId, query: Query, viewer: Connection | None = None
    ) -> Found:
        """Return the newest hits in the room. Raises: as Search.search."""
        if not isinstance(self.rooms, Search):
            raise NotAvailable(
                "These rooms cannot be searched.",
                remedy="Call read_messages to read the newest messages.",
            )
        asked = self.rooms.search(room_id, query, fence_of(viewer))
        return await self.connections.told(viewer, asked)
