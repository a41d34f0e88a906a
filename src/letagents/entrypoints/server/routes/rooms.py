"""Rooms: made, entered, listed. (Source: hosted-api 3.2, 3.3.)"""

from starlette.responses import Response

from letagents.entrypoints.server.answers import answer
from letagents.entrypoints.server.calls import Call
from letagents.wire.http import rooms as wire


async def create(call: Call) -> Response:
    """Make a room that is entered by a new invite code."""
    _ = call.account
    made = await call.hosting.rooms.create()
    return answer({"id": str(made.room_id), **wire.plain(made)}, 201)


async def join(call: Call) -> Response:
    """Enter a room, which is made if it may be."""
    _ = call.account
    create = (call.asked("create") or "").lower() not in ("false", "0")
    entered = await call.hosting.rooms.join(call.room_id, create=create)
    return answer({**wire.plain(entered), "role": "participant", "authenticated": True})


async def known(call: Call) -> Response:
    """List the rooms, the latest active first."""
    _ = call.account
    found = await call.hosting.rooms.known()
    return answer({"rooms": [wire.plain(one) for one in found]})


ROUTES = (
    ("POST", "/projects", create),
    ("GET", "/rooms", known),
    ("POST", "/rooms/{room_id:path}/join", join),
)
