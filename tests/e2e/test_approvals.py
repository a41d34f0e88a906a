"""Approvals as models and people see them: through the tools, and from a shell."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.chats import ERAS, Chat, House, Served, living_in
from tests.e2e.shell import run

from letagents.domain.approvals import IntentStatus
from letagents.domain.bounds import RESULT_LIMIT
from letagents.domain.governance import Failover, ManagerMode, RuntimeSource
from letagents.domain.intents import Action
from letagents.domain.tasks import Status
from letagents.entrypoints.mcp.tools import governance as tools
from letagents.wire.bounds import size

pytestmark = pytest.mark.anyio

Worker = tuple[Chat, dict[str, str], dict[str, Any]]


@pytest.fixture(params=ERAS)
async def house(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[House]:
    async with living_in(tmp_path, request.param) as house:
        yield house


async def worker(house: House, key: str) -> Worker:
    """Return a chat, what it shows of its worker, and that worker's session."""
    chat = await house.chat("claude-code")
    await chat.call("join_room", name="workshop")
    registered = await chat.call("register_agent_session", registration_key=key, room_id="workshop")
    return chat, {"worker_id": str(registered["worker_id"])}, registered["agent_session"]


async def managed(house: House) -> tuple[Worker, Worker]:
    """Return a worker, and one that manages a board where everything is asked."""
    ada, bob = await worker(house, "ada"), await worker(house, "bob")
    chat, as_bob, session = bob
    await chat.call("set_board_manager_mode", manager_mode="intent_required", **as_bob)
    await chat.call("assign_board_manager", agent_session_id=session["session_id"], **as_bob)
    return ada, bob


def test_the_choices_that_models_are_shown_are_those_that_there_are() -> None:
    shown = (
        (tools.MODES, ManagerMode),
        (tools.FAILOVERS, Failover),
        (tools.RUNTIME_SOURCES, RuntimeSource),
        (tools.ACTIONS, Action),
        (tools.STATUSES, IntentStatus),
    )

    for choices, kinds in shown:
        assert choices == tuple(one.value for one in kinds)
    assert set(tools.CLOSED) < {one.value for one in Status}


async def test_a_board_tells_how_it_is_governed(house: House) -> None:
    ada, as_ada, session = await worker(house, "ada")
    before = await ada.call("get_board_settings", **as_ada)
    changed = await ada.call(
        "set_board_manager_mode", manager_mode="off", manager_failover="announce", **as_ada
    )
    assigned = await ada.call(
        "assign_board_manager",
        agent_session_id=session["session_id"],
        runtime_source="external",
        **as_ada,
    )
    after = await ada.call("get_board_settings", **as_ada)
    released = await ada.call("release_board_manager", reason="tired", **as_ada)

    assert before["settings"]["manager_mode"] == "manager_optional"
    assert before["settings"]["manager_failover"] == "auto"
    assert (before["active_manager"], before["pending_intent_count"]) == (None, 0)
    assert changed["settings"]["manager_mode"] == "off"
    assert after["settings"] == changed["settings"]
    assert after["active_manager"] == assigned["manager"]
    assert assigned["manager"]["runtime_source"] == "external"
    assert released["manager"]["release_reason"] == "tired"
    assert (await ada.call("release_board_manager", **as_ada))["manager"] is None


