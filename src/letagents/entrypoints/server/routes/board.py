"""Tasks, and who holds them. (Source: hosted-api 3.8; the history and the locks are our own.)"""

from collections.abc import Mapping

from starlette.responses import Response

from letagents.domain.board import Handoff, Release, ReviewAssign
from letagents.domain.leases import LeaseFenceStale, LeaseHeld, LeaseMissing
from letagents.domain.tasks import AdminRequired, reason_of, task_id_of
from letagents.entrypoints.server.answers import answer, told
from letagents.entrypoints.server.calls import Call
from letagents.ports.board import Board
from letagents.wire.http import board as wire
from letagents.wire.http import board_asks as asks
from letagents.wire.http import leases as wire_leases
from letagents.wire.http.problems import Form, Forms

_ASSIGNING: Forms = {AdminRequired: Form(403, "coordination_review_assignment_admin_required")}
_RELEASING: Forms = {
    LeaseMissing: Form(404, text="Active review lease not found"),
    AdminRequired: Form(403, "coordination_review_lease_forbidden"),
    LeaseHeld: Form(403, "coordination_review_lease_forbidden"),
    LeaseFenceStale: Form(409, "coordination_review_lease_stale"),
}
_REVIEWS: Mapping[type, Forms] = {ReviewAssign: _ASSIGNING, Release: _RELEASING}


def _board(call: Call) -> Board:
    return call.boards.board


async def tasks(call: Call) -> Response:
    """Read a page of the board."""
    viewer = await call.looking()
    query = asks.query({name: call.asked(name) for name in ("status", "open", "after")}, call.limit)
    page = await _board(call).tasks(call.room_id, query, viewer)
    return answer(wire.plain_page(page, call.room_id))


async def propose(call: Call) -> Response:
    """Put a task on the board."""
    fence, fields = await call.acting_marked(), await call.fields()
    made = await _board(call).propose(
        call.room_id, asks.proposal(fields), fence, approval=asks.approval(fields)
    )
    task = wire.plain(made.view, call.room_id)
    return answer(task, 201) if made.is_new else answer(task | {"idempotent": True})


async def task(call: Call) -> Response:
    """Read one task."""
    viewer = await call.looking()
    view = await _board(call).task(call.room_id, call.named("task_id"), viewer)
    return answer(wire.plain(view, call.room_id))


async def change(call: Call) -> Response:
    """Change a task; to set it to assigned is to claim it."""
    fence, fields = await call.acting_marked(), await call.fields()
    view = await _board(call).change(
        call.room_id,
        call.named("task_id"),
        asks.patch(fields),
        fence,
        approval=asks.approval(fields),
        epoch=fields.integer_or_none("epoch"),
        under=asks.under(fields),
        where=asks.where(fields),
    )
    return answer(wire.plain(view, call.room_id))


async def lease_action(call: Call) -> Response:
    """Let a work lease go, or hand it over."""
    fence, fields = await call.acting_marked(), await call.fields()
    action = asks.lease_action(fields)
    moved = await _board(call).lease_action(
        call.room_id, call.named("task_id"), action, fence, approval=asks.approval(fields)
    )
    said = {"action": "handoff" if isinstance(action, Handoff) else "release"}
    return answer(said | wire.plain_moved(moved, call.room_id, new="new_lease"))


async def review_action(call: Call) -> Response:
    """Take the review of a task, give it to another, or let it go."""
    fence, fields = await call.acting_marked(), await call.fields()
    action = asks.review_action(fields)
    with told(_REVIEWS.get(type(action), {})):
        moved = await _board(call).review_action(call.room_id, call.named("task_id"), action, fence)
    said = {"action": fields.text("action")}
    return answer(said | wire.plain_moved(moved, call.room_id, new="lease"))


async def verdict(call: Call) -> Response:
    """Note what the reviewer of a task says of it."""
    fence, fields = await call.acting_marked(), await call.fields()
    said, epoch = asks.verdict(fields), fields.integer_or_none("epoch")
    record = await _board(call).verdict(
        call.room_id, call.named("task_id"), said, fence, epoch=epoch
    )
    return answer(wire.plain_record(record, call.room_id))


async def history(call: Call) -> Response:
    """Read what happened to a task."""
    viewer = await call.looking()
    found = await _board(call).history(
        call.room_id, call.named("task_id"), viewer, after=call.after, limit=call.limit
    )
    return answer(wire.plain_history(found, call.room_id))


async def mute(call: Call) -> Response:
    """Let nobody be told that a task waits, until it changes; or let them be told again."""
    fence, fields = await call.acting_marked(), await call.fields()
    is_muted = fields.flag("muted") if "muted" in fields.document else True
    view = await _board(call).mute(call.room_id, call.named("task_id"), fence, is_muted=is_muted)
    return answer(wire.plain(view, call.room_id))


async def lock(call: Call) -> Response:
    """Stop the work on a task, or on the whole board."""
    fence, fields = await call.acting_marked(), await call.fields()
    task_id = fields.text_or_none("task_id")
    made = await _board(call).lock(
        call.room_id,
        None if task_id is None else task_id_of(task_id),
        reason=asks.lock_reason(fields),
        message=reason_of(fields.text_or_none("message")),
        fence=fence,
    )
    shown = wire_leases.plain_lock(made, call.room_id)
    return answer({"room_id": str(call.room_id), "lock": shown}, 201)


async def unlock(call: Call) -> Response:
    """Let the work go on."""
    fence = await call.acting_marked()
    cleared = await _board(call).unlock(call.room_id, call.named("lock_id"), fence)
    shown = wire_leases.plain_lock(cleared, call.room_id)
    return answer({"room_id": str(call.room_id), "lock": shown})


_TASK = "/rooms/{room_id:path}/tasks/{task_id}"

ROUTES = (
    ("GET", "/rooms/{room_id:path}/tasks", tasks),
    ("POST", "/rooms/{room_id:path}/tasks", propose),
    ("GET", f"{_TASK}/history", history),
    ("POST", f"{_TASK}/lease-action", lease_action),
    ("POST", f"{_TASK}/review-lease-action", review_action),
    ("POST", f"{_TASK}/review-verdict", verdict),
    ("POST", f"{_TASK}/stale-prompt-mute", mute),
    ("GET", _TASK, task),
    ("PATCH", _TASK, change),
    ("POST", "/rooms/{room_id:path}/locks", lock),
    ("DELETE", "/rooms/{room_id:path}/locks/{lock_id}", unlock),
)
