"""A focus room from its opening to its conclusion, as a person and an agent live it."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import shell
from tests.e2e.chats import ERAS, House, living_in

from letagents.domain.focus_rooms import Changes, Scope
from letagents.domain.ids import RoomId

pytestmark = pytest.mark.anyio


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with living_in(tmp_path, ERAS[0]) as house:
        yield house


def said(home: Path, *words: str) -> str:
    done = shell.run(home, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


async def test_a_room_is_opened_for_a_task_worked_in_and_concluded(
    house: House, tmp_path: Path
) -> None:
    ada = await house.chat("claude-code")
    await ada.call("join_room", name="workshop")
    as_ada: dict[str, Any] = {"registration_key": "ada", "room_id": "workshop"}
    worker = await ada.call("register_agent_session", **as_ada)
    by = {"worker_id": worker["worker_id"], "room_id": "workshop"}
    await ada.call("add_task", title="Mend the roof", **by)
    await ada.call("update_task", task_id="task_1", status="accepted", **by)
    await ada.call("claim_task", task_id="task_1", **by)
    opened = said(tmp_path, "focus", "open", "workshop", "--task", "task_1")
    entered = await ada.call("join_code", code="workshop/focus/task_1")
    here = await ada.call("get_current_room")
    locator = {"worker_id": worker["worker_id"], "room_id": "workshop/focus/task_1"}
    within = await ada.call("register_agent_session", **locator)
    await ada.call("send_message", text="It holds.", **locator)
    conclusion = ["The roof holds.", "--parent-task-next", "mark_done"]
    concluded = said(tmp_path, "focus", "conclude", "focus_1", *conclusion)
    heard = await ada.call("read_messages", **by)
    row = json.loads(said(tmp_path, "focus", "list", "workshop", "--all", "--json"))

    assert "focus_1 is open beside workshop: Mend the roof" in opened
    for room in (entered, here):
        assert (room["room_id"], room["parent_room_id"]) == ("focus_1", "workshop")
        assert (room["focus_key"], room["focus_status"]) == ("task_1", "active")
    assert within["agent_session"]["room_id"] == "focus_1"
    assert "workshop was told" in concluded
    told = heard["messages"][-1]
    assert "focus_1 (task_1) concluded by Grace: The roof holds." in told["text"]
    assert "parent task next: mark_done" in told["text"]
    assert told["activation"]["for_current_agent"]["decision"] == "activate"
    assert (row["focus_status"], row["conclusion_summary"]) == ("concluded", "The roof holds.")


async def test_a_chat_within_a_room_that_keeps_to_itself_leaves_the_board_beside_it_alone(
    house: House,
) -> None:
    ada, workshop = await house.chat("claude-code"), RoomId("workshop")
    await ada.call("join_room", name="workshop")
    focus = house.letagents.focus()
    assert focus is not None
    await focus.open(workshop, "An idea")
    await focus.set(workshop, "an-idea", Changes(activity_scope=Scope.ROOM))
    await ada.call("add_task", title="Mend the roof")
    await ada.call("join_room", name="focus_1")
    told = await ada.refused("add_task", title="Mend the door", room_id="workshop")
    within = await ada.call("add_task", title="Mend the door")
    await ada.call("join_room", name="workshop")
    after = await ada.call("add_task", title="Mend the door", room_id="workshop")

    assert "focus_parent_board_read_only" in told
    assert "join_room(name='workshop')" in told
    assert within["task"]["id"] == "task_1"
    assert after["task"]["id"] == "task_2"
