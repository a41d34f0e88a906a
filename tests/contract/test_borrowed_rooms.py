"""A process that does its own calls, where its supervisor leaves them to it: with what it is lent.

The supervisor is ours without tools, at a real socket; the server is ours, in this process.
"""

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.contract.borrowing import World, borrowing

from letagents.adapters.supervisor.none import NoSupervisor
from letagents.application.borrowed import UNSHOWN, Borrowing
from letagents.domain.effects import State
from letagents.domain.ids import Credential, RoomId
from letagents.domain.messages import Latest
from letagents.domain.supervised import DEFERRED, Borrowed, OwnSession
from letagents.testing.contracts.supervisor import MESSAGE, ROOM

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="there are no such sockets"),
]


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
    other = await world.call("send_message", 6, text="x", agent_session_id="agent_session_1200")
    assert "not agent_session_1200" in json.dumps(other)

    assert added["isError"] is False
    assert set(world.server.rooms) == {ROOM}
    assert [one["title"] for one in claimed["structuredContent"]["tasks"]] == ["Mend it"]
    there = room["structuredContent"]
    assert (there["room_id"], there["room_binding"]) == (ROOM, "daemon_supervised")
    assert (there["joined_via"], there["is_local"], there["auth"]) == (None, None, None)
    assert "agent_prompt" not in there
    assert there["agent_identity"]["canonical_key"] == str(world.worker.session.session_id)
    repository = await world.call("check_repo", 5)
    told = repository["structuredContent"]
    assert told["current_room_scope"] == "daemon_supervised_exact_room"
    assert (told["warning"], told["join_hint"]) == (None, None)


async def test_what_was_done_is_noted_even_if_its_result_fits_no_line(world: World) -> None:
    sent = await world.call("send_message", 1, text='"' * 16_000)
    again = await world.call("send_message", 1, text='"' * 16_000)

    assert sent["structuredContent"]["text"] == '"' * 16_000
    assert again["structuredContent"]["code"] == "SUPERVISED_EFFECT_RESULT_NOT_RETAINED"
    assert len(await world.said()) == 1


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


async def test_what_is_not_there_yet_to_be_lent_is_waited_for() -> None:
    lends = iter([DEFERRED, Borrowed(Credential("the credential of the worker"))])

    class Beginning(NoSupervisor):
        async def borrow(self, session: OwnSession) -> Borrowed:
            return next(lends)

    own = OwnSession("s1", ROOM, UNSHOWN)
    assert await Borrowing(Beginning(), own, patience=30.0).token() == (
        "the credential of the worker"
    )
