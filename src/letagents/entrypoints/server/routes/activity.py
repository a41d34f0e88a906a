"""What programs report of their agents, and who ever was there. (Source: hosted-api 3.3, 3.5.)"""

from starlette.responses import Response

from letagents.domain import failures
from letagents.domain.accounts import WorkerSessionRequired
from letagents.domain.errors import ConnectionLost, Malformed, NotAvailable
from letagents.domain.ids import SessionId
from letagents.domain.tasks import WorkerRequired
from letagents.domain.whereabouts import LIMIT, MOST
from letagents.entrypoints.server.answers import Refused, answer, told
from letagents.entrypoints.server.calls import Call
from letagents.ports.activity import Activities
from letagents.wire.http import activity as wire
from letagents.wire.http import messages as wire_messages
from letagents.wire.http.problems import Form, Forms

_BAD = Form(401, text="Invalid or ended native worker session credentials.")
_REPORTING: Forms = {
    ConnectionLost: _BAD,
    WorkerSessionRequired: _BAD,
    WorkerRequired: Form(403, text="Native activity requires a worker session."),
}


def _activities(call: Call) -> Activities:
    if call.hosting.activities is None:
        raise NotAvailable(
            "The rooms of this server do not tell what agents do.", remedy="Ask in the room."
        )
    return call.hosting.activities


async def report(call: Call) -> Response:
    """Keep what a program reports of its agent."""
    with told(_REPORTING):
        fence = await call.acting()
        if call.named("session_id") != str(fence.session_id):
            raise Refused(403, "Worker sessions can only report native activity for themselves.")
        found = wire.report(await call.body())
        kept, is_new = await _activities(call).report(call.room_id, found, fence)
    return answer(wire.plain(call.room_id, kept, recorded=is_new))


async def failed(call: Call) -> Response:
    """Let the room say why the caller's agent cannot go on."""
    fence = await call.acting()
    if call.named("session_id") != str(fence.session_id):
        raise Refused(403, "Worker sessions can only report failures of themselves.")
    body = await call.body()
    told_of = failures.failure(body.get("code"), body.get("origin_event_id"))
    said = await _activities(call).failed(call.room_id, told_of, fence)
    return answer({"room_id": str(call.room_id), "message": wire_messages.plain(said)}, 201)


async def history(call: Call) -> Response:
    """Show who ever worked in the room, those who came last first."""
    viewer = await call.looking()
    before = call.asked("before")
    if before is not None and not SessionId.fits(before):
        raise Malformed(
            "before: this is not the id of a session.", remedy="Pass the last agent_session_id."
        )
    seen, more = await _activities(call).history(
        call.room_id,
        limit=call.limited(LIMIT, MOST),
        before=SessionId(before) if before else None,
        viewer=viewer,
    )
    shown = [wire.plain_past(one) for one in seen]
    return answer({"room_id": str(call.room_id), "history": shown, "has_more": more})


ROUTES = (
    ("POST", "/rooms/{room_id:path}/agent-sessions/{session_id}/native-activity", report),
    ("POST", "/rooms/{room_id:path}/agent-sessions/{session_id}/failures", failed),
    ("GET", "/rooms/{room_id:path}/activity-history", history),
)
