"""What a supervisor answers to those who write to its socket by themselves."""

import asyncio
import json
import os
import socket
import stat
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.contract.supervised import CountingTools, SocketWorld, socket_world

from letagents.adapters.supervision.hold import COUNTER
from letagents.domain.deeds import Act
from letagents.domain.errors import NotAvailable
from letagents.domain.manifest import Admission
from letagents.entrypoints.daemon.server import Server, listening
from letagents.testing.contracts.supervisor import RESULT, ROOM
from letagents.wire import supervisor as wire

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="there are no such sockets"),
]
SECRET = f"t{7:042d}"
PLACE = {"entry_id": "e1", "work_attempt_id": "w1", "execution_generation_id": "x1"}
SESSION = {
    **PLACE,
    "room_id": ROOM,
    "agent_session_id": "s1",
    "agent_session_token": SECRET,
    "api_url": "https://letagents.example",
}
CALL = {**PLACE, "daemon_generation": 1, "mcp_request_id": "12", "tool_name": "post_status"}


@pytest.fixture
async def world(anyio_backend: str, tmp_path: Path) -> AsyncIterator[SocketWorld]:
    async with socket_world(tmp_path / "h", CountingTools()) as world:
        yield world


async def exchange(world: SocketWorld, *lines: bytes) -> list[Any]:
    """Write the lines, and return what comes until the other end closes."""
    async with asyncio.timeout(30):
        reader, writer = await asyncio.open_unix_connection(str(world.socket))
        try:
            writer.write(b"".join(lines))
            writer.write_eof()
            answers = await reader.read()
        except ConnectionError:
            return []
        finally:
            writer.close()
    return [json.loads(line) for line in answers.splitlines()]


async def ask(world: SocketWorld, method: str, params: object = None, version: int = 2) -> Any:
    request = wire.Request(version, "1", method, params)
    (answer,) = await exchange(world, request.line())
    assert answer["version"] == 2
    assert answer["id"] == "1"
    return answer


async def test_it_says_what_it_is_in_any_version(world: SocketWorld) -> None:
    answer = await ask(world, "daemon.negotiate", version=99)

    assert answer["ok"] is True
    result = answer["result"]
    assert result["healthy"] is True
    assert (result["protocol_version"], result["generation"]) == (2, 1)
    assert result["started_at"] == "2030-01-01T00:00:00.000Z"
    assert [flag for flag, can in result["capabilities"].items() if can] == [wire.KEEPS]
    assert (await ask(world, "daemon.status"))["result"] == result


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            b'{"version":1,"id":"1","method":"daemon.status"}',
            "Protocol version mismatch: expected 2, received 1.",
        ),
        (
            b'{"id":"1","method":"daemon.status"}',
            "Protocol version mismatch: expected 2, received undefined.",
        ),
        (
            b'{"version":2,"id":"1","method":"manifest.put"}',
            "Unsupported daemon method: manifest.put",
        ),
        (b'{"version":2,"id":"1"}', "Unsupported daemon method: "),
        (
            b'{"version":2,"id":"1","method":"supervisor.bind_worker_session"}',
            "Daemon request params must be an object.",
        ),
        (
            b'{"version":2,"id":"1","method":"supervisor.execute_bounded_tool","params":{}}',
            "Supervised tool execution requires exact typed coordinates.",
        ),
        (
            b'{"version":2,"id":"1","method":"supervisor.prepare_bounded_effect","params":{}}',
            "A supervised effect requires MCP request and tool identities.",
        ),
        (
            b'{"version":2,"id":"1","method":"supervisor.verify_worker_session","params":{}}',
            "Unknown daemon manifest entry: ",
        ),
        (
            b'{"version":2,"id":%s,"method":"manifest.put"}' % (b"[" * 300 + b"]" * 300),
            "Unsupported daemon method: manifest.put",
        ),
        (
            b'{"version":2,"id":"1","method":"supervisor.prepare_bounded_effect",'
            b'"params":{"input":{"text":%s}}}' % (b"[" * 300 + b"]" * 300),
            "Daemon request params are nested too deeply.",
        ),
        (b'{"version":2', "Invalid daemon request."),
        (b"[]", "Invalid daemon request."),
    ],
)
async def test_what_is_wrong_is_told_and_hurts_nobody(
    world: SocketWorld, line: bytes, said: str
) -> None:
    before = world.place.journal
    wrong, right = await exchange(world, line + b"\n", wire.Request(2, "2", wire.STATUS).line())

    assert wrong["ok"] is False
    assert wrong["error"] == said
    assert right["ok"] is True
    assert world.place.journal == before