async def test_a_task_is_created_claimed_and_closed_with_approvals(house: House) -> None:
    (ada, as_ada, _), (bob, as_bob, bobs) = await managed(house)
    refused = await ada.refused("add_task", title="Oil the gate", **as_ada)
    asked = await ada.call("register_task_create_intent", title="Oil the gate", **as_ada)
    created = await bob.call("approve_board_intent", intent_id="intent_1", **as_bob)

    assert "register_task_create_intent(title='Oil the gate')" in refused
    assert "[board_intent_required]" in refused
    assert asked["approval_needed"] is True
    assert asked["intent"]["payload"] == {
        "title": "Oil the gate",
        "description": None,
        "source_message_id": None,
    }
    assert asked["manager_notification"]["target_manager_agent_session_id"] == bobs["session_id"]
    assert created["result"]["kind"] == "task_created"
    assert created["result"]["task"]["id"] == "task_1"
    assert created["intent"]["status"] == "used"
    assert created["proposer_notification"]["delivered"] is True

    override = {"task_id": "task_1", "status": "accepted"}
    await bob.call("register_board_intent", action_type="task_override", payload=override, **as_bob)
    await bob.call("approve_board_intent", intent_id="intent_2", **as_bob)
    await bob.call("update_task", **override, board_intent_id="intent_2", **as_bob)
    await ada.call("register_task_claim_intent", task_id="task_1", **as_ada)
    token = await bob.call("approve_board_intent", intent_id="intent_3", reason="yes", **as_bob)
    again = await bob.call("approve_board_intent", intent_id="intent_3", **as_bob)
    claimed = await ada.call("claim_task", task_id="task_1", board_intent_id="intent_3", **as_ada)
    assert token["result"] == {"kind": "approval_token", "requires_follow_up": True}
    assert len(token["approval_token"]) == 43
    assert again["result"] == {"kind": "approval_recorded", "requires_follow_up": True}
    assert "approval_token" not in again
    assert claimed["task"]["status"] == "assigned"

    await ada.call("register_task_close_intent", task_id="task_1", status="cancelled", **as_ada)
    closing = await bob.call("approve_board_intent", intent_id="intent_4", **as_bob)
    used = {"board_approval_token": closing["approval_token"], "board_intent_id": "intent_4"}
    await ada.call("update_task", task_id="task_1", status="cancelled", **used, **as_ada)
    told = await ada.refused("update_task", task_id="task_1", status="cancelled", **used, **as_ada)
    assert "is used, not approved" in told
    assert closing["approval_token"] not in told


async def test_who_asks_hears_of_the_decision_and_others_do_not(house: House) -> None:
    (ada, as_ada, _), (bob, as_bob, _) = await managed(house)
    cy, as_cy, _ = await worker(house, "cy")
    cursors = {}
    for chat, shown in ((ada, as_ada), (bob, as_bob), (cy, as_cy)):
        read = await chat.call("read_messages", **shown)
        cursors[shown["worker_id"]] = read["messages"][-1]["id"] if read["messages"] else None
    await ada.call("register_task_create_intent", title="Oil the gate", **as_ada)
    heard_by_bob = await heard(bob, as_bob, cursors)
    await bob.call("deny_board_intent", intent_id="intent_1", reason="later", **as_bob)
    heard_by_ada = await heard(ada, as_ada, cursors)
    heard_by_cy = await heard(cy, as_cy, cursors, timeout=1000)

    assert "approve_board_intent(intent_id='intent_1')" in heard_by_bob[-1]
    assert "intent_1 denied by" in heard_by_ada[-1]
    assert "“later”" in heard_by_ada[-1]
    assert heard_by_cy == []


async def heard(
    chat: Chat, shown: dict[str, str], cursors: dict[str, Any], timeout: int = 5000
) -> list[str]:
    """Return what a wait of that worker brings."""
    cursor = cursors[shown["worker_id"]]
    waited = await chat.call(
        "wait_for_messages", timeout=timeout, **({"after_message_id": cursor} if cursor else {}),
        **shown,
    )  # fmt: skip
    return [message["text"] for message in waited["messages"]]


async def test_of_workers_only_the_manager_decides(house: House) -> None:
    (ada, as_ada, _), _ = await managed(house)
    await ada.call("register_task_create_intent", title="Oil the gate", **as_ada)

    told = await ada.refused("approve_board_intent", intent_id="intent_1", **as_ada)

    assert "Only the active Board Manager can decide board intents with worker credentials" in told


