"""The board as models and people see it: through the tools, and from a shell."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import shell
from tests.e2e.chats import ERAS, Chat, House, Served, living_in

from letagents.domain.bounds import RESULT_LIMIT
from letagents.wire.bounds import size

pytestmark = pytest.mark.anyio

SHA = "A" * 40


@pytest.fixture(params=ERAS)
async def house(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[House]:
    async with living_in(tmp_path, request.param) as house:
        yield house


async def worker(house: House, key: str) -> tuple[Chat, dict[str, str], dict[str, Any]]:
    """Return a chat, what it shows of its worker, and that worker's session."""
    chat = await house.chat("claude-code")
    await chat.call("join_room", name="workshop")
    registered = await chat.call("register_agent_session", registration_key=key, room_id="workshop")
    return chat, {"worker_id": str(registered["worker_id"])}, registered["agent_session"]


async def test_a_task_is_worked_on_by_one_and_reviewed_by_another(house: House) -> None:
    ada, as_ada, _ = await worker(house, "ada")
    bob, as_bob, bobs = await worker(house, "bob")
    added = await ada.call("add_task", title="Mend the roof", description="It leaks.", **as_ada)
    told = await ada.refused("claim_task", task_id="task_1", **as_ada)
    await bob.call("update_task", task_id="task_1", status="accepted", **as_bob)
    claimed = await ada.call("claim_task", task_id="task_1", **as_ada)
    refused = await bob.refused("claim_task", task_id="task_1", **as_bob)

    assert (added["success"], added["task"]["id"]) == (True, "task_1")
    assert "Invalid transition: proposed -> assigned. Allowed: accepted, cancelled." in told
    assert "update_task(task_id='task_1', status='accepted')" in told
    assert claimed["task"]["status"] == "assigned"
    [lease] = claimed["task"]["active_leases"]
    assert (lease["kind"], lease["epoch"], lease["is_held"]) == ("work", 1, True)
    assert claimed["agent_identity"]["actor_label"] == claimed["task"]["assignee"]
    assert claimed["task"]["assignee"] in refused
    assert "coordination_wrong_actor" in refused

    artifact = {"provider": "github", "kind": "pull_request", "number": 7}
    await ada.call(
        "update_task",
        task_id="task_1",
        status="in_progress",
        workflow_artifacts=[artifact],
        epoch=1,
        **as_ada,
    )
    await ada.call("complete_task", task_id="task_1", pr_url="https://x/1", **as_ada)
    review = await bob.call("claim_task_review", task_id="task_1", **as_bob)
    verdict = await bob.call(
        "submit_review_verdict",
        task_id="task_1",
        verdict="approve",
        expected_head_sha=SHA,
        idempotency_key="k",
        **as_bob,
    )
    [row] = (await bob.call("get_board"))["tasks"]

    assert review["lease"]["agent_key"] == bobs["agent_key"]
    assert (verdict["success"], verdict["effect"]["published"]) == (True, False)
    assert "publish nothing" in verdict["message"]
    assert row["workflow_artifacts"] == [artifact]
    assert [one["kind"] for one in row["active_leases"]] == ["work", "review"]
    done = await bob.call("update_task", task_id="task_1", status="merged", **as_bob)
    assert (done["task"]["status"], done["task"]["active_leases"]) == ("merged", [])


async def test_a_task_changes_hands(house: House) -> None:
    ada, as_ada, _ = await worker(house, "ada")
    bob, as_bob, bobs = await worker(house, "bob")
    await ada.call("add_task", title="Mend the roof", **as_ada)
    await ada.call("update_task", task_id="task_1", status="accepted", **as_ada)
    await ada.call("claim_task", task_id="task_1", **as_ada)
    moved = await ada.call(
        "handoff_task_lease", task_id="task_1", target_agent_key=bobs["agent_key"], **as_ada
    )
    again = await ada.refused("update_task", task_id="task_1", pr_url="https://x", **as_ada)
    released = await bob.call("release_task_lease", task_id="task_1", reason="no", **as_bob)

    assert moved["action"] == "handoff"
    assert moved["released_lease"]["status"] == "released"
    assert (moved["new_lease"]["epoch"], moved["task"]["status"]) == (2, "assigned")
    assert bobs["actor_label"] in again
    assert (released["released_lease"]["status"], released["task"]["status"]) == (
        "released",
        "accepted",
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("add_task", {"title": "  "}, "title"),
        ("add_task", {"title": "x" * 301}, "title"),
        ("add_task", {"title": "x", "description": "x" * 16_385}, "description"),
        ("add_task", {"title": "x", "source_message_id": "7"}, "source_message_id"),
        ("claim_task", {"task_id": "3"}, "task_id"),
        ("claim_task", {"task_id": "task_9"}, "task_id"),
        ("claim_task", {"task_id": "task_1", "board_approval_token": "no token"}, "token"),
        ("update_task", {"task_id": "task_1"}, "status"),
        ("update_task", {"task_id": "task_1", "status": "fine"}, "status"),
        ("update_task", {"task_id": "task_1", "pr_url": "a b"}, "pr_url"),
        (
            "update_task",
            {"task_id": "task_1", "workflow_artifacts": [{"provider": "github"}]},
            "kind",
        ),
        ("get_board", {"after": "x"}, "after"),
        ("submit_review_verdict",
         {"task_id": "task_1", "verdict": "approve", "expected_head_sha": "a" * 39,
          "idempotency_key": "k"}, "expected_head_sha"),
        ("submit_review_verdict",
         {"task_id": "task_1", "verdict": "approve", "expected_head_sha": "HEAD",
          "idempotency_key": "k"}, "expected_head_sha"),
        ("claim_task_review", {"task_id": "task_1", "reason": "x" * 2_001}, "reason"),
    ],
)  # fmt: skip
async def test_bad_input_is_refused_by_the_name_of_its_field(
    house: House, tool: str, arguments: dict[str, object], field: str
) -> None:
    ada, as_ada, _ = await worker(house, "ada")

    assert field in await ada.refused(tool, **arguments, **as_ada)
    assert (await ada.call("get_board"))["tasks"] == []


