"""The tools that a supervisor runs for its agents, in the rooms of its machine."""

import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from letagents.domain.effects import EffectRefused
from letagents.domain.messages import Latest
from letagents.domain.sessions import Connection
from letagents.domain.surfaces import LOCAL_ROOMS
from letagents.entrypoints.daemon.tools import RoomTools
from letagents.ports.rooms import RoomTransport
from letagents.ports.tools import Authority
from letagents.settings import Settings
from letagents.testing.contracts.room_callers import ADA, ROOM, arrival
from letagents.wiring.servers import open_supervised_rooms

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="supervisors are not there"),
]


@attrs.define(eq=False)
class Desk:
    """Where tools are run for one agent."""

    tools: RoomTools
    rooms: RoomTransport
    authority: Authority
    connection: Connection

    async def run(self, tool: str, **arguments: object) -> Mapping[str, Any]:
        return await self.tools.run(tool, arguments, self.authority)

    async def said(self) -> list[tuple[str, str]]:
        page = await self.rooms.read(ROOM, Latest())
        return [(one.sender.split(" | ")[0], one.text) for one in page.messages]


@pytest.fixture
async def desk(anyio_backend: str, tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_supervised_rooms(Settings(home=tmp_path)) as servers:
        rooms = (await servers.at(LOCAL_ROOMS)).rooms
        await rooms.join(ROOM)
        made = await rooms.connect(ROOM, arrival(ADA, 1))
        session_id, token = str(made.session.session_id), made.fence.token
        authority = Authority("e1", "codex", str(ROOM), session_id, token, LOCAL_ROOMS)
        yield Desk(RoomTools(servers), rooms, authority, made)


async def test_an_agent_speaks_under_its_own_name(desk: Desk) -> None:
    result = await desk.run("send_message", text="Done.")

    assert result["isError"] is False
    assert await desk.said() == [("Worker1", "Done.")]


async def test_an_agent_may_name_itself_and_nobody_else(desk: Desk) -> None:
    own = str(desk.connection.session.session_id)
    for named in (own, "worker_bearer"):
        said = await desk.run("send_message", text="Done.", agent_session_id=named)
        assert said["isError"] is False
    other = await desk.run("send_message", text="Done.", agent_session_id="agent_session_1200")
    handle = await desk.run("send_message", text="Done.", worker_id="worker_" + "0" * 32)

    assert f"session is {own}, not agent_session_1200" in other["content"][0]["text"]
    assert "no parameter 'worker_id'" in handle["content"][0]["text"]
    assert len(await desk.said()) == 2


async def test_it_reads_and_works_in_its_room(desk: Desk) -> None:
    added = await desk.run("add_task", title="Mend it")
    board = await desk.run("get_board")
    room = await desk.run("get_current_room")

    assert added["isError"] is False
    assert [one["title"] for one in board["structuredContent"]["tasks"]] == ["Mend it"]
    assert room["structuredContent"]["room_id"] == str(ROOM)


async def test_what_a_tool_refuses_is_its_result(desk: Desk) -> None:
    for result in (
        await desk.run("send_message"),
        await desk.run("claim_task", task_id="task_9"),
        await desk.run("send_message", text="hi", room_id="another"),
    ):
        assert result["isError"] is True
        assert result["content"][0]["text"]
    assert await desk.said() == []


async def test_a_session_that_was_replaced_says_nothing(desk: Desk) -> None:
    await desk.rooms.connect(ROOM, arrival(ADA, 2, after=desk.connection))

    assert (await desk.run("send_message", text="from the old life"))["isError"] is True
    assert await desk.said() == []


@pytest.mark.parametrize("tool", ["wait_for_messages", "register_agent_session", "create_room", ""])
async def test_what_a_turn_is_not_offered_is_not_run(desk: Desk, tool: str) -> None:
    with pytest.raises(EffectRefused, match="Unsupported supervised tool"):
        await desk.run(tool)


async def test_whose_session_the_room_does_not_know_is_told_so(desk: Desk) -> None:
    desk.authority = attrs.evolve(desk.authority, session_id="nobody")

    result = await desk.run("get_board")
    assert result["isError"] is True
    assert "[not_available]" in result["content"][0]["text"]
