"""Servers and clients that know rooms as projects, in front of and behind our own.

The older server is ours with the newer routes hidden: it answers for them as one that lacks them.
(Source: mcp-tools 4.2, 4.3, 6.1; hosted-api 1.2, 3.2.)
"""

import re
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import attrs
import httpx
import pytest
from tests.contract.served import ADA, TOKEN, client, hosting

from letagents.adapters.accounts.memory import MemoryAccounts
from letagents.adapters.rooms.hosted.board import HostedBoard
from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.rooms import HostedRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain.board import Query
from letagents.domain.errors import LetAgentsError, UnknownRoom
from letagents.domain.fencing import UNNUMBERED, Fence
from letagents.domain.ids import ClientKey, RoomId, SessionId, Token
from letagents.domain.messages import After, Draft, Latest
from letagents.domain.sessions import Arrival
from letagents.domain.tasks import Patch, Proposal, Status, UnknownTask
from letagents.entrypoints.server.app import application
from letagents.testing.determinism import CountingIds, ManualClock

pytestmark = pytest.mark.anyio

ROOM = RoomId("harbour/north pier")
NEWER = re.compile(r"/rooms|/rooms/.+/(?:join|messages(?:/poll|/stream)?|tasks(?:/[^/]+)?)")
LACKING = [
    httpx.Response(404, html="<pre>Cannot {method} {path}</pre>"),
    httpx.Response(405, json={"error": "Not Found"}),
]
"""How servers say that they have no such route."""


@attrs.define
class Older(httpx.AsyncBaseTransport):
    """Our own server, without the routes that are newer."""

    own: httpx.AsyncBaseTransport
    lacking: httpx.Response
    asked: list[str] = attrs.field(factory=list)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        path = request.url.raw_path.decode().partition("?")[0]
        self.asked.append(f"{request.method} {path}")
        if not NEWER.fullmatch(path):
            return await self.own.handle_async_request(request)
        said = self.lacking.content.replace(b"{method}", request.method.encode())
        return httpx.Response(self.lacking.status_code, content=said)


@attrs.frozen
class There:
    """An older server, and a client of it."""

    server: Older
    rooms: HostedRooms
    board: HostedBoard
    kept: MemoryRooms

    async def worker(self) -> Fence:
        """Enter the room, and register somebody there."""
        await self.rooms.join(ROOM)
        arrival = Arrival(
            token=Token("s" * 43),
            agent_key="ada/juniper",
            instance_id="a process",
            display_name="Juniper",
            owner_label="Ada",
            ide_label="Agent",
            runtime="unknown",
        )
        connection = await self.rooms.connect(ROOM, arrival)
        self.server.asked.clear()
        return connection.fence


@pytest.fixture(params=LACKING, ids=["in words", "as an object"])
async def there(request: pytest.FixtureRequest) -> AsyncIterator[There]:
    clock = ManualClock()
    kept = MemoryRooms(CountingIds(), clock)
    served = hosting(kept, clock)
    server = Older(httpx.ASGITransport(application(served)), request.param)
    async with httpx.AsyncClient(transport=server, base_url="http://rooms.test") as http:
        calls = Calls(http, lambda: TOKEN)
        yield There(server, HostedRooms(calls), HostedBoard(calls), kept)


async def test_a_named_room_is_entered_as_a_project_and_made_by_that(there: There) -> None:
    entered = await there.rooms.join(ROOM)
    again = await there.rooms.join(ROOM, create=False)

    assert (entered.room_id, entered.code, entered.display_name) == (ROOM, None, str(ROOM))
    assert again == entered
    assert there.server.asked[1] == "POST /projects/room/harbour%2Fnorth%20pier"
    assert [one.room_id for one in await there.kept.known()] == [ROOM]


async def test_rooms_are_listed_as_projects(there: There) -> None:
    await there.rooms.join(ROOM)
    await there.rooms.create()

    assert [one.room_id for one in await there.rooms.known()] == [ROOM]


async def test_a_room_that_was_not_to_be_made_is_not_asked_for_as_a_project(there: There) -> None:
    with pytest.raises(UnknownRoom):
        await there.rooms.join(ROOM, create=False)

    assert there.server.asked == ["POST /rooms/harbour/north%20pier/join"]
    assert await there.kept.known() == ()


async def test_an_invite_code_opens_its_project(there: There) -> None:
    code = (await there.kept.create()).room_id

    entered = await there.rooms.join(code, create=False)
    with pytest.raises(UnknownRoom):
        await there.rooms.join(RoomId("AAAA-BBBB-CCCC"), create=False)

    assert (entered.room_id, entered.code) == (code, str(code))
    assert there.server.asked[1] == f"GET /projects/join/{code}"


async def test_messages_are_said_read_and_waited_for_as_a_projects(there: There) -> None:
    fence = await there.worker()

    said = await there.rooms.post(ROOM, Draft("ahoy", ClientKey("a key")), fence)
    read = await there.rooms.read(ROOM, Latest(10), fence)
    waited = await there.rooms.wait(ROOM, After(None), timeout=timedelta(0), viewer=fence)

    assert [one.id for one in read.messages] == [said.id]
    assert waited.messages == read.messages
    project = "/projects/harbour%2Fnorth%20pier"
    assert there.server.asked[1::2] == [
        f"POST {project}/messages",
        f"GET {project}/messages",
        f"GET {project}/messages/poll",
    ]


