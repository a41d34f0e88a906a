"""What a room remembers, as a model and a person at a shell use it: real processes, pipes."""

import json
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.e2e.chats import Chat, House, Served, living_in
from tests.e2e.served import served as server
from tests.e2e.shell import run

from letagents.testing.determinism import ManualClock
from letagents.wire.bounds import size

RESULT_LIMIT = 40_000
FACT: dict[str, Any] = {
    "client_id": "tabs_or_spaces",
    "category": "decision",
    "title": "We use tabs",
    "body": "All of us,\nand always.",
}
REQUEST: dict[str, Any] = {
    "client_id": "how_wide",
    "category": "question",
    "title": "How wide is a tab?",
    "body": "Four or eight?",
    "recommendation": "Four.",
    "unblocks": "The formatter.",
}
PULL: dict[str, Any] = {"provider": "github", "kind": "pull_request", "number": 7}


@attrs.frozen
class Desk:
    """A worker's own process in a home, and what a person types there."""

    home: Path
    served: Served
    worker_id: str
    settings: dict[str, str]

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        return self.served.call(tool, worker_id=self.worker_id, **arguments)

    def refused(self, tool: str, **arguments: object) -> str:
        return self.served.refused(tool, worker_id=self.worker_id, **arguments)

    def typed(self, *words: str, given: bytes = b"") -> str:
        done = run(self.home, *words, given=given, settings=self.settings)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def complained(self, *words: str) -> str:
        done = run(self.home, *words, settings=self.settings)
        assert done.returncode == 1, done.stdout
        return done.stderr


HERE, THERE = "on this machine", "on a server"
everywhere = pytest.mark.parametrize("settings", [HERE, THERE], indirect=True)


@pytest.fixture
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, str]]:
    if getattr(request, "param", HERE) == HERE:
        yield {}
        return
    with server(tmp_path / "home") as running:
        yield running.settings


@pytest.fixture
def desk(tmp_path: Path, settings: dict[str, str]) -> Iterator[Desk]:
    home = tmp_path / "home"
    with Served(home, settings=settings) as served:
        served.call("join_room", name="workshop")
        registered = served.call(
            "register_agent_session",
            registration_key="a key",
            room_id="workshop",
            display_name="MossDawn",
        )
        yield Desk(home, served, registered["worker_id"], settings)


@everywhere
def test_a_fact_is_kept_once_for_all_who_come_later(desk: Desk) -> None:
    made = desk.call("remember_room_fact", **FACT)["record"]
    again = desk.call("remember_room_fact", **FACT)["record"]
    told = desk.refused("remember_room_fact", **{**FACT, "title": "We use spaces"})

    assert again == made
    assert "[conflict]" in told
    with Served(desk.home, settings=desk.settings) as later:
        later.call("join_room", name="workshop")
        found = later.call("get_room_memory")
    assert found == {"room_id": "workshop", "records": [made], "truncated": False}
    assert (made["type"], made["version"], made["archived"]) == ("memory", 1, False)
    assert made["author"]["kind"] == "agent"
    assert "MossDawn" in made["author"]["label"]


@everywhere
def test_a_person_looks_after_the_facts(desk: Desk) -> None:
    desk.call("remember_room_fact", **FACT)
    assert desk.typed("memory", "workshop").splitlines()[0] == "We use tabs"

    assert "is archived" in desk.typed("memory", "workshop", "--archive", FACT["client_id"])
    assert "Nobody has kept" in desk.typed("memory", "workshop")
    [fact] = map(json.loads, desk.typed("memory", "workshop", "--all", "--json").splitlines())
    assert (fact["archived"], fact["version"]) == (True, 2)
    desk.typed("memory", "workshop", "--restore", FACT["client_id"])

    history = desk.typed("memory", "workshop", "--history", FACT["client_id"], "--json")
    assert [json.loads(line)["version"] for line in history.splitlines()] == [3, 2, 1]
    assert "has version 4" in desk.typed(
        "memory", "workshop", "--revise", FACT["client_id"], "--title", "We use spaces"
    )
    [found] = desk.call("get_room_memory")["records"]
    assert (found["archived"], found["updated_by"]["kind"]) == (False, "human")
    assert (found["title"], found["body"]) == ("We use spaces", FACT["body"])
    told = desk.complained("memory", "workshop", "--revise", FACT["client_id"], "--body", " ")
    assert "body" in told


@everywhere
def test_a_person_answers_and_the_agent_that_waits_is_told(desk: Desk) -> None:
    record = desk.call("request_human_input", **REQUEST)["record"]
    assert record["response"] is None
    newest = desk.served.call("read_messages", limit=1)["messages"][-1]
    asked = desk.typed("requests", "workshop")
    assert "How wide is a tab?" in asked
    assert "recommends: Four." in asked

    waiting = desk.served.begin(
        "wait_for_messages",
        worker_id=desk.worker_id,
        after_message_id=newest["id"],
        timeout=20_000,
    )
    typed = desk.typed("answer", "workshop", "how_wide", "Four", "spaces.", "--as", "Grace")
    heard = desk.served.answer(waiting)["result"]["structuredContent"]

    assert "the room tells MossDawn" in typed
    [said] = heard["messages"]
    _, _, rest = said["text"].partition("\n\n")
    assert rest == "Human response (how_wide):\n\nFour spaces."
    assert said["activation"]["for_current_agent"]["decision"] == "activate"
    [found] = desk.call("get_human_requests")["records"]
    assert found["response"]["body"] == "Four spaces."
    assert found["response"]["actor"]["kind"] == "human"
    assert "Nothing waits" in desk.typed("requests", "workshop")
    assert "was answered before" in desk.complained("answer", "workshop", "how_wide", "Eight")


