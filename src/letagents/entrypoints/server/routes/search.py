"""Searching what was said; this route is our own."""

from starlette.responses import Response

from letagents.domain.errors import NotAvailable
from letagents.entrypoints.server.answers import answer
from letagents.entrypoints.server.calls import Call
from letagents.ports.search import Search
from letagents.wire.http import search as wire


def searchable(call: Call) -> Search:
    """Return rooms that can be searched. Raises NotAvailable."""
    if not isinstance(call.hosting.rooms, Search):
        raise NotAvailable(
            "The rooms of this server cannot be searched.",
            remedy="Call read_messages to read the newest messages.",
        )
    return call.hosting.rooms


async def find(call: Call) -> Response:
    """Find messages, the newest first."""
    viewer, rooms = await call.looking(), searchable(call)
    given = {name: call.request.query_params.get(name) for name in wire.ASKED}
    query = wire.query(given, call.asked("limit"))
    return answer(wire.plain(await rooms.search(call.room_id, query, viewer), call.room_id))


ROUTES = (("GET", "/rooms/{room_id:path}/messages/search", find),)
