"""Rooms: made, entered, listed. (Source: hosted-api 3.2, 3.3.)"""

from starlette.responses import Response

from letagents.entrypoints.server.answers import Refused, answer
from letagents.entrypoints.server.calls import Call
from letagents.wire.http import rooms as wire
from letagents.wire.http import sign_in


async def create(call: Call) -> Response:
    """Make a room that is entered by a new invite code."""
    made = await call.hosting.entrances.create(call.account)
    return answer({"id": str(made.room_id), **wire.plain(made)}, 201)


async def join(call: Call) -> Response:
    """Enter a room, which is made if it may be."""
    create = (call.asked("create") or "").lower() not in ("false", "0")
    if call.principal.account is None and call.hosting.people is not None:
        raise _sign_in_first(call)
    entered, role = await call.hosting.entrances.enter(
        call.account, call.called, address=call.address, create=create
    )
    return answer({**wire.plain(entered), "role": role.value, "authenticated": True})


def _sign_in_first(call: Call) -> Refused:
    """Return how who is not signed in is told where they can be. (Source: hosted-api 5.2.)"""
    start = f"{call.hosting.base_url}/auth/device/start{sign_in.query(call.room_id)}"
    return Refused(
        401,
        "auth_required",
        code="NOT_AUTHENTICATED",
        message="Sign in first: start_device_auth, or a token in LETAGENTS_TOKEN.",
        room_id=str(call.room_id),
        device_flow_url=start,
    )


async def known(call: Call) -> Response:
    """List the rooms that the account has entered, the latest active first."""
    found = await call.hosting.entrances.known(call.account)
    return answer({"rooms": [wire.plain(one) for one in found]})


async def rename(call: Call) -> Response:
    """Call the room something else."""
    fence, name = await call.acting_or_person(), await call.text("display_name", required=True)
    renamed = await call.administration.rename(call.room_id, name or "", fence)
    return answer(wire.plain(renamed))


ROUTES = (
    ("POST", "/projects", create),
    ("GET", "/rooms", known),
    ("POST", "/rooms/{room_id:path}/join", join),
    ("PATCH", "/rooms/{room_id:path}", rename),
)