async def test_lines_of_one_connection_are_all_answered(world: SocketWorld) -> None:
    lines = [wire.Request(2, str(number), wire.STATUS).line() for number in range(50)]
    answers = await exchange(world, *lines, b"\n", b" \n")

    assert {answer["id"] for answer in answers} == {str(number) for number in range(50)}


async def test_many_lines_at_once_may_be_longer_than_one_may_be(world: SocketWorld) -> None:
    padding = b" " * (wire.LONGEST_LINE // 3)
    lines = [wire.Request(2, str(number), wire.STATUS).line() for number in range(9)]

    assert len(await exchange(world, *(padding + line for line in lines))) == 9


async def test_a_line_without_an_end_is_cut(world: SocketWorld) -> None:
    assert await exchange(world, b'{"x":"' + b"a" * wire.LONGEST_LINE) == []
    assert (await ask(world, wire.STATUS))["ok"] is True


async def test_a_session_is_bound_verified_and_lent(world: SocketWorld) -> None:
    borrowing = {**SESSION, "daemon_generation": 1}
    said = {"entry_id": "e1", "agent_session_id": "s1"}

    assert (await ask(world, wire.BORROW, borrowing))["result"] == {"status": "stale"}
    assert (await ask(world, wire.BIND, SESSION))["result"] == {"bound": True, **said}
    assert (await ask(world, wire.VERIFY, SESSION))["result"] == {"verified": True, **said}
    lent = await ask(world, wire.BORROW, borrowing)
    assert lent["result"] == {"status": "available", "credential": SECRET}
    for other in ({"daemon_generation": 2}, {"api_url": "nowhere"}, {"room_id": "another"}):
        stale = await ask(world, wire.BORROW, borrowing | other)
        assert stale["result"] == {"status": "stale"}


async def test_a_secret_can_be_given_to_a_successor(world: SocketWorld) -> None:
    await ask(world, wire.BIND, SESSION)
    await world.take_over()
    given = {**SESSION, "daemon_generation": 2}

    assert (await ask(world, wire.BORROW, given))["result"] == {"status": "deferred"}
    old = await ask(world, wire.INSTALL, given | {"daemon_generation": 1})
    assert old["result"] == {"status": "stale"}
    assert (await ask(world, wire.INSTALL, given))["result"] == {"status": "installed"}
    assert (await ask(world, wire.BORROW, given))["result"]["credential"] == SECRET
    renewed = f"t{2:042d}"
    assert (await ask(world, wire.INSTALL, given | {"agent_session_token": renewed}))["ok"]
    assert (await ask(world, wire.BORROW, given))["result"]["credential"] == renewed


async def test_a_cursor_is_written_down_and_the_durable_one_answered(world: SocketWorld) -> None:
    await ask(world, wire.BIND, SESSION)
    at = {**PLACE, "agent_session_id": "s1"}

    for sent, kept in (("msg_12", "msg_12"), ("11", "msg_12"), ("13", "msg_13")):
        answer = await ask(world, wire.CHECKPOINT, {**at, "room_cursor": sent})
        assert answer["result"] == {"checkpointed": True, "entry_id": "e1", "room_cursor": kept}
    wrong = await ask(world, wire.CHECKPOINT, {**at, "room_cursor": "last"})
    assert wrong["error"] == "Compatibility worker cursor must be a numeric room message id."
    other = await ask(world, wire.CHECKPOINT, {**at, "agent_session_id": "s2"})
    assert other["error"] == (
        "Worker cursor checkpoint does not match the active supervised binding."
    )


async def test_a_tool_is_done_for_whoever_is_bound(world: SocketWorld) -> None:
    await ask(world, wire.BIND, SESSION)
    call = {**CALL, "input": {"status": "working"}}
    twice = [await ask(world, wire.EXECUTE, call) for _ in range(2)]

    assert twice[0]["result"] == {"state": "completed", "room_id": ROOM, "result": RESULT}
    assert twice[0] == twice[1]
    assert world.tools is not None
    ((tool, authority),) = world.tools.runs
    assert (tool, authority.room_id, authority.token.value) == ("post_status", ROOM, SECRET)


@pytest.mark.parametrize("admission", list(Admission))
async def test_a_tool_is_told_by_what_its_agent_is_let_in(
    world: SocketWorld, admission: Admission
) -> None:
    journal = world.place.journal
    entry = journal.entry("e1")
    assert entry is not None
    journal.put_entry(attrs.evolve(entry, admission=admission))
    await ask(world, wire.BIND, SESSION)
    await ask(world, wire.EXECUTE, CALL)

    assert world.tools is not None
    ((_, authority),) = world.tools.runs
    assert authority.is_granted is (admission is not Admission.SIGN_IN)


async def test_nothing_is_done_without_an_identity(world: SocketWorld) -> None:
    answer = await ask(world, wire.EXECUTE, CALL)

    assert answer["error"] == (
        "The exact server-issued worker identity is unavailable for this supervised tool execution."
    )
    assert world.performed() == 0
    await ask(world, wire.BIND, SESSION)
    assert (await ask(world, wire.EXECUTE, CALL))["ok"] is True


async def test_what_is_not_of_the_turn_is_refused(world: SocketWorld) -> None:
    prepare = {**CALL, "mutation": True}
    for other, said in (
        ({"daemon_generation": 9}, "stale daemon generation"),
        ({"execution_generation_id": "x2"}, "lost its exact agent work authority"),
        ({"work_attempt_id": "w2"}, "lost its exact agent work authority"),
        ({"entry_id": "e2"}, "lost its exact agent work authority"),
        ({"provider_turn_id": "t2"}, "does not belong to the exact active turn"),
        ({"mutation": False}, "classification does not match"),
    ):
        answer = await ask(world, wire.PREPARE, prepare | other)
        assert answer["ok"] is False
        assert said in answer["error"]
    told = (await ask(world, wire.PREPARE, prepare | {"provider_turn_id": "t1"}))["result"]
    assert (told["state"], told["action"], told["mutation"]) == ("prepared", "execute", True)


async def test_a_replaced_supervisor_cuts_the_line_and_ends(world: SocketWorld) -> None:
    (world.home / COUNTER).write_text("2\n")

    assert await exchange(world, wire.Request(2, "1", wire.STATUS).line()) == []
    assert world.server is not None
    async with asyncio.timeout(30):
        await world.server.ended.wait()


async def test_who_hands_over_says_so_first_and_does_nothing_more(world: SocketWorld) -> None:
    answer = await ask(world, wire.PREPARE_HANDOFF)

    assert answer["result"] == {"accepted": True, "generation": 1}
    refused = await ask(world, wire.BIND, SESSION)
    assert refused["error"] == "Supervisor handoff has fenced new daemon mutations."
    assert (await ask(world, wire.NEGOTIATE))["ok"] is True
    assert world.server is not None
    assert world.server.ended.is_set()


async def test_only_the_owner_reaches_it_and_nothing_is_left_of_it(world: SocketWorld) -> None:
    mode = world.socket.stat().st_mode

    assert stat.S_ISSOCK(mode)
    assert stat.S_IMODE(mode) == 0o600
    assert stat.S_IMODE(world.home.stat().st_mode) == 0o700
    await world.end()
    assert not world.socket.exists()


async def test_what_a_dead_supervisor_left_does_not_stand_in_the_way(world: SocketWorld) -> None:
    await world.end()
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(world.socket))
    await world.start()

    assert (await ask(world, wire.STATUS))["ok"] is True


