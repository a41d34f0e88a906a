"""A chat that waits by itself under a supervisor is bound as it registers, and its cursor noted."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.contract.supervised import SERVER, SocketWorld, socket_world

from letagents.adapters.state.memory import MemoryState
from letagents.adapters.supervisor.socket import SocketSupervisor
from letagents.domain.modes import Mode
from letagents.domain.surfaces import Caller
from letagents.entrypoints.mcp import calls
from letagents.entrypoints.mcp.bridge import CONTEXT, Bridge
from letagents.entrypoints.mcp.supervised import silent
from letagents.entrypoints.mcp.surface import tools_of
from letagents.entrypoints.mcp.visit import Visit
from letagents.settings import Settings
from letagents.testing.contracts.supervisor import ROOM
from letagents.wiring.client import open_letagents

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="there are no such sockets"),
]
LISTED = {one.name: one for one in tools_of(Caller(), Mode.OWNER)}
KEY = "the key of this chat"


@attrs.define(eq=False)
class Chat:
    """A chat in the rooms of this machine, and the supervisor of its agent."""

    visit: Visit
    world: SocketWorld
    folder: Path
    state: MemoryState

    async def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        return await calls.called(LISTED[tool], self.visit, arguments, silent)

    async def register(self, **more: object) -> dict[str, Any]:
        await self.call("join_room", name=ROOM)
        told = {"registration_key": KEY, "room_id": ROOM, "runtime": "codex", **more}
        return await self.call("register_agent_session", **told)

    def write(self, room_id: str = ROOM) -> None:
        context = {"version": 1, "provider": "codex", "entry_id": "e1", "room_id": room_id}
        context |= {"work_attempt_id": "w1", "execution_generation_id": "x1"}
        (self.folder / CONTEXT).write_text(json.dumps(context))
        marker = {"version": 1, "work_attempt_id": "w1"}
        (self.folder / ".letagents-work-attempt.json").write_text(json.dumps(marker))

    def is_bound(self) -> bool:
        return self.world.place.journal.binding("e1") is not None


@asynccontextmanager
async def chatting(tmp_path: Path, *, is_told: bool) -> AsyncIterator[Chat]:
    """Open a chat that is told of its supervisor, or that may find it in its folder."""
    folder, state = tmp_path / "work", MemoryState()
    folder.mkdir()
    settings = Settings(home=tmp_path / "rooms")
    async with (
        socket_world(tmp_path / "h") as world,
        open_letagents(settings, state=state) as letagents,
        letagents.client() as client,
    ):
        environ = world.environ if is_told else {"LETAGENTS_API_URL": SERVER}

        @asynccontextmanager
        async def opening() -> AsyncIterator[SocketSupervisor]:
            supervisor = SocketSupervisor(
                environ, world.socket, folder, world.ids, patience=30.0, quick=30.0, gap=0.0
            )
            yield supervisor
            await supervisor.settled()
            await supervisor.aclose()

        bridge = Bridge(opening, is_told, folder)
        yield Chat(Visit(client, bridge=bridge), world, folder, state)
        await bridge.aclose()


@pytest.fixture
async def told(anyio_backend: str, tmp_path: Path) -> AsyncIterator[Chat]:
    async with chatting(tmp_path, is_told=True) as chat:
        yield chat


@pytest.fixture
async def alone(anyio_backend: str, tmp_path: Path) -> AsyncIterator[Chat]:
    async with chatting(tmp_path, is_told=False) as chat:
        yield chat


@pytest.mark.rule("J61", "J66")
async def test_a_chat_is_bound_as_it_registers_and_its_cursor_is_noted(told: Chat) -> None:
    registered = await told.register()
    worker_id = registered["structuredContent"]["worker_id"]
    assert told.is_bound()
    for text in ("one", "two"):
        await told.call("send_message", worker_id=worker_id, text=text)
    waited = await told.call(
        "wait_for_messages", worker_id=worker_id, timeout=1000, after_message_id="msg_2"
    )
    assert told.visit.bridge is not None
    await told.visit.bridge.aclose()

    assert waited["isError"] is False
    assert await told.world.cursor() == "msg_2"
    assert "daemon.sock" not in json.dumps(registered)


async def test_a_chat_whose_supervisor_is_gone_does_not_wait(told: Chat) -> None:
    registered = await told.register()
    worker_id = registered["structuredContent"]["worker_id"]
    await told.world.end()
    waited = await told.call("wait_for_messages", worker_id=worker_id, timeout=1000)

    assert waited["isError"] is True
    assert "supervisor" in json.dumps(waited)


@pytest.mark.rule("J60")
async def test_a_chat_that_nobody_supervises_asks_nobody(alone: Chat) -> None:
    registered = await alone.register()

    assert registered["isError"] is False
    assert not alone.is_bound()


async def test_a_chat_finds_its_supervisor_by_the_files_of_its_folder(alone: Chat) -> None:
    alone.write()
    registered = await alone.register(cwd=str(alone.folder))
    (stored,) = (await alone.state.read()).sessions.values()

    assert registered["isError"] is False
    assert alone.is_bound()
    assert stored.supervisor_context_cwd == str(alone.folder.resolve())
    assert "supervisor_context" not in json.dumps(registered)
    (alone.folder / CONTEXT).unlink()
    assert "persisted supervised worker context is missing" in json.dumps(await alone.register())


async def test_files_of_another_room_bind_nobody(alone: Chat) -> None:
    alone.write("elsewhere")
    refused = await alone.register(cwd=str(alone.folder))

    assert "does not match the worker room" in json.dumps(refused)
    assert not alone.is_bound()
