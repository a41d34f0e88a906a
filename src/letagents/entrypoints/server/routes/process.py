"""Process connections: proof that the process of a session is there. (Source: hosted-api 3.6.)"""

import anyio
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from letagents.application.server.hosting import Hosting
from letagents.domain.errors import LetAgentsError, NoAttendance, RoomsUnavailable, SessionEnded
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.messages import Latest
from letagents.entrypoints.server.answers import Refused, Told, answer, problem, told
from letagents.entrypoints.server.calls import Call
from letagents.entrypoints.server.events import CONNECTED, HEARTBEAT, event
from letagents.ports.attendance import Attended, Over, Roll
from letagents.wire.http import problems
from letagents.wire.http.problems import Form, Forms

_OPENING: Forms = {
    SessionEnded: Form(410, "agent_session_ended", "Agent session has ended."),
    NoAttendance: Form(404, text="This session has no process connection."),
    RoomsUnavailable: Form(500, text="Process connection could not be opened."),
}
_EXITING: Forms = {RoomsUnavailable: Form(500, text="Process exit could not be recorded.")}
_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


class Stream(Response):
    """The connection of one process, open as long as it is not over and the client is there."""

    def __init__(self, roll: Roll, room_id: RoomId, fence: Fence, hosting: Hosting) -> None:
        super().__init__()
        self._roll, self._room_id, self._fence = roll, room_id, fence
        self._stopping, self._beats = hosting.stopping, hosting.beats

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            with told(_OPENING):
                async with self._roll.attend(self._room_id, self._fence) as attended:
                    await self._until_over(attended, receive, send)
        except (Told, LetAgentsError) as error:
            await problem(error)(scope, receive, send)

    async def _until_over(self, attended: Attended, receive: Receive, send: Send) -> None:
        """Speak to the client until it is over; return also when the client hangs up."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_until_hung_up, receive, tasks.cancel_scope)
            tasks.start_soon(self._until_stopped)
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            opened = event({"connection_id": attended.connection_id}, name="open")
            await send(_said(CONNECTED + opened))
            beating = anyio.CancelScope()
            tasks.start_soon(self._beat, send, beating)
            how = await attended.over()
            beating.cancel()
            await send(_said(event({}, name="ended") if how is Over.ENDED else b"", more=False))
            tasks.cancel_scope.cancel()

    async def _beat(self, send: Send, beating: anyio.CancelScope) -> None:
        # What is said is so little that a client who takes none of it fills no buffer in hours.
        sign = _said(HEARTBEAT)
        with beating, self._beats.joined() as beat:
            while True:
                await beat()
                await send(sign)

    async def _until_stopped(self) -> None:
        await self._stopping.wait()
        self._roll.shut()


async def _until_hung_up(receive: Receive, connection: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    connection.cancel()


def _said(what: bytes, *, more: bool = True) -> Message:
    return {"type": "http.response.body", "body": what, "more_body": more}


async def attend(call: Call) -> Response:
    """Hold a process connection open."""
    fence = await call.looking()
    if fence is None:
        raise Refused(401, problems.BAD_CREDENTIALS)
    await _check_own(call, fence, "A process connection belongs to its own session.")
    return Stream(_roll(call), call.room_id, fence, call.hosting)


async def leave(call: Call) -> Response:
    """Take note that a process exits."""
    fence = await call.acting()
    await _check_own(call, fence, "A process speaks only for its own session.")
    connection_id = await call.text("process_connection_id")
    with told(_EXITING):
        recorded = await _roll(call).exited(call.room_id, fence, connection_id)
    return answer({"recorded": recorded})


async def _check_own(call: Call, fence: Fence, text: str) -> None:
    if call.named("session_id") != str(fence.session_id):
        await call.hosting.rooms.read(call.room_id, Latest(1), fence)  # who is nobody hears that
        raise Refused(403, text)


def _roll(call: Call) -> Roll:
    if call.hosting.roll is None:
        raise Refused(404, f"Cannot {call.request.method} this path")
    return call.hosting.roll


ROUTES = (
    ("GET", "/rooms/{room_id:path}/agent-sessions/{session_id}/process", attend),
    ("POST", "/rooms/{room_id:path}/agent-sessions/{session_id}/process/exit", leave),
)
