"""What agents let others see of their reasoning. (Source: hosted-api 3.10.)

An agent has one open trace (K63): to open one where there is one is to go on with it.
"""

from starlette.responses import Response

from letagents.domain.fencing import Fence
from letagents.domain.reasoning import Reasoning, Update, subject, trace
from letagents.entrypoints.server.answers import Refused, answer
from letagents.entrypoints.server.calls import LONGEST_PAGE, Call
from letagents.ports.reasoning import Reasonings
from letagents.wire.http import reasoning as wire

TRACES, STATES = 50, 100
CHANGES = ("task_id", "anchor_message_id", "closed_at")


def _reasonings(call: Call) -> Reasonings:
    return call.memory.reasonings


async def traces(call: Call) -> Response:
    """Show traces, the newest first."""
    viewer = await call.looking()
    label, limit = call.asked("actor_label"), call.limited(TRACES, LONGEST_PAGE)
    found = await _reasonings(call).traces(
        call.room_id,
        is_open=_is_open(call),
        agent_key=call.asked("agent_key"),
        task_id=call.asked("task_id"),
        limit=limit if label is None else LONGEST_PAGE,
        viewer=viewer,
    )
    wanted = [one for one in found if label is None or one.actor_label == label]
    shown = [wire.plain(one, call.room_id) for one in wanted[:limit]]
    return answer({"room_id": str(call.room_id), "sessions": shown})


def _is_open(call: Call) -> bool | None:
    if (call.asked("open") or "").lower() != "false":
        return True
    return False if call.asked("closed") == "true" else None


async def _speaking(call: Call) -> Fence:
    fence = await call.acting()
    await call.hosting.sessions.check_speaks(call.room_id, fence)
    return fence


async def open_trace(call: Call) -> Response:
    """Show a state of the caller's open trace, which is opened if there is none."""
    fence, body = await _speaking(call), await call.body()
    about = subject(body, may_clear=False)
    made = await _reasonings(call).post(call.room_id, trace(body), fence, about=about)
    return _made(call, *made)


async def go_on(call: Call) -> Response:
    """Show a state of a trace of the caller's that is open."""
    fence, body = await _speaking(call), await call.body()
    made = await _reasonings(call).post(
        call.room_id,
        trace(body),
        fence,
        reasoning_id=call.named("reasoning_id"),
        about=subject(body, may_clear=False),
    )
    return _made(call, *made)


def _made(call: Call, kept: Reasoning, state: Update) -> Response:
    shown = {
        "room_id": str(call.room_id),
        "session": wire.plain(kept, call.room_id),
        "update": wire.plain_update(state, call.room_id),
    }
    return answer(shown, 201)


async def one(call: Call) -> Response:
    """Show a trace and the states that it had, the newest first."""
    viewer, reasoning_id = await call.looking(), call.named("reasoning_id")
    port = _reasonings(call)
    kept = await port.trace(call.room_id, reasoning_id, viewer)
    states = await port.updates(
        call.room_id, reasoning_id, limit=call.limited(STATES, LONGEST_PAGE), viewer=viewer
    )
    shown = {
        "room_id": str(call.room_id),
        "session": wire.plain(kept, call.room_id),
        "updates": [wire.plain_update(one, call.room_id) for one in states],
    }
    return answer(shown)


async def change(call: Call) -> Response:
    """Say what a trace is about, or close it."""
    fence, body = await call.acting_marked(), await call.body()
    if not any(name in body for name in CHANGES):
        raise Refused(400, "task_id, anchor_message_id or closed_at is required")
    port, named = _reasonings(call), call.named("reasoning_id")
    about = subject(body, may_clear=True)
    if about.named or body.get("closed_at") is None:
        kept = await port.relate(call.room_id, named, about, fence)
    if body.get("closed_at") is not None:
        kept = await port.close(call.room_id, named, fence)
    return answer({"room_id": str(call.room_id), "session": wire.plain(kept, call.room_id)})


_TRACES = "/rooms/{room_id:path}/reasoning-sessions"
_ONE = f"{_TRACES}/{{reasoning_id}}"

ROUTES = (
    ("GET", "/rooms/{room_id:path}/reasoning", traces),
    ("GET", _TRACES, traces),
    ("POST", _TRACES, open_trace),
    ("POST", f"{_ONE}/updates", go_on),
    ("GET", _ONE, one),
    ("PATCH", _ONE, change),
)
