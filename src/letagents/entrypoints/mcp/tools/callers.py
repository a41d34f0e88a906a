"""For whom a tool acts, and into which room it looks."""

from letagents.domain.ids import RoomId
from letagents.domain.sessions import Connection
from letagents.entrypoints.mcp.tool import Arguments
from letagents.entrypoints.mcp.tools.arguments import claim, naming
from letagents.entrypoints.mcp.visit import Visit


async def acting(visit: Visit, arguments: Arguments) -> Connection:
    """Return the connection that a call acts with. Raises: as Callers.acting."""
    with naming("room_id"):
        return await visit.client.callers.acting(claim(arguments), visit.client.places.current_id)


async def viewing(visit: Visit, arguments: Arguments) -> tuple[RoomId, Connection | None]:
    """Return the room that a call looks into, and with whose eyes. Raises: as Callers.viewing."""
    return await visit.client.callers.viewing(claim(arguments), visit.client.places.current_id)
