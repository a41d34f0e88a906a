"""The rooms beside a room. (Source: hosted-api 3.8, 3.11.)"""

from starlette.responses import Response

from letagents.domain.errors import NotAvailable, UnknownRoom
from letagents.entrypoints.server.answers import answer, told
from letagents.entrypoints.server.calls import Call
from letagents.ports.focus_rooms import FocusRooms
from letagents.wire.http import focus_rooms as asks
from letagents.wire.http import messages, rooms
from letagents.wire.http.problems import Form, Forms

_NO_SUCH: Forms = {UnknownRoom: Form(404, "ROOM_NOT_FOUND", "Focus Room not found")}


def _focus(call: Call) -> FocusRooms:
    if call.hosting.focus is None:
        raise NotAvailable(
            "The rooms of this server have none beside them.", remedy="Make another: create_room."
        )
    return call.hosting.focus


async def beside(call: Call) -> Response:
    """List the focus rooms beside a room, the newest first."""
    viewer = await call.looking()
    found = await _focus(call).beside(call.room_id, viewer)
    shown = [rooms.plain(one) for one in found]
    return answer({"room_id": str(call.room_id), "focus_rooms": shown})


async def open_one(call: Call) -> Response:
    """Open a focus room beside a room, or find the open one of that title."""
    fence = await call.acting_marked()
    title = await call.text("title", required=True)
    made = await _focus(call).open(
        call.room_id, title or "", fence, display_name=await call.text("display_name")
    )
    told_of = {"room_id": str(call.room_id), "created": made.is_new}
    return answer(told_of | {"focus_room": rooms.plain(made.room)}, 201)


async def open_for_task(call: Call) -> Response:
    """Open the focus room of a task, or find the open one."""
    fence = await call.acting_marked()
    task_id = call.named("task_id")
    made = await _focus(call).open_for_task(
        call.room_id, task_id, fence, display_name=await call.text("display_name")
    )
    told_of = {"room_id": str(call.room_id), "task_id": task_id, "created": made.is_new}
    shown = told_of | {"focus_room": rooms.plain(made.room)}
    return answer(shown, 201 if made.is_new else 200)


async def of_key(call: Call) -> Response:
    """Read one focus room."""
    viewer = await call.looking()
    with told(_NO_SUCH):
        found = await _focus(call).of_key(call.room_id, call.named("key"), viewer)
    return answer(rooms.plain(found))


async def set_one(call: Call) -> Response:
    """Set how a focus room belongs to the room beside it."""
    fence, fields = await call.acting_marked(), await call.fields()
    with told(_NO_SUCH):
        found = await _focus(call).set(call.room_id, call.named("key"), asks.changes(fields), fence)
    return answer(rooms.plain(found))


async def conclude(call: Call) -> Response:
    """Conclude a focus room, and tell the room beside it."""
    fence, fields = await call.acting_marked(), await call.fields()
    key = call.named("key")
    with told(_NO_SUCH):
        done = await _focus(call).conclude(call.room_id, key, asks.outcome(fields), fence)
    said = None if done.message is None else messages.plain(done.message)
    return answer(
        {
            "room_id": str(call.room_id),
            "focus_key": key,
            "shared": said is not None,
            "message": said,
            "focus_room": rooms.plain(done.room),
        }
    )


_ONE = "/rooms/{room_id:path}/focus/{key}"

ROUTES = (
    ("GET", "/rooms/{room_id:path}/focus-rooms", beside),
    ("POST", "/rooms/{room_id:path}/focus-rooms", open_one),
    ("POST", "/rooms/{room_id:path}/tasks/{task_id}/focus-room", open_for_task),
    ("PATCH", f"{_ONE}/settings", set_one),
    ("POST", f"{_ONE}/conclude", conclude),
    ("GET", _ONE, of_key),
)