async def test_a_lease_action_is_asked_for_with_exact_values(house: House) -> None:
    (ada, as_ada, _), (_, _, bobs) = await managed(house)
    proposal = {"title": "Oil the gate"}
    await ada.call("register_board_intent", action_type="task_create", payload=proposal, **as_ada)
    refused = await ada.refused(
        "register_task_lease_action_intent",
        task_id="task_1",
        action="handoff",
        target_agent_key=bobs["agent_key"],
        **as_ada,
    )
    bad = await ada.refused(
        "register_board_intent", action_type="task_claim", payload={"hovercraft": 1}, **as_ada
    )
    nobody = await ada.refused(
        "register_task_lease_action_intent", task_id="task_1", action="handoff", **as_ada
    )
    two = await ada.refused(
        "register_board_intent",
        action_type="task_close",
        payload={"task_id": "task_1", "status": "done"},
        task_id="task_2",
        **as_ada,
    )

    assert "Task not found: task_1" in refused
    assert "payload.hovercraft" in bad
    assert "task_id: payload.task_id is another one" in two
    assert "target_actor_key" in nobody


async def test_no_list_of_intents_is_too_long_and_all_of_it_can_be_had(house: House) -> None:
    (ada, as_ada, _), _ = await managed(house)
    description = "é" * 16_000
    for number in range(45):
        await ada.call(
            "register_task_create_intent",
            title=f"Task {number}",
            description=description,
            **as_ada,
        )
    found: list[dict[str, Any]] = []
    cursor: dict[str, Any] = {}
    while True:
        page = await ada.call("list_board_intents", status="pending", **cursor, **as_ada)
        assert size(page) <= RESULT_LIMIT
        found += page["intents"]
        if "next_cursor" not in page:
            break
        cursor = {"cursor": page["next_cursor"]}

    assert [one["id"] for one in found] == [f"intent_{number}" for number in range(1, 46)]
    read, offset = "", 0
    while True:
        page = await ada.call(
            "list_board_intents", intent_id="intent_1", description_offset=offset, **as_ada
        )
        assert size(page) <= RESULT_LIMIT
        [one] = page["intents"]
        read += one["payload"]["description"]
        if "description_truncated" not in one:
            break
        offset = one["description_next_offset"]
    assert read == description
    assert page["intents"][0]["payload_hash"] == found[0]["payload_hash"]


# --- from a shell -------------------------------------------------------------------------------


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Path]:
    """A home with a room in which a worker has asked for two things."""
    home = tmp_path / "home"
    with Served(home) as chat:
        chat.call("join_room", name="workshop")
        registered = chat.call(
            "register_agent_session", registration_key="a key", room_id="workshop"
        )
        shown = {"worker_id": registered["worker_id"]}
        chat.call("set_board_manager_mode", manager_mode="intent_required", **shown)
        for title in ("Oil the gate", "Paint \u202e the gate"):
            chat.call("register_task_create_intent", title=title, **shown)
        yield home


def test_a_person_sees_what_waits_and_decides(workshop: Path) -> None:
    listed = run(workshop, "intents", "workshop")
    approved = run(workshop, "approve", "workshop", "intent_1")
    denied = run(workshop, "deny", "workshop", "intent_2", "--reason", "not today")
    left = run(workshop, "intents", "workshop")
    decided = [
        json.loads(line)
        for line in run(workshop, "intents", "workshop", "--all", "--json").stdout.splitlines()
    ]
    tail = run(workshop, "tail", "workshop", "--once").stdout

    assert "create the task “Oil the gate”" in listed.stdout
    assert "\u202e" not in listed.stdout
    assert approved.stdout == "intent_1 is approved: task_1 is on the board.\n"
    assert "intent_2 is denied" in denied.stdout
    assert left.stdout == "Nothing waits for a decision.\n"
    assert [one["status"] for one in decided] == ["used", "denied"]
    assert [one["decision_by"] for one in decided] == ["Grace", "Grace"]
    assert "intent_2 denied by Grace: “not today”" in tail


def test_a_person_who_names_no_intent_is_told_where_to_look(workshop: Path) -> None:
    for words in (("approve", "workshop", "intent_9"), ("deny", "workshop", "no\x1bthing")):
        done = run(workshop, *words)

        assert done.returncode == 1
        assert "letagents intents workshop" in done.stderr
        assert "\x1b" not in done.stderr
    assert run(workshop, "intents", "nowhere").returncode == 1
