"""What a room knows, and what its people wish. (Source: hosted-api 3.13.)"""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.responses import Response

from letagents.domain.accounts import Role
from letagents.domain.board import Query
from letagents.domain.fencing import Fence
from letagents.domain.knowledge import Section, checked_id
from letagents.domain.records import Record, UnknownRecord
from letagents.domain.tasks import Status
from letagents.entrypoints.server.answers import answer, told
from letagents.entrypoints.server.calls import Call
from letagents.ports.knowledge import MOST, Knowledge, Records
from letagents.wire import moments
from letagents.wire.http import guidelines as wire_guidelines
from letagents.wire.http import knowledge as wire
from letagents.wire.http.problems import Form, Forms

VERSIONS = 100
"""Of a record so many versions are shown, unless fewer are asked for."""
WAITING = (Status.BLOCKED, Status.IN_REVIEW)
"""Where tasks stand that may wait for a human being."""

_LOOKING: Forms = {UnknownRecord: Form(404, text="Memory not found.")}

Handler = Callable[[Call], Awaitable[Response]]


def _knowledge(call: Call) -> Knowledge:
    return call.memory.knowledge


def _listing(section: Section) -> Handler:
    async def records(call: Call) -> Response:
        viewer = await call.looking()
        page = await _knowledge(call).records(
            call.room_id, section, after=call.place, limit=call.limited(MOST, MOST), viewer=viewer
        )
        return answer(_plain_page(call, page) | await _tasks(call, section, viewer))

    return records


def _plain_page(call: Call, page: Records) -> dict[str, Any]:
    return wire.plain_page(page.records, call.room_id, more=page.more)


async def _tasks(call: Call, section: Section, viewer: Fence | None) -> dict[str, Any]:
    """Return the tasks that may wait for who reads the requests, unless they are not wanted."""
    if section is not Section.ATTENTION or call.asked("tasks") == "false":
        return {}
    if call.hosting.boards is None:
        return {"tasks": []}
    board = call.hosting.boards.board
    pages = [await board.tasks(call.room_id, Query(status=one), viewer) for one in WAITING]
    waiting = [view.task for page in pages for view in page.tasks]
    return {
        "tasks": [
            {
                "id": task.task_id,
                "title": task.title,
                "status": task.status.value,
                "description": task.description,
                "updated_at": moments.to_text(task.updated_at),
            }
            for task in waiting
        ]
    }


def _adding(section: Section) -> Handler:
    async def add(call: Call) -> Response:
        fence, body = await call.acting_marked(), await call.body()
        made = await _knowledge(call).add(
            call.room_id,
            section,
            checked_id(body.get("client_id")),
            wire.entry(section, body),
            fence,
        )
        return _shown(call, made, 201)

    return add


def _shown(call: Call, record: Record, status: int = 200) -> Response:
    shown = wire.plain(record, call.room_id)
    return answer({"room_id": str(call.room_id), "record": shown}, status)


async def history(call: Call) -> Response:
    """Show the versions of a record."""
    viewer = await call.looking()
    with told(_LOOKING):
        page = await _knowledge(call).history(
            call.room_id,
            call.named("record_id"),
            limit=call.limited(VERSIONS, VERSIONS),
            viewer=viewer,
        )
    return answer(_plain_page(call, page))


async def change(call: Call) -> Response:
    """Let a record say something else, or archive it, as a human being."""
    fence, fields = await call.acting_or_person(), await call.fields()
    room_id, record_id = call.room_id, call.named("record_id")
    version = fields.integer("expected_version")
    with told(_LOOKING):
        if fields.document.get("archived") is not None:
            archived = fields.flag("archived")
            after = await _knowledge(call).archive(
                room_id, record_id, version=version, archived=archived, fence=fence
            )
        else:
            now = await _knowledge(call).history(room_id, record_id, limit=1, viewer=fence)
            said = wire.revised(now.records[0], fields.document)
            after = await _knowledge(call).revise(
                room_id, record_id, said, version=version, fence=fence
            )
    return _shown(call, after)


async def respond(call: Call) -> Response:
    """Answer a request, as a human being."""
    fence, text = await call.acting_or_person(), await call.text("body")
    after = await _knowledge(call).answer(call.room_id, call.named("record_id"), text or "", fence)
    return _shown(call, after)


async def guidelines(call: Call) -> Response:
    """Show what people wish from the agents in the room."""
    viewer = await call.looking()
    found = await call.memory.guidelines.in_force(call.room_id, viewer)
    may = viewer is None and await _manages(call)
    return answer(wire_guidelines.plain(found, call.room_id, can_manage=may))


async def _manages(call: Call) -> bool:
    return await call.hosting.accounts.role(call.account, call.room_id) is Role.ADMIN


async def set_guidelines(call: Call) -> Response:
    """Set them, as a human being who is admin of the room."""
    fence, text = await call.acting_or_person(), (await call.fields()).text("guidelines")
    with told(wire_guidelines.SETTING):
        found = await call.memory.guidelines.set(call.room_id, text, fence)
    return answer(wire_guidelines.plain(found, call.room_id, can_manage=True))


async def reply_order(call: Call) -> Response:
    """Show how the room's agents answer that are called together."""
    viewer = await call.looking()
    found = await call.memory.guidelines.in_force(call.room_id, viewer)
    may = viewer is None and await _manages(call)
    return answer(wire_guidelines.plain_order(found, call.room_id, can_manage=may))


async def set_reply_order(call: Call) -> Response:
    """Set it, as a human being who is admin of the room."""
    fence, order = await call.acting_or_person(), wire_guidelines.order(await call.fields())
    found = await call.memory.guidelines.set_reply_order(call.room_id, order, fence)
    return answer(wire_guidelines.plain(found, call.room_id, can_manage=True))


_ROOM = "/rooms/{room_id:path}"
_KEPT = tuple(
    route
    for section in Section
    for route in (
        ("GET", f"{_ROOM}/{section.value}/{{record_id}}/history", history),
        ("PATCH", f"{_ROOM}/{section.value}/{{record_id}}", change),
        ("GET", f"{_ROOM}/{section.value}", _listing(section)),
        ("POST", f"{_ROOM}/{section.value}", _adding(section)),
    )
)

ROUTES = (
    *_KEPT,
    ("POST", f"{_ROOM}/attention/{{record_id}}/respond", respond),
    ("GET", f"{_ROOM}/agent-guidelines", guidelines),
    ("PUT", f"{_ROOM}/agent-guidelines", set_guidelines),
    ("GET", f"{_ROOM}/agent-reply-order", reply_order),
    ("PUT", f"{_ROOM}/agent-reply-order", set_reply_order),
)