def test_what_is_answered_through_a_pipe_keeps_its_lines(desk: Desk) -> None:
    desk.call("request_human_input", **REQUEST)
    words = ("answer", "workshop", "how_wide", "-")

    desk.typed(*words, given=b"Four.\nWhy?\n")
    [found] = desk.call("get_human_requests")["records"]
    assert found["response"]["body"] == "Four.\nWhy?"


@everywhere
def test_guidelines_are_set_by_people_and_read_by_agents(desk: Desk, tmp_path: Path) -> None:
    assert desk.call("get_room_guidelines")["guidelines"] is None
    page = tmp_path / "guidelines.md"
    page.write_text("Write tests.\n", "utf-8")

    assert desk.typed("guidelines", "workshop", "--set", str(page)) == "Write tests.\n"
    found = desk.call("get_room_guidelines")
    assert (found["guidelines"], found["max_bytes"]) == ("Write tests.", 8000)
    assert (found["inherited_from_room_id"], found["can_manage"]) == (None, False)

    page.write_text("x" * 8001, "utf-8")
    ordered = desk.typed("guidelines", "workshop", "--replies", "sequential")
    assert ordered.endswith("one after another)\nWrite tests.\n")
    assert desk.call("get_room_guidelines")["agent_reply_order"] == "sequential"
    assert "8,001 bytes" in desk.complained("guidelines", "workshop", "--set", str(page))
    page.write_bytes(b"\xff")
    assert "is no UTF-8" in desk.complained("guidelines", "workshop", "--set", str(page))
    assert "cannot be read" in desk.complained("guidelines", "workshop", "--set", "/no/file")
    desk.typed("guidelines", "workshop", "--set", "-", given=b"")
    assert desk.call("get_room_guidelines")["guidelines"] is None


@everywhere
def test_an_artifact_is_shared_once_and_found_by_its_task(desk: Desk) -> None:
    desk.call("publish_room_artifact", artifact={**PULL, "title": "Gears"})
    again = desk.call("publish_room_artifact", artifact={**PULL, "state": "merged"})["artifact"]
    told = desk.refused("publish_room_artifact", artifact=PULL, task_id="task_9")

    assert (again["title"], again["state"]) == ("Gears", "merged")
    assert "task_9" in told
    found = desk.call("get_room_artifacts")
    assert found == {"success": True, "room_id": "workshop", "artifacts": [again]}
    nameless = {"provider": "github", "kind": "branch"}
    assert "at least one stable identity" in desk.refused(
        "publish_room_artifact", artifact=nameless
    )


def test_a_room_of_this_machine_says_why_it_has_no_events(desk: Desk) -> None:
    found = desk.call("get_room_events", event_type="push", limit=5)

    assert (found["events"], found["has_more"]) == ([], False)
    assert "hosted rooms" in found["note"]
    assert "until" in desk.refused(
        "get_room_events", since="2030-01-02T00:00:00Z", until="2030-01-01T00:00:00Z"
    )


@everywhere
def test_reasoning_is_replaced_and_a_milestone_is_said(desk: Desk) -> None:
    first = desk.call("post_reasoning", summary="Looking", confidence=0.333)
    second = desk.call("post_reasoning", summary="Found it", milestone="The gear was loose")
    blank = desk.call("post_reasoning", summary="  ")

    assert first["milestone_message_id"] is None
    assert first["update"]["payload"]["confidence"] == 0.33
    assert second["session"]["id"] == first["session"]["id"]
    assert second["session"]["summary"] == "Found it"
    [said] = desk.served.call("read_messages")["messages"]
    assert said["id"] == second["milestone_message_id"]
    assert said["text"] == "[milestone] The gear was loose"
    assert blank == {"success": False, "error": "summary is required"}


def test_a_rule_on_github_is_kept_and_said_to_be_in_vain(desk: Desk) -> None:
    made = desk.call("add_wake_rule", event="github.pr_closed", arguments={"pr": 7})
    listed = desk.call("list_wake_rules")

    assert "never wake you here" in made["note"]
    assert listed["active"] == [made["rule"]]
    gone = desk.call("cancel_wake_rule", rule_id=made["rule"]["id"])["rule"]
    assert gone["status"] == "cancelled"
    assert desk.call("list_wake_rules")["recent"] == [gone]


