"""Agents whose rooms are on a server: kept, answered for and worked for as those of this machine.

The server is ours, in this process. Its account is the one that signed in on this machine.
"""

import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests import own_git
from tests.contract.keeping import ROOM, killed_at
from tests.contract.keeping_on_a_server import SERVER, ServedWorld
from tests.contract.served import TOKEN
from tests.integration.test_git_checkouts import git

from letagents.adapters.state.memory import MemoryState
from letagents.application.agents.servers import Servers
from letagents.application.client import LetAgents
from letagents.domain.errors import ConnectionLost, UnknownRoom
from letagents.domain.fencing import UNNUMBERED, Fence
from letagents.domain.ids import ClientKey, RoomId, SessionId
from letagents.domain.messages import Draft, Latest
from letagents.domain.recovery import Action
from letagents.entrypoints.daemon.tools import RoomTools
from letagents.ports.tools import Authority
from letagents.settings import Settings
from letagents.wiring.client import open_letagents

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="supervisors are not there"),
]


@pytest.fixture
async def world(anyio_backend: str) -> AsyncIterator[ServedWorld]:
    world = ServedWorld()
    await world.open()
    yield world
    await world.end()


async def test_an_agent_answers_in_a_room_on_a_server(world: ServedWorld) -> None:
    keeper = await world.run()
    await world.is_there()
    await world.ask()

    assert await world.answers(1) == ["ok"]
    page = await world.rooms.read(ROOM, Latest())
    assert page.messages[-1].sender == "Ada | Ada's agent | Codex"
    binding = world.place.journal.binding("e1")
    assert binding is not None
    assert binding.origin == SERVER
    held = keeper.sessions.vault.of(binding)
    assert held is not None
    assert not {held.token.value, TOKEN} & set(world.written().split('"'))
    assert held.token.value not in repr(keeper.sessions.vault)


@pytest.mark.rule("J31")
async def test_a_successor_opens_the_session_anew_for_who_is_signed_in(world: ServedWorld) -> None:
    first = await world.run()
    await world.is_there()
    before = world.place.journal.binding("e1")
    assert before is not None
    old = first.sessions.vault.of(before)
    assert old is not None
    for task in world.running:
        task.cancel()
    await world.run()
    await world.until(lambda: world.place.journal.highest_epoch("e1") > before.epoch)
    await world.ask()

    assert await world.answers(1) == ["ok"]
    assert len(world.provider.started) == 1
    fence = Fence(SessionId(before.session_id), UNNUMBERED, old.token)
    with pytest.raises(ConnectionLost):
        await world.rooms.post(ROOM, Draft("from the old life", ClientKey("old")), fence)


@pytest.mark.rule("J44")
async def test_wherever_a_supervisor_is_killed_one_process_answers_once_on_a_server() -> None:
    edge = 1
    while await killed_at(edge, ServedWorld()):
        edge += 1

    assert edge > 8


async def test_who_is_signed_out_is_told_so_and_starts_once_signed_in(world: ServedWorld) -> None:
    world.token = None
    keeper = await world.keeper()
    await keeper.step()

    assert "sign you in" in (world.entry.last_error or "")
    assert world.alive() == 0
    world.token = TOKEN
    world.clock.pass_by((world.entry.history.not_before or world.clock.now()) - world.clock.now())
    assert await keeper.step() is Action.START
    assert world.alive() == 1
    await keeper.leave()


async def test_a_room_that_was_named_by_its_code_is_kept_by_its_own_name(
    world: ServedWorld,
) -> None:
    assert world.hosted is not None
    room = await world.hosted.create()
    entry = attrs.evolve(world.entry, room_id=str(room.code or room.room_id))
    keeper = await world.keeper()
    await keeper.sessions.journal.change(lambda journal: journal.put_entry(entry))
    await keeper.step()

    assert world.entry.room_id == str(room.room_id)
    assert world.entry.last_error is None
    await keeper.leave()


# --- tools ----------------------------------------------------------------------------------------


@attrs.define(eq=False)
class Desk:
    """Where tools are run for one agent in its room on the server."""

    tools: RoomTools
    authority: Authority
    world: ServedWorld

    async def run(self, tool: str, **arguments: object) -> Mapping[str, Any]:
        return await self.tools.run(tool, arguments, self.authority)


@pytest.fixture
async def desk(world: ServedWorld, tmp_path: Path) -> AsyncIterator[Desk]:
    hosted = world.hosted
    assert hosted is not None

    @asynccontextmanager
    async def open_(_api_url: str) -> AsyncIterator[LetAgents]:
        settings = Settings(home=tmp_path, api_url=SERVER)
        async with open_letagents(settings, state=MemoryState(), rooms=hosted) as opened:
            yield opened

    keeper = await world.run()
    await world.is_there()
    binding = world.place.journal.binding("e1")
    assert binding is not None
    held = keeper.sessions.vault.of(binding)
    assert held is not None
    assert held.session is not None
    servers = Servers(open_)
    authority = Authority(
        "e1",
        "codex",
        str(ROOM),
        binding.session_id,
        held.token,
        SERVER,
        str(tmp_path),
        held.session,
    )
    yield Desk(RoomTools(servers), authority, world)
    await servers.aclose()


async def test_tools_are_run_at_the_server_under_the_agents_own_name(desk: Desk) -> None:
    said = await desk.run("send_message", text="Done.")
    added = await desk.run("add_task", title="Mend it")
    remembered = await desk.run("get_room_memory")
    room = await desk.run("get_current_room")

    assert [one["isError"] for one in (said, added, remembered)] == [False] * 3
    page = await desk.world.rooms.read(ROOM, Latest())
    texts = {one.text: one.sender for one in page.messages}
    assert texts["Done."].startswith("Ada | ")
    assert room["structuredContent"]["room_id"] == str(ROOM)


async def test_no_call_leaves_the_agents_room(desk: Desk) -> None:
    assert desk.world.hosted is not None
    other = await desk.world.hosted.create()
    for result in (
        await desk.run("read_messages", room_id=str(other.room_id)),
        await desk.run("send_message", text="hi", room_id=str(other.room_id)),
        await desk.run("create_room"),
        await desk.run("join_project", name="elsewhere"),
    ):
        assert result["isError"] is True
        assert "[not_available]" in json.dumps(result["content"])
    assert (await desk.run("read_messages", room_id=f" {ROOM} "))["isError"] is False


async def test_to_choose_the_room_of_a_checkout_enters_none(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_git.set_nothing_up(monkeypatch)
    git(tmp_path, "init", "--quiet")
    result = await desk.run("initialize_repo", room="elsewhere")

    told = result["structuredContent"]
    assert (told["success"], told["joined"]) == (True, False)
    assert "joins and creation are disabled" in told["error"]
    assert desk.world.hosted is not None
    with pytest.raises(UnknownRoom):
        await desk.world.hosted.join(RoomId("elsewhere"), create=False)


async def test_it_looks_at_no_folder_but_its_own(desk: Desk, tmp_path: Path) -> None:
    result = await desk.run("initialize_repo", cwd="/", room="github.com/ada/tools")

    assert str(tmp_path) in json.dumps(result["content"])
