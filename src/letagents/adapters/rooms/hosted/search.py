"""Searching rooms on a server, through a route that only our own server has."""

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.projects import Absent
from letagents.domain.errors import NotAvailable
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.search import Found, Query
from letagents.wire.http import credentials, rooms
from letagents.wire.http import search as wire


async def search(calls: Calls, room_id: RoomId, query: Query, viewer: Fence | None) -> Found:
    """Return the newest hits. Raises NotAvailable where the server cannot search."""
    try:
        return await calls.get(
            f"{rooms.path(room_id)}/messages/search",
            wire.found,
            query=wire.plain_query(query),
            headers=credentials.in_headers(viewer),
        )
    except Absent as error:
        raise NotAvailable(
            "The server of these rooms cannot search them.",
            remedy="Call read_messages to read the newest messages.",
        ) from error
