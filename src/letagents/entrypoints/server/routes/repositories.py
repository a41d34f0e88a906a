"""What a server knows of the repositories of rooms. (Source: hosted-api 3.8, 3.13.)

No forge tells this server anything: it keeps what a room wants to hear, and shows what agents said.
"""

from typing import Any

from starlette.responses import Response

from letagents.domain.accounts import Role
from letagents.domain.board import TaskView
from letagents.domain.tasks import Provider
from letagents.entrypoints.server.answers import answer
from letagents.entrypoints.server.calls import Call
from letagents.wire import moments
from letagents.wire.http import board as wire_board
from letagents.wire.http import board_asks as asks
from letagents.wire.http import event_filters as wire

NOTE = "No forge tells this server anything: this is what was said of the tasks here."


async def event_filter(call: Call) -> Response:
    """Say of which events of its repository the room wants to hear."""
    viewer = await call.looking()
    kept = await call.administration.event_filter(call.room_id, viewer)
    may = viewer is None
    may = may and await call.hosting.accounts.role(call.account, call.room_id) is Role.ADMIN
    return answer(wire.plain(kept, call.room_id, can_manage=may))


async def filter_events(call: Call) -> Response:
    """Choose of which events the room is to hear, as a human being who is its admin."""
    fence, kinds = await call.acting_or_person(), wire.chosen(await call.fields())
    kept = await call.administration.filter_events(call.room_id, kinds, fence)
    return answer(wire.plain(kept, call.room_id, can_manage=True))


async def status(call: Call) -> Response:
    """Show which pull requests and checks were said to belong to the open tasks."""
    viewer = await call.looking()
    asked = {"open": "true", "after": call.asked("after"), "status": None}
    page = await call.boards.board.tasks(call.room_id, asks.query(asked, call.limit), viewer)
    return answer(
        {
            "room_id": str(call.room_id),
            "is_connected": False,
            "note": NOTE,
            "tasks": [_of_task(one) for one in page.tasks],
            "has_more": page.more,
        }
    )


def _of_task(view: TaskView) -> dict[str, Any]:
    task = view.task
    artifacts = [one for one in task.artifacts if one.provider is Provider.GITHUB]
    return {
        "task_id": task.task_id,
        "status": task.status.value,
        "pr_url": task.pr_url,
        "workflow_artifacts": [wire_board.plain_artifact(one) for one in artifacts],
        "updated_at": moments.to_text(task.updated_at),
    }


ROUTES = (
    ("GET", "/rooms/{room_id:path}/github-event-filter", event_filter),
    ("PUT", "/rooms/{room_id:path}/github-event-filter", filter_events),
    ("GET", "/rooms/{room_id:path}/tasks/github-status", status),
)