async def test_tasks_are_proposed_found_and_changed_as_a_projects(there: There) -> None:
    fence = await there.worker()

    view = (await there.board.propose(ROOM, Proposal(title="mend the roof"), fence)).view
    page = await there.board.tasks(ROOM, Query())
    found = await there.board.task(ROOM, "task_1")
    changed = await there.board.change(ROOM, "task_1", Patch(status=Status.CANCELLED))
    with pytest.raises(UnknownTask):
        await there.board.task(ROOM, "task_2")

    assert [one.task.title for one in page.tasks] == ["mend the roof"]
    assert found.task.task_id == view.task.task_id
    assert changed.task.status is Status.CANCELLED


async def test_a_room_whose_project_is_not_known_is_asked_for_once(there: There) -> None:
    with pytest.raises(LetAgentsError):
        await there.rooms.read(ROOM, Latest(10))

    assert len(there.server.asked) == 1


async def test_a_room_that_is_said_to_be_missing_is_looked_for_nowhere_else() -> None:
    asked: list[str] = []

    def says(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        if request.url.path.startswith("/projects"):
            return httpx.Response(200, json={"id": "p1", "name": str(ROOM), "display_name": "H"})
        if request.url.path.endswith("/join") and not asked[1:]:
            return httpx.Response(404, text="Cannot POST /rooms")
        return httpx.Response(404, json={"error": "Room not found", "code": "ROOM_NOT_FOUND"})

    async with httpx.AsyncClient(
        transport=httpx.MockTransport(says), base_url="http://rooms.test"
    ) as http:
        rooms = HostedRooms(Calls(http, lambda: TOKEN))
        entered = await rooms.join(ROOM)
        with pytest.raises(UnknownRoom):
            await rooms.read(ROOM, Latest(10))

    assert entered.room_id == ROOM
    assert asked[2:] == [f"/rooms/{ROOM}/messages"]


PROJECT = {"id": "p7", "code": None, "name": str(ROOM), "display_name": "Harbour"}
SAID = {"id": "msg_3", "sender": "Willow", "text": "ahoy", "timestamp": "2026-01-01T00:00:00.000Z"}
TASK = {
    "id": "task_2",
    "title": "mend the roof",
    "status": "accepted",
    "created_by": "Willow",
    "created_at": "2026-01-01T00:00:00.000Z",
    "updated_at": "2026-01-01T00:00:00.000Z",
}
OF_PROJECTS: dict[str, tuple[int, object]] = {
    "POST /projects/room/harbour/north pier": (200, PROJECT),
    "GET /projects": (200, {"projects": [{"id": "harbour", "display_name": "Harbour"}]}),
    "GET /projects/p7/messages": (200, {"project_id": "p7", "messages": [SAID], "has_more": False}),
    "GET /projects/p7/messages/poll": (200, {"project_id": "p7", "messages": [SAID]}),
    "POST /projects/p7/messages": (201, {"project_id": "p7", **SAID}),
    "GET /projects/p7/tasks": (200, {"project_id": "p7", "tasks": [TASK], "has_more": False}),
    "GET /projects/p7/tasks/task_2": (200, {"project_id": "p7", **TASK}),
    "PATCH /projects/p7/tasks/task_2": (200, {"project_id": "p7", **TASK, "status": "cancelled"}),
    "POST /projects/p7/tasks": (201, {"project_id": "p7", **TASK}),
}
"""All that such a server has, in its own words: no more fields than it is known to answer with."""


async def test_a_server_that_is_none_of_ours_is_understood_too() -> None:
    asked: list[str] = []

    def says(request: httpx.Request) -> httpx.Response:
        asked.append(f"{request.method} {request.url.path}")
        lacking = f"<pre>Cannot {request.method} {request.url.path}</pre>"
        status, told = OF_PROJECTS.get(asked[-1], (404, None))
        return httpx.Response(status, json=told) if told else httpx.Response(status, html=lacking)

    fence = Fence(SessionId("agent_session_7"), UNNUMBERED, Token("s" * 43))
    transport = httpx.MockTransport(says)
    async with httpx.AsyncClient(transport=transport, base_url="http://rooms.test") as http:
        calls = Calls(http, lambda: TOKEN)
        rooms, board = HostedRooms(calls), HostedBoard(calls)
        entered = await rooms.join(ROOM)
        listed = await rooms.known()
        said = await rooms.post(ROOM, Draft("ahoy", ClientKey("a key")), fence)
        read = await rooms.read(ROOM, Latest(10), fence)
        heard = await rooms.wait(ROOM, After(None), timeout=timedelta(0), viewer=fence)
        proposed = await board.propose(ROOM, Proposal(title="mend the roof"), fence)
        tasks = await board.tasks(ROOM, Query())
        found = await board.task(ROOM, "task_2")
        changed = await board.change(ROOM, "task_2", Patch(status=Status.CANCELLED), fence)

    assert (entered.room_id, entered.display_name) == (ROOM, "Harbour")
    assert [one.display_name for one in listed] == ["Harbour"]
    assert said.id.number == 3
    assert read.messages == heard.messages == (said,)
    assert proposed.view.task == found.task == tasks.tasks[0].task
    assert changed.task.status is Status.CANCELLED
    assert set(OF_PROJECTS) <= set(asked)


# --- older clients of our own server


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    clock = ManualClock()
    served = hosting(MemoryRooms(CountingIds(), clock), clock)
    served = attrs.evolve(served, accounts=MemoryAccounts.of(clock, {TOKEN: ADA}))
    async with client(served) as opened:
        opened.headers["Authorization"] = f"Bearer {TOKEN}"
        yield opened


async def _json(http: httpx.AsyncClient, method: str, path: str, **body: object) -> Any:
    answer = await http.request(method, path, json=body or None)
    assert answer.is_success, answer.text
    return answer.json()


async def test_a_project_is_made_once_by_its_name(http: httpx.AsyncClient) -> None:
    made = await http.post("/projects/room/harbour")
    again = await http.post("/projects/room/harbour")

    assert (made.status_code, again.status_code) == (201, 200)
    assert made.json() == again.json()
    assert made.json() == {
        "id": "harbour",
        "code": None,
        "name": "harbour",
        "display_name": "harbour",
    }


async def test_a_project_is_found_by_its_code_and_listed_only_by_a_name(
    http: httpx.AsyncClient,
) -> None:
    code = (await _json(http, "POST", "/projects"))["code"]
    await http.post("/projects/room/harbour")

    found = await _json(http, "GET", f"/projects/join/{code.lower()}")
    missing = [await http.get(f"/projects/join/{one}") for one in ("AAAA-BBBB-CCCC", "harbour")]
    listed = await _json(http, "GET", "/projects")

    assert (found["id"], found["code"], found["name"]) == (code, code, None)
    assert [one.status_code for one in missing] == [404, 404]
    assert missing[0].json()["error"] == "Project not found for the given code"
    assert listed == {"projects": [{"id": "harbour", "display_name": "harbour"}]}


async def test_a_project_says_who_the_caller_is_in_it(http: httpx.AsyncClient) -> None:
    code = (await _json(http, "POST", "/projects"))["code"]

    access = await _json(http, "GET", f"/projects/{code}/access")

    assert (access["project_id"], access["room_type"], access["role"]) == (code, "invite", "admin")
    assert access["account"] == {"id": "account_1", "login": "ada", "display_name": "Ada"}


async def test_what_is_asked_of_a_project_is_answered_with_its_id(http: httpx.AsyncClient) -> None:
    await http.post("/projects/room/harbour")

    page = await _json(http, "GET", "/projects/harbour/messages")
    tasks = await _json(http, "GET", "/projects/harbour/tasks")
    task = await _json(
        http, "POST", "/projects/harbour/tasks", title="mend it", desktop_human_client=True
    )
    one = await _json(http, "GET", "/projects/harbour/tasks/task_1")

    assert {shown["project_id"] for shown in (page, tasks, task, one)} == {"harbour"}
    assert one["title"] == "mend it"


# --- pages


OWN = ["http://rooms.test", "http://localhost:3001", "http://127.0.0.1:3001"]
FOREIGN = ["https://rooms.test", "http://localhost:3002", "https://evil.test", "null"]


@pytest.fixture
async def by_pages() -> AsyncIterator[httpx.AsyncClient]:
    clock = ManualClock()
    served = hosting(MemoryRooms(CountingIds(), clock), clock)
    served = attrs.evolve(
        served, base_url="http://rooms.test", addresses=("http://127.0.0.1:3001",)
    )
    transport = httpx.ASGITransport(application(served))
    async with httpx.AsyncClient(transport=transport, base_url="http://rooms.test") as opened:
        yield opened


@pytest.mark.parametrize("origin", OWN)
async def test_a_page_of_the_server_may_read_what_it_answers(
    by_pages: httpx.AsyncClient, origin: str
) -> None:
    asked = await by_pages.options("/rooms/harbour/messages", headers={"Origin": origin})
    answered = await by_pages.get("/auth/session", headers={"Origin": origin})

    assert asked.status_code == 204
    assert "PATCH" in asked.headers["access-control-allow-methods"]
    assert "X-LetAgents-Agent-Session-Token" in asked.headers["access-control-allow-headers"]
    for one in (asked, answered):
        assert one.headers["access-control-allow-origin"] == origin
        assert "access-control-allow-credentials" not in one.headers


@pytest.mark.parametrize("origin", FOREIGN)
async def test_a_page_of_somebody_else_may_not(by_pages: httpx.AsyncClient, origin: str) -> None:
    asked = await by_pages.options("/rooms/harbour/messages", headers={"Origin": origin})
    answered = await by_pages.get("/auth/session", headers={"Origin": origin})

    assert asked.status_code == 204
    for one in (asked, answered):
        assert "access-control-allow-origin" not in one.headers
        assert one.headers["vary"] == "Origin"
