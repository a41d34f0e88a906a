"""A process that polls by itself: it is admitted, then offered, and acknowledges by its cursor."""

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.contract.borrowing import World, borrowing
from tests.contract.supervised import SERVER

from letagents.adapters.supervisor.custody import SocketCustody
from letagents.adapters.system import SystemIds
from letagents.application.agents.polls import Polls
from letagents.domain.bindings import Claim
from letagents.domain.custody import Invocation, PollRefused
from letagents.domain.ids import ClientKey, MessageId, RoomId
from letagents.domain.messages import Draft
from letagents.domain.modes import Mode
from letagents.domain.supervised import OwnSession
from letagents.domain.surfaces import Caller, Profile
from letagents.entrypoints.mcp import polling
from letagents.entrypoints.mcp.polling import Poller
from letagents.entrypoints.mcp.surface import tools_of
from letagents.testing.contracts.room_callers import BOB, arrival
from letagents.testing.contracts.supervisor import ROOM

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="there are no such sockets"),
]
CALLER = Caller(Profile.SUPERVISED_MCP_POLLING, provider="codex", api_url=SERVER)
LISTED = {one.name: one for one in tools_of(CALLER, Mode.SUPERVISED)}


@attrs.define(eq=False)
class Polled:
    """An agent that polls, in a room where three things were said before it came."""

    world: World
    ids: SystemIds = attrs.field(factory=SystemIds)
    said: int = 0

    def poller(self, **caller: Any) -> Poller:
        """Return a process of the agent."""
        made = attrs.evolve(CALLER, **caller)
        there = self.world.supervised
        custody = SocketCustody(
            self.world.environ, made, there.socket, there.home, self.ids, patience=30.0
        )
        return Poller(self.world.process, custody, self.ids.uuid())

    async def say(self, *texts: str) -> None:
        rooms = self.world.kept
        fence = (await rooms.connect(RoomId(ROOM), arrival(BOB, 8))).fence
        for text in texts:
            self.said += 1
            await rooms.post(RoomId(ROOM), Draft(text, ClientKey(f"said-{self.said}")), fence)

    async def wait(self, poller: Poller, number: object, **arguments: object) -> dict[str, Any]:
        given = {"timeout": 1000, **arguments}
        return await polling.called(LISTED["wait_for_messages"], poller, given, number)

    async def cursor(self) -> str | None:
        return await self.world.supervised.cursor()


def texts(result: dict[str, Any]) -> list[str]:
    assert result["isError"] is False, result
    return [one["text"] for one in result["structuredContent"]["messages"]]


def refusal(result: dict[str, Any]) -> str:
    assert result["isError"] is True
    return json.dumps(result["content"])


@pytest.fixture
async def polled(anyio_backend: str, tmp_path: Path) -> AsyncIterator[Polled]:
    async with borrowing(tmp_path / "h", CALLER) as world:
        polled = Polled(world)
        await polled.say("one", "two", "three")
        assert world.supervised.server is not None
        polls = Polls(world.supervised.server.methods.sessions)
        await polls.begin("e1", "a1", MessageId(3))
        yield polled


@pytest.mark.rule("J92", "J96", "J97")
async def test_an_agent_is_shown_what_is_offered_and_moves_on_by_its_cursor(
    polled: Polled,
) -> None:
    poller = polled.poller()
    await polled.say("@Worker1 four", "@Worker1 five")
    first = await polled.wait(poller, 1, after_message_id="msg_900")
    assert await polled.cursor() == "msg_3"
    again = await polled.wait(poller, "1")
    seen = again["structuredContent"]["last_observed_message_id"]
    await polled.say("@Worker1 six")
    third = await polled.wait(poller, 2, after_message_id=seen)

    assert texts(first) == texts(again) == ["@Worker1 four", "@Worker1 five"]
    assert texts(third) == ["@Worker1 six"]
    assert await polled.cursor() == seen == "msg_5"