def test_a_rule_asked_for_badly_is_refused_by_the_argument(desk: Desk) -> None:
    wrong = [
        ("timer", {"after_ms": 5}, "arguments.after_ms"),
        ("timer", {"at": "tomorrow"}, "arguments.at"),
        ("timer", {"at": "2030-01-01T00:00:00Z", "after_ms": 60_000}, "arguments"),
        ("task.status_changed", {"task_id": "3"}, "arguments.task_id"),
        ("task.status_changed", {"task_id": "task_3", "to": ["ready"]}, "arguments.to"),
        ("task.status_changed", {"task_id": "task_3"}, "task_id"),
        ("github.check_completed", {"branch": "main", "pr": 3}, "arguments"),
        ("github.pr_closed", {"mine": "yes"}, "arguments.mine"),
    ]

    for event, arguments, field in wrong:
        told = desk.refused("add_wake_rule", event=event, arguments=arguments)
        assert field in told
        assert "[internal_error]" not in told
    assert desk.call("list_wake_rules")["active"] == []


@everywhere
def test_a_task_that_another_process_hands_over_wakes_who_waits_for_it(desk: Desk) -> None:
    desk.call("add_task", title="Mend the gear")
    desk.call("update_task", task_id="task_1", status="accepted")
    wanted = {"task_id": "task_1", "to": ["in_review"]}
    rule = desk.call("add_wake_rule", event="task.status_changed", arguments=wanted)["rule"]
    newest = desk.served.call("read_messages", limit=1)["messages"][-1]["id"]

    with Served(desk.home, settings=desk.settings) as other:
        other.call("join_room", name="workshop")
        elm = other.call("register_agent_session", registration_key="another", room_id="workshop")[
            "worker_id"
        ]
        other.call("claim_task", worker_id=elm, task_id="task_1")
        other.call("complete_task", worker_id=elm, task_id="task_1")
    heard = desk.call("wait_for_messages", after_message_id=newest, timeout=20_000)

    [told] = [one for one in heard["messages"] if one["source"] == "wake_rule"]
    assert f"{rule['id']}: task_1 went from assigned to in_review." in told["text"]
    assert told["activation"]["for_current_agent"]["decision"] == "activate"
    assert "already_so" in desk.refused(
        "add_wake_rule", event="task.status_changed", arguments=wanted
    )


# --- in this process, where time is told ---------------------------------------------------------


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def house(tmp_path: Path, clock: ManualClock) -> AsyncIterator[House]:
    async with living_in(tmp_path, clock=clock) as house:
        yield house


async def worker(chat: Chat) -> str:
    await chat.call("join_room", name="workshop")
    registered = await chat.call(
        "register_agent_session", registration_key="a key", room_id="workshop"
    )
    return str(registered["worker_id"])


async def test_a_timer_ends_the_wait_of_who_set_it(house: House, clock: ManualClock) -> None:
    chat = await house.chat()
    me = await worker(chat)
    made = await chat.call(
        "add_wake_rule", worker_id=me, event="timer", arguments={"after_ms": 60_000}, note="Tea."
    )
    clock.pass_by(timedelta(minutes=1))

    heard = await chat.call("wait_for_messages", worker_id=me, timeout=20_000)
    [said] = heard["messages"]
    assert said["source"] == "wake_rule"
    assert said["text"].endswith("Your note: Tea.")
    assert made["rule"]["id"] in said["text"]


async def test_no_list_is_larger_than_a_result_and_cursors_find_all(house: House) -> None:
    chat = await house.chat()
    me = await worker(chat)
    for number in range(12):
        fact = {**FACT, "client_id": f"fact_{number:04d}", "body": "ü" * 7_000}
        await chat.call("remember_room_fact", worker_id=me, **fact)

    found: list[str] = []
    more: dict[str, object] = {}
    while True:
        page = await chat.call("get_room_memory", worker_id=me, **more)
        assert size(page) <= RESULT_LIMIT
        found += [record["id"] for record in page["records"]]
        if not page["truncated"]:
            break
        more = {"cursor": page["next_cursor"]}
    assert found == [f"fact_{number:04d}" for number in reversed(range(12))]
    assert "cursor" in await chat.refused("get_room_memory", worker_id=me, cursor="fact_9999")


async def test_the_largest_record_fits_into_a_result(house: House, tmp_path: Path) -> None:
    chat = await house.chat()
    me = await worker(chat)
    largest = {
        **REQUEST,
        "title": "\U0001f9ed" * 160,
        "body": "\U0001f9ed" * 3_050 + '"\n' * 2_000,
        "recommendation": '"' * 2_000,
        "unblocks": '"' * 500,
    }
    await chat.call("request_human_input", worker_id=me, **largest)
    typed = run(tmp_path, "answer", "workshop", "how_wide", '"' * 4_400)

    assert typed.returncode == 0, typed.stderr
    assert size(await chat.call("get_human_requests", worker_id=me)) <= RESULT_LIMIT
    too_large = {**largest, "client_id": "too_large", "body": "\U0001f9ed" * 8_000}
    assert "bytes are too many" in await chat.refused(
        "request_human_input", worker_id=me, **too_large
    )
