"""A process that was given a worker's bearer acts as that worker, and shows nothing else."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.contract.bearing import World, opened
from tests.contract.borrowing import Watched

from letagents.domain.modes import Mode
from letagents.domain.surfaces import Caller
from letagents.entrypoints.mcp import by_bearer
from letagents.entrypoints.mcp.by_bearer import Bearing
from letagents.entrypoints.mcp.surface import tools_of
from letagents.settings import Settings
from letagents.wiring.borrowed import open_rooms_by_bearer

pytestmark = pytest.mark.anyio
URL = "https://rooms.test/api"
LISTED = {one.name: one for one in tools_of(Caller(has_bearer=True, api_url=URL), Mode.WORKER)}


@attrs.define(eq=False)
class Desk:
    """The process, the server that it calls, and the worker whose bearer it has."""

    process: Bearing
    server: Watched
    world: World

    async def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        return await by_bearer.called(LISTED[tool], self.process, arguments, 1)


@pytest.fixture
async def desk(anyio_backend: str, tmp_path: Path) -> AsyncIterator[Desk]:
    world = await opened(takes_bearers=True)
    assert world.worker.bearer is not None
    settings = Settings(home=tmp_path, api_url=URL, bearer=world.worker.bearer.value)
    server = Watched(world.http)
    async with open_rooms_by_bearer(settings, transport=server) as rooms:
        yield Desk(Bearing(rooms), server, world)


async def test_it_registers_without_asking_and_acts_as_its_session(desk: Desk) -> None:
    nowhere = await desk.call("get_current_room")
    registered = await desk.call("register_agent_session", room_id="workshop")
    here = await desk.call("get_current_room")
    for told in (nowhere, here):
        assert told["structuredContent"]["auth"]["source"] == "worker_bearer"
    assert here["structuredContent"]["agent_identity"]["display_name"] == "Worker"
    assert desk.server.shown == []
    session_id = registered["structuredContent"]["agent_session_id"]
    sent = await desk.call("send_message", text="Done.", agent_session_id=session_id)
    read = await desk.call("read_messages")
    added = await desk.call("add_task", title="Mend it", room_id="workshop")

    assert registered["structuredContent"]["worker_bearer_mode"] is True
    assert session_id == "worker_bearer"
    assert registered["structuredContent"]["agent_session"]["session_id"] == session_id
    assert [one["isError"] for one in (sent, read, added)] == [False] * 3
    assert read["structuredContent"]["messages"][0]["sender"].startswith("Worker1 | ")
    assert len(set(desk.server.shown)) == 1


async def test_what_it_may_not_do_is_told(desk: Desk) -> None:
    here = await desk.call("read_messages", room_id="workshop")
    elsewhere = await desk.call("read_messages", room_id="elsewhere")
    again = await desk.call("read_messages")
    other = await desk.call("read_messages", room_id="workshop", agent_session_id="session_2")
    ended = await desk.call("disconnect_agent_session")
    nowhere = await Desk(Bearing(desk.process.rooms), desk.server, desk.world).call(
        "register_agent_session"
    )
    owners = await desk.call("start_device_auth")

    assert "scoped to a different room" in json.dumps(elsewhere)
    assert [here["isError"], again["isError"]] == [False, False]
    assert "worker_bearer alone" in json.dumps(other)
    assert "ended by whoever gave the bearer" in json.dumps(ended)
    assert "room_id: is missing" in json.dumps(nowhere)
    assert owners["structuredContent"]["error"] == "worker_bearer_mode"
