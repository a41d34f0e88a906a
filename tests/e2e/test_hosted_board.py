"""The board of a room on a server, through the tools: two chats of two accounts, one server."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.e2e.chats import Served
from tests.e2e.served import served

Plain = dict[str, Any]

SHA = "a" * 40


@attrs.frozen
class Agent:
    """A chat with its worker in a room."""

    chat: Served
    worker_id: str
    session: Plain

    @classmethod
    def of(cls, chat: Served, name: str, room: str) -> "Agent":
        """Return the agent of that name, in a chat and a room."""
        chat.call("join_room", name=room)
        made = chat.call(
            "register_agent_session",
            registration_key=f"key of {name} in {room}",
            room_id=room,
            display_name=name,
        )
        return cls(chat, made["worker_id"], made["agent_session"])

    @property
    def at(self) -> Plain:
        """Who it is, and where."""
        return {"worker_id": self.worker_id, "room_id": self.session["room_id"]}

    def call(self, tool: str, **arguments: object) -> Plain:
        """Call a tool as the worker."""
        return self.chat.call(tool, **self.at, **arguments)

    def refused(self, tool: str, **arguments: object) -> str:
        """Return what the worker is told when a tool refuses."""
        return self.chat.refused(tool, **self.at, **arguments)


@pytest.fixture(scope="module")
def chats(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Served]]:
    """Yield a chat of the machine's owner and one of another account, on one server."""
    home = tmp_path_factory.mktemp("server")
    with served(home) as server:
        token = {"LETAGENTS_TOKEN": server.account("bob")}
        elsewhere = tmp_path_factory.mktemp("bob")
        with (
            Served(home, settings=server.settings) as own,
            Served(elsewhere, settings={**server.settings, **token}) as others,
        ):
            yield own, others


@pytest.fixture
def room(request: pytest.FixtureRequest) -> str:
    """Return a room of the test's own."""
    return str(request.node.name)


@pytest.fixture
def juniper(chats: tuple[Served, Served], room: str) -> Agent:
    """Return an agent of the machine's owner, who comes first and so is admin of the room."""
    return Agent.of(chats[0], "Juniper", room)


@pytest.fixture
def willow(chats: tuple[Served, Served], juniper: Agent, room: str) -> Agent:
    """Return an agent of another account."""
    return Agent.of(chats[1], "Willow", room)


def test_a_task_is_claimed_completed_and_reviewed_across_accounts(
    juniper: Agent, willow: Agent
) -> None:
    willow.call("add_task", title="Mend the quay", description="It crumbles.")
    forbidden = willow.refused("update_task", task_id="task_1", status="accepted")
    juniper.call("update_task", task_id="task_1", status="accepted")
    claimed = willow.call("claim_task", task_id="task_1")
    held = juniper.refused("claim_task", task_id="task_1")
    willow.call("complete_task", task_id="task_1", pr_url="https://example.com/pull/1")
    review = juniper.call("claim_task_review", task_id="task_1")
    verdict = juniper.call(
        "submit_review_verdict",
        task_id="task_1",
        verdict="approve",
        expected_head_sha=SHA,
        idempotency_key="k",
    )
    [row] = juniper.call("get_board")["tasks"]
    merged = juniper.call("update_task", task_id="task_1", status="merged")

    assert "admin_required" in forbidden
    assert claimed["task"]["assignee"] == willow.session["actor_label"]
    [lease] = claimed["task"]["active_leases"]
    assert (lease["kind"], lease["epoch"], lease["is_held"]) == ("work", 1, True)
    assert "coordination_wrong_actor" in held
    assert willow.session["display_name"] in held
    assert review["lease"]["agent_key"] == juniper.session["agent_key"]
    assert verdict["effect"]["state"] == "succeeded"
    assert [one["kind"] for one in row["active_leases"]] == ["work", "review"]
    assert merged["task"]["status"] == "merged"


def test_an_agent_asks_and_the_manager_approves_across_accounts(
    juniper: Agent, willow: Agent
) -> None:
    juniper.call("set_board_manager_mode", manager_mode="intent_required")
    juniper.call("assign_board_manager", agent_session_id=juniper.session["session_id"])
    refused = willow.refused("add_task", title="Mend the quay")
    asked = willow.call("register_task_create_intent", title="Mend the quay")
    approved = juniper.call("approve_board_intent", intent_id=asked["intent"]["id"])
    board = willow.call("get_board")

    assert "board_intent_required" in refused
    assert approved["result"]["kind"] == "task_created"
    assert [task["title"] for task in board["tasks"]] == ["Mend the quay"]


def test_paths_are_claimed_across_accounts(juniper: Agent, willow: Agent, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    subprocess.run(["git", "init", "--quiet", str(checkout)], check=True, timeout=20)
    for one, title in ((juniper, "Mend the quay"), (willow, "Paint the boat")):
        made = one.call("add_task", title=title)
        juniper.call("update_task", task_id=made["task"]["id"], status="accepted")
        one.call("claim_task", task_id=made["task"]["id"])
    where = {"cwd": str(checkout)}
    claimed = juniper.call("claim_paths", task_id="task_1", patterns=["src/"], **where)
    held = willow.refused("claim_paths", task_id="task_2", patterns=["src/quay.py"], **where)
    seen = willow.call("list_path_claims")
    juniper.call("release_paths", task_id="task_1")
    free = willow.call("claim_paths", task_id="task_2", patterns=["src/quay.py"], **where)

    assert claimed["claim"]["patterns"] == ["src"]
    assert "paths_held" in held
    assert juniper.session["display_name"] in held
    assert [one["task_id"] for one in seen["claims"]] == ["task_1"]
    assert free["claim"]["task_id"] == "task_2"
