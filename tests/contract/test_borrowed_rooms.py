"""A process that does its own calls, where its supervisor leaves them to it: with what it is lent.

The supervisor is ours without tools, at a real socket; the server is ours, in this process.
"""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import httpx
import pytest
from tests.contract.served import TOKEN, client, hosting
from tests.contract.supervised import SERVER, SocketWorld, socket_world

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.rooms import HostedRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.adapters.supervisor.socket import SocketSupervisor
from letagents.application.borrowed import BorrowedRooms
from letagents.domain.bindings import Claim
from letagents.domain.effects import State
from letagents.domain.ids import RoomId
from letagents.domain.messages import Latest
from letagents.domain.modes import Mode
from letagents.domain.sessions import Connection
from letagents.domain.surfaces import Caller, Profile
from letagents.entrypoints.mcp import supervised
from letagents.entrypoints.mcp.supervised import Supervised
from letagents.entrypoints.mcp.surface import tools_of
from letagents.settings import Settings
from letagents.testing.contracts.room_callers import ADA, arrival
from letagents.testing.contracts.supervisor import MESSAGE, ROOM
from letagents.testing.determinism import CountingIds, ManualClock
from letagents.wiring.borrowed import open_borrowed_rooms

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="there are no such sockets"),
]
CALLER = Caller(Profile.SUPERVISED_ROOM_TURN, bounded=True, provider="codex", api_url=SERVER)


@attrs.define(eq=False)
class Watched(httpx.AsyncBaseTransport):
    """Remembers what is shown to the server, and is away when it is told to."""

    http: httpx.AsyncClient
    shown: list[str] = attrs.field(factory=list)
    rooms: list[str | None] = attrs.field(factory=list)
    is_away: bool = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.shown.append(request.headers.get("authorization", ""))
        self.rooms.append(request.headers.get("x-letagents-origin-room-id"))
        if self.is_away:
            raise httpx.ConnectError("away")
        path = request.url.raw_path.decode().removeprefix("/api")
        return await self.http.request(
            request.method, path, headers=request.headers, content=await request.aread()
        )


@attrs.define(eq=False)
class World:
    """An agent in a turn, and the process that acts for it."""

    supervised: SocketWorld
    kept: MemoryRooms
    worker: Connection
    process: Supervised
    server: Watched
    environ: dict[str, str]

    async def call(self, tool: str, number: object = 1, **arguments: object) -> dict[str, Any]:
        listed = {one.name: one for one in tools_of(CALLER, Mode.SUPERVISED)}
        return await supervised.called(listed[tool], self.process, arguments, number)

    async def said(self) -> list[str]:
        return [one.text for one in (await self.kept.read(RoomId(ROOM), Latest())).messages]

    def states(self) -> list[State]:
        return [one.state for one in self.supervised.place.journal._effects.values()]

    async def bind(self) -> None:
        assert self.supervised.server is not None
        sessions = self.supervised.server.methods.sessions
        claim = Claim("e1", ROOM, "w1", "x1", str(self.worker.session.session_id), SERVER)
        await sessions.bind(claim, self.worker.fence.token, self.worker)


@asynccontextmanager
async def borrowing(home: Path, caller: Caller = CALLER) -> AsyncIterator[World]:
    """Open a server, a supervisor at a socket in `home`, and a process of its agent."""
    clock = ManualClock()
    kept = MemoryRooms(CountingIds(), clock)
    http = client(attrs.evolve(hosting(kept, clock), takes_bearers=True))
    rooms = HostedRooms(Calls(http, lambda: TOKEN))
    await rooms.join(RoomId(ROOM))
    worker = await rooms.connect(RoomId(ROOM), arrival(ADA, 1))
    settings = Settings(home=home, api_url=SERVER, caller=caller)
    polls = caller.profile is Profile.SUPERVISED_MCP_POLLING
    async with socket_world(home, admits_polls=polls) as there:
        environ = {
            **there.environ,
            "LETAGENTS_SUPERVISOR_ROOM_ID": ROOM,
            "LETAGENTS_SUPERVISOR_AGENT_SESSION_ID": str(worker.session.session_id),
        }
        supervisor: SocketSupervisor = there.supervisor(**environ)
        server = Watched(http)

        def opening() -> AbstractAsyncContextManager[BorrowedRooms]:
            return open_borrowed_rooms(settings, supervisor, environ, home, transport=server)

        world = World(there, kept, worker, Supervised(supervisor, caller, opening), server, environ)
        await world.bind()
        yield world
        await world.process.aclose()


@pytest.fixture
async def world(anyio_backend: str, tmp_path: Path) -> AsyncIterator[World]:
    async with borrowing(tmp_path / "h") as world:
        yield world


@pytest.mark.rule("J62", "J63", "J64")
async def test_what_a_supervisor_leaves_to_it_is_done_once_with_what_is_lent(world: World) -> None:
    first = await world.call("send_message", text="Done.")
    again = await world.call("send_message", text="Done.")

    assert first["isError"] is False
    assert again == first
    assert await world.said() == ["Done."]
    assert world.states() == [State.COMPLETED]
    assert world.worker.bearer is not None
    assert set(world.server.shown) == {f"Bearer {world.worker.bearer.value}"}
    said = (await world.kept.read(RoomId(ROOM), Latest())).messages[0]
    assert said.sender.startswith("Worker1 | ")


async def test_it_reads_and_works_in_its_room(world: World) -> None:
    added = await world.call("add_task", 1, title="Mend it")
    claimed = await world.call("get_board", 2)
    room = await world.call("get_current_room", 3)
    await world.call("post_status", 4, status="working")

    assert added["isError"] is False
    assert set(world.server.rooms) == {ROOM}
    assert [one["title"] for one in claimed["structuredContent"]["tasks"]] == ["Mend it"]
    assert room["structuredContent"]["room_id"] == ROOM


async def test_of_a_large_reading_all_is_returned_and_a_note_is_kept(world: World) -> None:
    for number in range(3):
        await world.call("send_message", number, text=str(number) * 8000)
    read = await world.call("read_messages", 7)
    again = await world.call("read_messages", 7)

    assert len(read["structuredContent"]["messages"]) == 3
    assert again["structuredContent"]["code"] == "SUPERVISED_READ_RESULT_NOT_RETAINED"


async def test_the_turns_own_answer_and_a_move_are_left_to_the_turn(world: World) -> None:
    reply = await world.call("send_message", 1, text="x", reply_to=MESSAGE)
    move = await world.call("join_room", 2, name="elsewhere")

    assert reply["structuredContent"]["code"] == "USE_FINAL_ANSWER"
    assert move["structuredContent"]["code"] == "ROOM_MOVE_PREPARED"
    assert world.server.shown == []


async def test_what_fails_is_told_and_is_not_done_again(world: World) -> None:
    world.server.is_away = True
    failed = await world.call("send_message", 1, text="x")
    world.server.is_away = False
    again = await world.call("send_message", 1, text="x")
    elsewhere = await world.call("read_messages", 2, room_id="elsewhere")

    assert failed["isError"] is True
    assert "room server cannot be used" in json.dumps(again)
    assert "registered for" in json.dumps(elsewhere)
    assert world.states() == [State.FAILED] * 2
    assert await world.said() == []


async def test_who_is_lent_nothing_asks_no_server(world: World) -> None:
    await world.supervised.take_over()
    deferred = await world.call("send_message", 1, text="x")

    assert "[SUPERVISED_CREDENTIAL_UNAVAILABLE]" in json.dumps(deferred)
    assert world.server.shown == []
