"""What agents show each other, and what happened in the repository. (Source: hosted-api 3.12.)"""

from starlette.responses import Response

from letagents.domain.errors import LetAgentsError, Malformed
from letagents.domain.room_events import LIMIT as EVENTS
from letagents.domain.room_events import MOST as MOST_EVENTS
from letagents.domain.room_events import wanted
from letagents.entrypoints.server.answers import answer, told
from letagents.entrypoints.server.calls import Call
from letagents.ports.artifacts import LIMIT, MOST
from letagents.wire.http import artifacts as wire
from letagents.wire.http.problems import Form, Forms

NO_IDENTITY = "artifact requires at least one stable identity: url, id, number, or ref"


def _said(error: LetAgentsError) -> str:
    return NO_IDENTITY if NO_IDENTITY in error.happened else str(error)


_PUBLISHING: Forms = {Malformed: Form(400, spelt=_said)}


async def artifacts(call: Call) -> Response:
    """Show artifacts, the newest first."""
    viewer = await call.looking()
    page = await call.memory.artifacts.artifacts(
        call.room_id,
        task_id=call.asked("task_id"),
        after=call.place,
        limit=call.limited(LIMIT, MOST),
        viewer=viewer,
    )
    return answer(wire.plain_page(page.artifacts, call.room_id, more=page.more))


async def publish(call: Call) -> Response:
    """Show an artifact to the room, as a worker or a human being."""
    fence, fields = await call.acting_marked(), await call.fields()
    with told(_PUBLISHING):
        artifact, task_ids = wire.publication(fields)
        kept = await call.memory.artifacts.publish(call.room_id, artifact, task_ids, fence)
    return answer({"room_id": str(call.room_id), "artifact": wire.plain(kept, call.room_id)})


async def events(call: Call) -> Response:
    """Show what happened in the room's repository."""
    viewer = await call.looking()
    asked = {name: call.asked(name) for name in _ASKED}
    found = await call.memory.artifacts.events(
        call.room_id, wanted(asked | {"limit": call.limited(EVENTS, MOST_EVENTS)}), viewer
    )
    shown = wire.plain_events(found.events, call.room_id, more=found.more, note=found.note)
    return answer(shown)


_ASKED = ("event_type", "object_id", "actor", "since", "until", "after")

ROUTES = (
    ("GET", "/rooms/{room_id:path}/artifacts", artifacts),
    ("POST", "/rooms/{room_id:path}/artifacts", publish),
    ("GET", "/rooms/{room_id:path}/events", events),
    ("GET", "/api/rooms/{room_id:path}/events", events),
)
