"""Rooms as older clients know them: as projects. (Source: hosted-api 3.2.)

What is asked of a project is answered as of its room, with the id under the older name beside it.
"""

import functools
from collections.abc import Awaitable, Callable

import orjson
from starlette.responses import Response

from letagents.domain import rooms
from letagents.domain.errors import UnknownRoom
from letagents.domain.ids import RoomId
from letagents.entrypoints.server.answers import Refused, answer
from letagents.entrypoints.server.calls import Call
from letagents.entrypoints.server.routes import board, messages, streams
from letagents.wire.http import projects as wire

Handler = Callable[[Call], Awaitable[Response]]


async def listed(call: Call) -> Response:
    """List the named rooms that the account has entered."""
    found = [one for one in await call.hosting.entrances.known(call.account) if one.code is None]
    shown = [{"id": str(one.room_id), "display_name": one.display_name} for one in found]
    return answer({"projects": shown})


async def by_code(call: Call) -> Response:
    """Enter the room of an invite code."""
    account, code = call.account, call.named("code")
    try:
        if not rooms.looks_like_code(code):
            raise UnknownRoom(f"{code[:80]} is no invite code.", remedy="Check the code.")
        room_id = rooms.invite_code(code)
        room, _ = await call.hosting.entrances.enter(
            account, room_id, address=call.address, create=False
        )
    except UnknownRoom as error:
        raise Refused(404, "Project not found for the given code") from error
    return answer(wire.plain(room))


async def by_name(call: Call) -> Response:
    """Enter a named room, which is made if it is not there."""
    account, room_id = call.account, rooms.canonical(call.named("name"))
    is_there = await _is_there(call, room_id)
    room, _ = await call.hosting.entrances.enter(
        account, room_id, address=call.address, create=True
    )
    return answer(wire.plain(room), 200 if is_there else 201)


async def _is_there(call: Call, room_id: RoomId) -> bool:
    try:
        await call.hosting.rooms.join(room_id, create=False)
    except UnknownRoom:
        return False
    return True


async def access(call: Call) -> Response:
    """Say how the room is entered, and what the account is in it."""
    account = call.account
    room = await call.hosting.rooms.join(call.room_id, create=False)
    role = await call.hosting.accounts.role(account, room.access_id)
    return answer(
        {
            "project_id": str(room.room_id),
            "room_type": "invite" if rooms.looks_like_code(str(room.access_id)) else "discoverable",
            "authenticated": True,
            "role": role.value if role is not None else "anonymous",
            "account": {
                "id": account.account_id,
                "login": account.login,
                "display_name": account.display_name,
            },
        }
    )


def _of_a_project(handler: Handler) -> Handler:
    @functools.wraps(handler)
    async def answered(call: Call) -> Response:
        response = await handler(call)
        if response.media_type != "application/json":
            return response
        document = orjson.loads(response.body)
        return answer({"project_id": str(call.room_id), **document}, response.status_code)

    return answered


_ROOM, _PROJECT = "/rooms/{room_id:path}", "/projects/{room_id:path}"
_VERBS = ("messages", "messages/poll", "messages/stream", "tasks", "tasks/{task_id}")

_OF_ROOMS = (*streams.ROUTES, *messages.BUSIEST, *messages.ROUTES, *board.ROUTES)

ROUTES = (
    ("GET", "/projects", listed),
    ("GET", "/projects/join/{code}", by_code),
    ("POST", "/projects/room/{name:path}", by_name),
    ("GET", f"{_PROJECT}/access", access),
    *(
        (method, path.replace(_ROOM, _PROJECT), _of_a_project(handler))
        for method, path, handler in _OF_ROOMS
        if path in {f"{_ROOM}/{verb}" for verb in _VERBS}
    ),
)