async def test_the_socket_of_a_successor_is_left_where_it_is(world: SocketWorld) -> None:
    world.socket.unlink()
    with socket.socket(socket.AF_UNIX) as successor:
        successor.bind(str(world.socket))
        await world.end()

        assert world.socket.exists()


async def test_a_file_in_its_place_is_left(world: SocketWorld, tmp_path: Path) -> None:
    assert world.server is not None
    (tmp_path / "file").write_text("mine")

    with pytest.raises(NotAvailable, match="cannot listen"):
        async with listening(tmp_path / "file", world.server):
            pass
    assert (tmp_path / "file").read_text() == "mine"


async def test_a_path_that_is_too_long_is_told(world: SocketWorld, tmp_path: Path) -> None:
    server: Server | None = world.server
    assert server is not None

    with pytest.raises(NotAvailable, match="too long"):
        async with listening(tmp_path / ("a" * 120) / "daemon.sock", server):
            pass


async def test_a_person_lists_what_is_uncertain_and_settles_it(world: SocketWorld) -> None:
    prepare = {**CALL, "mutation": True, "input": {"status": "working"}}
    told = (await ask(world, wire.PREPARE, prepare))["result"]
    await world.take_over()

    (listed,) = (await ask(world, wire.LIST_EFFECTS, {"entry_id": "e1"}))["result"]
    assert (listed["effect_id"], listed["state"]) == (told["effect_id"], "uncertain")
    assert listed["input"] == {"status": "working"}
    assert (await ask(world, wire.LIST_EFFECTS, {"entry_id": "e2"}))["result"] == []
    settling = {"effect_id": told["effect_id"], "happened": True}
    odd = await ask(world, wire.SETTLE_EFFECT, settling | {"happened": "yes"})
    assert odd["error"] == "effects.settle requires whether it happened."
    done = (await ask(world, wire.SETTLE_EFFECT, settling))["result"]
    assert done["state"] == "completed"
    (did,) = world.place.journal.newest_deeds("e1", 9)
    assert (did.act, did.generation) == (Act.SETTLED, 2)
    assert did.detail.endswith(f" {told['effect_id']}: done")
    assert f" {os.getpid()}, started by " in did.by or sys.platform != "linux"
    again = await ask(world, wire.SETTLE_EFFECT, settling)
    assert "is not uncertain: it is completed" in again["error"]
    assert (await ask(world, wire.LIST_EFFECTS, {}))["result"] == []
    other = await ask(world, wire.SETTLE_EFFECT, settling | {"effect_id": "none"})
    assert other["error"] == "There is no effect none."

    replayed = await ask(world, wire.PREPARE, prepare | {"daemon_generation": 2})
    code = replayed["result"]["result"]["structuredContent"]["code"]
    assert code == "SUPERVISED_EFFECT_SETTLED"


async def test_who_hands_over_ends_what_it_has_begun(world: SocketWorld) -> None:
    assert world.tools is not None
    world.tools.let.clear()
    await ask(world, wire.BIND, SESSION)
    calling = asyncio.create_task(ask(world, wire.EXECUTE, {**CALL, "input": {}}))
    async with asyncio.timeout(30):
        await world.tools.begun.wait()
        await ask(world, wire.PREPARE_HANDOFF)
        ending = asyncio.create_task(world.end())
        while world.socket.exists():  # noqa: ASYNC110  what it waits for has no event
            await asyncio.sleep(0.001)
        world.tools.let.set()
        await ending

    assert (await calling)["result"]["state"] == "completed"
