"""A chat that enters rooms itself while its folder's room is still looked for."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import attrs
import pytest
from mcp import Client as McpClient
from structlog.testing import capture_logs
from tests.contract.machine import Here as Person
from tests.contract.machine import WatchedRooms, WatchedState

from letagents.adapters.forges import WebForges
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.adapters.state.memory import MemoryState
from letagents.application.client import Client
from letagents.domain.errors import RoomsUnavailable, StateDamaged
from letagents.domain.git_rooms import Checkout
from letagents.domain.ids import RoomId
from letagents.domain.local_state import LocalState, RoomSession
from letagents.domain.rooms import Room
from letagents.entrypoints.mcp import auto_join
from letagents.entrypoints.mcp import opening as opening_module
from letagents.entrypoints.mcp.auto_join import AutoJoin
from letagents.entrypoints.mcp.opening import opening
from letagents.entrypoints.mcp.server import build_server
from letagents.entrypoints.mcp.tools.catalogue import TOOLS
from letagents.entrypoints.mcp.visit import Visit
from letagents.ports.surroundings import Place, Written
from letagents.settings import Settings
from letagents.testing.determinism import CountingIds, ManualClock
from letagents.wiring.client import open_letagents

REPOSITORY, WORKSHOP = RoomId("github.com/ada/engine"), RoomId("workshop")


@attrs.define
class Gate:
    """Something that is waited for, and through which nobody passes before it is opened."""

    reached: anyio.Event = attrs.field(factory=anyio.Event)
    opened: anyio.Event = attrs.field(factory=anyio.Event)

    async def pass_through(self) -> None:
        self.reached.set()
        await self.opened.wait()


@attrs.define
class OneCheckout:
    """A checkout that is always the same, and may be slow to tell."""

    gate: Gate | None = None
    failing: Exception | None = None
    repository: str | None = str(REPOSITORY)

    async def look(self, cwd: str | None = None) -> Place:
        if self.gate is not None:
            await self.gate.pass_through()
        if self.failing is not None:
            raise self.failing
        return Place(cwd or os.curdir, checkout=Checkout("/work", self.repository, "main"))

    async def choose(self, root: str, _room_id: RoomId) -> Written:
        return Written(root, "it is not asked for")


@attrs.define
class SlowRooms(WatchedRooms):
    """Rooms of which one is slow to be entered."""

    gate: Gate | None = None

    async def join(self, room_id: RoomId, *, create: bool = True) -> Room:
        room = await super().join(room_id, create=create)
        if self.gate is not None and room_id == REPOSITORY:
            await self.gate.pass_through()
        return room


@attrs.define
class SlowState(WatchedState):
    """A state that is slow to be read the first time."""

    gate: Gate | None = None

    async def read(self) -> LocalState:
        state = await super().read()
        if self.gate is not None and self.reads == 1:
            await self.gate.pass_through()
        return state


@attrs.define
class Parts:
    """What a chat stands on."""

    checkouts: OneCheckout = attrs.field(factory=OneCheckout)
    rooms: SlowRooms = attrs.field(
        factory=lambda: SlowRooms(MemoryRooms(CountingIds(), ManualClock()))
    )
    state: SlowState = attrs.field(factory=lambda: SlowState(MemoryState()))


@pytest.fixture
async def _bounded() -> AsyncIterator[None]:
    with anyio.fail_after(20):
        yield


@pytest.fixture
def parts(_bounded: None) -> Parts:
    return Parts()


@pytest.fixture
async def client(parts: Parts, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Client]:
    settings = Settings(home=tmp_path_factory.mktemp("home"))
    async with (
        open_letagents(
            settings,
            state=parts.state,
            rooms=parts.rooms,
            checkouts=parts.checkouts,
            surroundings=Person(),
            forges=WebForges(),
        ) as letagents,
        letagents.client() as client,
    ):
        yield client


@pytest.mark.parametrize("slow", ["checkouts", "state", "rooms"])
async def test_a_room_that_was_entered_meanwhile_stays_the_current_one(
    parts: Parts, client: Client, slow: str
) -> None:
    gate = getattr(parts, slow).gate = Gate()

    async with anyio.create_task_group() as joining:
        joining.start_soon(client.repository.auto_join)
        await gate.reached.wait()
        await client.places.join(WORKSHOP)
        gate.opened.set()

    assert client.places.current_id == WORKSHOP
    state = await parts.state.read()
    assert state.current_room is not None
    assert state.current_room.room_id == str(WORKSHOP)
    made = {room.room_id for room in await parts.rooms.known()}
    assert (REPOSITORY in made) is (slow == "rooms")


@pytest.mark.parametrize(
    "error",
    [
        RoomsUnavailable("The rooms are closed.", remedy="Wait."),
        StateDamaged("The state is damaged.", remedy="Mend it."),
    ],
)
async def test_what_cannot_be_used_leaves_a_chat_in_no_room_and_is_told(
    parts: Parts, client: Client, error: RoomsUnavailable | StateDamaged
) -> None:
    parts.checkouts.failing = error

    with capture_logs() as lines:
        assert await client.repository.auto_join() is None

    assert client.places.current is None
    assert [(line["event"], line["code"]) for line in lines] == [("room.not_joined", error.code)]


async def test_a_saved_room_that_no_room_can_be_is_told_and_not_entered(
    parts: Parts, client: Client
) -> None:
    saved = RoomSession(room_id="a\nb")
    await parts.state.transact(lambda state: (attrs.evolve(state, current_room=saved), None))
    parts.checkouts.repository = None

    with capture_logs() as lines:
        assert await client.repository.auto_join() is None

    assert [line["code"] for line in lines] == ["malformed"]


# --- in front of a model's client ---------------------------------------------------------------


@asynccontextmanager
async def joining(client: Client) -> AsyncIterator[Visit]:
    """Open a session that enters the room of its folder."""
    async with anyio.create_task_group() as tasks:
        visit = Visit(client, auto_join=AutoJoin(client.repository))
        assert visit.auto_join is not None
        tasks.start_soon(visit.auto_join.run)
        yield visit


async def test_the_list_of_tools_waits_for_nothing_and_a_call_not_for_ever(
    parts: Parts, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auto_join, "PATIENCE", 0.05)
    parts.checkouts.gate = gate = Gate()

    async with opening(lambda: joining(client)) as opened:
        server = build_server(TOOLS, opened, version="1", before=Visit.before_a_call)
        async with McpClient(server) as model:
            await anyio.wait_all_tasks_blocked()
            assert not gate.reached.is_set()
            await model.list_tools()
            await gate.reached.wait()
            first = await model.call_tool("get_current_room", {})
            gate.opened.set()
            while client.places.current is None:
                await anyio.lowlevel.checkpoint()
            second = await model.call_tool("get_current_room", {})

    assert (first.structured_content or {})["connected"] is False
    assert (second.structured_content or {})["room_id"] == str(REPOSITORY)


async def test_a_fault_of_ours_costs_the_room_and_nothing_else(
    parts: Parts, client: Client
) -> None:
    parts.checkouts.failing = RuntimeError("s3cret")
    joins = AutoJoin(client.repository)

    with capture_logs() as lines:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(joins.run)
            await joins.over()

    assert [(line["event"], line["reason"]) for line in lines] == [
        ("room.not_joined", "RuntimeError")
    ]


async def test_it_begins_by_itself_where_a_client_asks_for_nothing(
    parts: Parts, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening_module, "BEGIN", 0.01)

    parts.checkouts.gate = gate = Gate()
    async with opening(lambda: joining(client)):
        await gate.reached.wait()
        gate.opened.set()

    assert client.places.current_id == REPOSITORY