async def test_a_board_of_any_size_is_read_in_pieces(house: House) -> None:
    ada, as_ada, _ = await worker(house, "ada")
    for number in range(1, 61):
        await ada.call("add_task", title=f"{number} " + "ü" * 290, description="d" * 500, **as_ada)
    found: list[str] = []
    page: dict[str, Any] = {"next_after": None}
    while "next_after" in page:
        cursor = {"after": page["next_after"]} if page["next_after"] else {}
        page = await ada.call("get_board", **cursor)
        found += [row["id"] for row in page["tasks"]]
        assert size(page) <= 24 * 1024

    assert found == [f"task_{number}" for number in range(1, 61)]


async def test_a_task_of_any_size_is_read_whole(house: House) -> None:
    ada, as_ada, _ = await worker(house, "ada")
    described = "🦊" * 16_384
    added = await ada.call("add_task", title="Mend the roof", description=described, **as_ada)
    assert size(added) <= RESULT_LIMIT
    assert added["task"]["description_truncated"]

    read = added["task"]["description"]
    offset: int | None = added["task"]["description_next_offset"]
    while offset:
        [task] = (await ada.call("get_board", task_id="task_1", description_offset=offset))["tasks"]
        read += task["description"]
        offset = task.get("description_next_offset")
    assert read == described


async def test_a_waiting_agent_learns_of_a_task_that_it_is_given(house: House) -> None:
    ada, as_ada, _ = await worker(house, "ada")
    bob, as_bob, bobs = await worker(house, "bob")
    await ada.call("add_task", title="Mend the roof", **as_ada)
    await ada.call("update_task", task_id="task_1", status="accepted", **as_ada)
    offered = await bob.call("wait_for_messages", timeout=5000, **as_bob)
    await ada.call("claim_task", task_id="task_1", **as_ada)
    await ada.call(
        "handoff_task_lease", task_id="task_1", target_agent_key=bobs["agent_key"], **as_ada
    )
    heard = await bob.call(
        "wait_for_messages",
        after_message_id=offered["last_observed_message_id"],
        timeout=5000,
        **as_bob,
    )

    assert "[task] task_1 proposed → accepted" in offered["messages"][-1]["text"]
    assert bobs["agent_key"] in heard["messages"][-1]["text"]
    assert heard["messages"][-1]["activation"]["for_current_agent"]["decision"] == "activate"


def test_people_see_the_board_and_why_a_task_stands_as_it_does(tmp_path: Path) -> None:
    with Served(tmp_path) as ada:
        ada.call("join_room", name="workshop")
        session = ada.call("register_agent_session", registration_key="k", room_id="workshop")
        as_ada = {"worker_id": session["worker_id"]}
        ada.call("add_task", title="Mend the roof", **as_ada)
        ada.call("update_task", task_id="task_1", status="accepted", **as_ada)
        ada.call("claim_task", task_id="task_1", **as_ada)
        board = shell.run(tmp_path, "board", "workshop")
        as_json = shell.run(tmp_path, "board", "workshop", "--json")
        why = shell.run(tmp_path, "why", "workshop", "task_1")
    later = shell.run(tmp_path, "why", "workshop", "task_1", "--json")
    unknown = shell.run(tmp_path, "why", "workshop", "task_9")
    name = session["agent_session"]["display_name"]

    assert board.stdout.splitlines()[1].split() == [
        "task_1",
        "assigned",
        name,
        "Mend",
        "the",
        "roof",
    ]
    assert json.loads(as_json.stdout)["status"] == "assigned"
    assert "task_claim accepted -> assigned [work_lease_1, epoch 1]" in why.stdout
    assert "its process is there" in why.stdout
    assert f"{name} can set it to in_progress or in_review." in why.stdout
    *events, last = [json.loads(line) for line in later.stdout.splitlines()]
    assert [one["type"] for one in events] == ["task_admit", "task_override", "task_claim"]
    assert last["allowed"] == ["in_progress", "in_review", "cancelled"]
    assert (unknown.returncode, "Task not found" in unknown.stderr) == (1, True)
