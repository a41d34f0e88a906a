"""Paths that are claimed for tasks; these routes are our own."""

from starlette.responses import Response

from letagents.domain.path_claims import Query, claim_number
from letagents.domain.tasks import task_id_of
from letagents.entrypoints.server.answers import answer
from letagents.entrypoints.server.calls import Call
from letagents.wire.http import path_claims as wire


async def claim(call: Call) -> Response:
    """Claim paths for a task that the caller holds."""
    fence, wanted = await call.acting(), wire.wanted(await call.fields())
    granted = await call.boards.paths.claim(call.room_id, wanted, fence)
    shown = wire.plain(granted.claim, call.room_id)
    return answer(
        {"room_id": str(call.room_id), "claim": shown, "is_new": granted.is_new},
        201 if granted.is_new else 200,
    )


async def release(call: Call) -> Response:
    """Let one claim of a task go, or all that the caller has for it."""
    fence, fields = await call.acting(), await call.fields()
    claim_id = fields.text_or_none("claim_id")
    if claim_id is not None:
        claim_number(claim_id)
    task_id, epoch = task_id_of(fields.text("task_id")), fields.integer_or_none("epoch")
    released = await call.boards.paths.release(
        call.room_id, task_id, claim_id=claim_id, epoch=epoch, fence=fence
    )
    shown = [wire.plain(one, call.room_id) for one in released]
    return answer({"room_id": str(call.room_id), "claims": shown})


async def claims(call: Call) -> Response:
    """List the claims that have not ended."""
    viewer = await call.looking()
    query = Query(
        task_id=call.asked("task_id"), path=call.asked("path"), after=call.after, limit=call.limit
    )
    page = await call.boards.paths.claims(call.room_id, query, viewer)
    shown = [wire.plain_view(one, call.room_id) for one in page.claims]
    more = {"has_more": page.more, "last": page.last}
    return answer({"room_id": str(call.room_id), "claims": shown, **more})


_PATHS = "/rooms/{room_id:path}/path-claims"

ROUTES = (
    ("GET", _PATHS, claims),
    ("POST", _PATHS, claim),
    ("DELETE", _PATHS, release),
)
