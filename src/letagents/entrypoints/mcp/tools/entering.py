"""What is told of a room that cannot be entered yet."""

from letagents.domain.errors import SignInFirst
from letagents.domain.ids import RoomId
from letagents.entrypoints.mcp.visit import Visit

Result = dict[str, object]


async def sign_in_first(visit: Visit, room_id: RoomId, error: SignInFirst) -> Result:
    """Return how a person signs in for a room that asks for it. (Source: mcp-tools 8.4.)"""
    return {
        "success": False,
        "error": error.code,
        "room_id": str(room_id),
        "next_step": "poll_device_auth",
        "pending_device_auth": await visit.client.onboarding.begin_for(room_id, error),
        "message": f"{error.happened} Ask the person to type user_code at verification_uri, then "
        "call poll_device_auth(), and then this again.",
    }