@pytest.mark.rule("J94")
async def test_the_next_process_is_offered_what_nobody_acknowledged(polled: Polled) -> None:
    await polled.say("@Worker1 four")
    first = await polled.wait(polled.poller(), 1)
    seen = first["structuredContent"]["last_observed_message_id"]
    second = await polled.wait(polled.poller(), 1, after_message_id=seen)

    assert texts(first) == texts(second) == ["@Worker1 four"]
    assert await polled.cursor() == "msg_3"


async def test_other_tools_are_admitted_and_done_with_what_is_lent(polled: Polled) -> None:
    poller = polled.poller()
    sent = await polling.called(LISTED["send_message"], poller, {"text": "Done."}, 5)
    read = await polling.called(LISTED["read_messages"], poller, {}, 6)

    assert sent["isError"] is False
    assert texts(read)[-1] == "Done."
    bearer = polled.world.worker.bearer
    assert bearer is not None
    assert set(polled.world.server.shown) == {f"Bearer {bearer.value}"}


@pytest.mark.rule("J96", "J98")
async def test_who_may_not_poll_asks_no_server(polled: Polled) -> None:
    good = polled.poller()
    for poller, number, arguments, told in (
        (good, None, {}, "missing its exact MCP request id"),
        (good, 1, {"room_id": "elsewhere"}, "does not match its exact authority"),
        (good, 1, {"agent_session_id": "other"}, "does not match its exact authority"),
        (polled.poller(has_owner_token=True), 1, {}, "refuses bounded flags and environment"),
        (polled.poller(api_url=None), 1, {}, "requires an explicit API URL"),
        (polled.poller(profile=Profile.INTERACTIVE_DESKTOP), 1, {}, "polling profile required"),
    ):
        assert told in refusal(await polled.wait(poller, number, **arguments))
    other = await polling.called(LISTED["read_messages"], good, {"room_id": "elsewhere"}, 1)
    joined = await polling.called(LISTED["join_room"], good, {"name": "elsewhere"}, 1)

    assert "exact authority" in refusal(other)
    assert "disabled" in refusal(joined)
    assert polled.world.server.shown == []


@pytest.mark.rule("J96", "J97")
async def test_a_result_is_withheld_where_its_admission_is_gone(polled: Polled) -> None:
    custody = polled.poller().custody
    invocation = Invocation(SystemIds().uuid(), 1, None)
    admission = await custody.admit("wait_for_messages", invocation)
    with pytest.raises(PollRefused, match="Only custodial wait may"):
        await custody.admit("read_messages", invocation)
    with pytest.raises(PollRefused, match="does not match its original invocation"):
        await custody.release("wait_for_messages", admission, MessageId(2))
    server = polled.world.supervised.server
    assert server is not None
    await Polls(server.methods.sessions).begin("e1", "a2", None)
    with pytest.raises(PollRefused, match="names a stale activation"):
        await custody.release("wait_for_messages", admission, MessageId(4))
    await polled.world.supervised.take_over()
    with pytest.raises(PollRefused, match="not authorized by the current worker binding"):
        await custody.release("wait_for_messages", admission, MessageId(4))


async def test_a_cursor_is_not_moved_beside_its_offers(polled: Polled) -> None:
    supervisor = polled.world.supervised.supervisor()
    worker = polled.world.worker
    shown = OwnSession(str(worker.session.session_id), ROOM, worker.fence.token)
    await supervisor.checkpoint(shown, "msg_5")
    await supervisor.settled()

    assert await polled.cursor() == "msg_3"


async def test_the_secret_of_who_polls_is_taken_from_nobody(polled: Polled) -> None:
    server, worker = polled.world.supervised.server, polled.world.worker
    assert server is not None
    sessions = server.methods.sessions
    claim = Claim("e1", ROOM, "w1", "x1", str(worker.session.session_id), SERVER)

    assert not await sessions.install(claim, sessions.hold.generation, worker.fence.token)


@pytest.mark.rule("J96")
async def test_a_supervisor_that_admits_no_polls_is_not_asked(polled: Polled) -> None:
    polled.world.supervised.admits_polls = False
    await polled.world.supervised.take_over()

    assert "does not support custodial_polling_v1" in refusal(await polled.wait(polled.poller(), 1))
