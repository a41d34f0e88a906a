"""A person's word on a board, through the command line, and what agents hear of it."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import pytest
from tests.e2e import shell
from tests.e2e.chats import Served

from letagents.domain.governance import Failover, ManagerMode
from letagents.domain.locks import LockReason
from letagents.domain.orders import Order
from letagents.entrypoints.cli.commands import board, governance
from letagents.entrypoints.cli.main import main

ROOM = "workshop"
Saying: TypeAlias = Callable[..., str]


@attrs.define
class Agent:
    """An agent's process, and its worker in the room."""

    chat: Served
    shown: dict[str, str]
    heard: str | None = None

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        return self.chat.call(tool, **arguments, **self.shown)

    def refused(self, tool: str, **arguments: object) -> str:
        return self.chat.refused(tool, **arguments, **self.shown)

    def hears(self) -> tuple[str, str]:
        """Wait for what comes next; return the last of it, and what the agent is to do."""
        after = {"after_message_id": self.heard} if self.heard else {}
        waited = self.call("wait_for_messages", timeout=30_000, **after)
        self.heard = waited["last_observed_message_id"]
        last = waited["messages"][-1]
        return last["text"], last["activation"]["for_current_agent"]["decision"]


def joined(chat: Served, name: str) -> Agent:
    chat.call("join_room", name=ROOM)
    registered = chat.call(
        "register_agent_session", registration_key=name, room_id=ROOM, display_name=name
    )
    return Agent(chat, {"worker_id": registered["worker_id"]})


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in shell.environment(tmp_path / "home").items():
        monkeypatch.setenv(name, value)
    return tmp_path / "home"


@pytest.fixture
def ada(home: Path) -> Iterator[Agent]:
    with Served(home) as chat:
        yield joined(chat, "Ada")


@pytest.fixture
def ben(home: Path, ada: Agent) -> Iterator[Agent]:
    with Served(home) as chat:
        yield joined(chat, "Ben")


@pytest.fixture
def say(capfd: pytest.CaptureFixture[str]) -> Saying:
    """Return what a command prints that succeeds, or with `refused` what it complains of."""

    def said(*words: str, refused: bool = False) -> str:
        capfd.readouterr()
        assert main(words) == int(refused)
        printed = capfd.readouterr()
        return printed.err if refused else printed.out

    return said


def test_what_can_be_chosen_is_what_there_is() -> None:
    assert tuple(board.MOVES) == tuple(one.value for one in Order)
    assert tuple(one.value for one in ManagerMode) == governance.MODES
    assert tuple(one.value for one in Failover) == governance.FAILOVERS
    assert tuple(one.value for one in LockReason) == board.KINDS


def test_a_person_adds_a_task_once_and_says_what_becomes_of_it(home: Path, say: Saying) -> None:
    shell.run(home, "send", "--create", ROOM, "Hello")
    words = ("task", "add", ROOM, "Mend", "--description", "-", "the", "roof", "--key", "k")
    added = shell.run(home, *words, given=b"It leaks.\n")
    again = shell.run(home, *words, given=b"It leaks.\n")
    other = say("task", "add", ROOM, "Else", "--key", "k", refused=True)

    assert added.stdout == again.stdout == "task_1 is accepted: Mend the roof\n"
    assert "Pass another --key for another task" in other
    [task] = [json.loads(line) for line in say("board", ROOM, "--json").splitlines()]
    assert (task["description"], task["created_by"]) == ("It leaks.", "Grace")

    assert say("task", "cancel", ROOM, "task_1") == "task_1 is cancelled: Mend the roof\n"
    assert say("board", ROOM).startswith("There is no open task here.")
    assert say("task", "reopen", ROOM, "task_1", "--as", "Hopper").startswith("task_1 is accepted")
    *events, standing = [
        json.loads(line) for line in say("why", ROOM, "task_1", "--json").splitlines()
    ]
    assert [one["actor"] for one in events] == ["Grace", "Grace", "Hopper"]
    assert standing["allowed"] == ["assigned", "cancelled"]
    assert "You can say, as VERB of `letagents task`: cancel, assign." in say("why", ROOM, "task_1")
    tail = say("tail", ROOM, "--once")
    assert "[task] task_1 cancelled → accepted by Hopper: Mend the roof" in tail


def test_a_refused_word_names_those_that_are_open_and_changes_nothing(
    ada: Agent, say: Saying
) -> None:
    ada.call("add_task", title="Mend the roof")
    before = say("why", ROOM, "task_1", "--json")
    told = say("task", "done", ROOM, "task_1", refused=True)
    late = say("task", "reopen", ROOM, "task_1", refused=True)

    assert "Invalid transition: proposed -> done. Allowed: accepted, cancelled." in told
    assert "`letagents task VERB workshop task_1` with accept or cancel as its VERB" in told
    assert "task_1 is proposed, and not merged or done or cancelled." in late
    assert say("why", ROOM, "task_1", "--json") == before
    say("task", "cancel", ROOM, "task_1")
    only = say("task", "accept", ROOM, "task_1", refused=True)
    assert "What can follow: `letagents task reopen workshop task_1`." in only


def test_who_works_on_a_task_hears_what_a_person_does_to_it(
    ada: Agent, ben: Agent, say: Saying
) -> None:
    ada.call("add_task", title="Mend the roof")
    say("task", "accept", ROOM, "task_1")
    assert ben.hears()[1] == "unclear"
    assert say("task", "assign", ROOM, "task_1", "ada") == (
        "task_1 is assigned, and Ada is on it: Mend the roof\n"
    )
    assert ada.hears()[1] == "activate"
    ada.call("update_task", task_id="task_1", status="in_progress")
    say("task", "assign", ROOM, "task_1", "@Ben", "--reason", "he knows roofs")
    assert (ada.hears()[1], ben.hears()[1]) == ("activate", "activate")
    assert "Ben" in ada.refused("update_task", task_id="task_1", status="in_progress")

    ben.call("complete_task", task_id="task_1")
    assert "task assign --review workshop task_1 AGENT" in say(
        "task", "merged", ROOM, "task_1", refused=True
    )
    assert "Ben is on task_1" in say(
        "task", "assign", "--review", ROOM, "task_1", "Ben", refused=True
    )
    reviewed = say("task", "assign", "--review", ROOM, "task_1", "Ada")
    assert reviewed == "task_1 is in_review, and Ada reviews it: Mend the roof\n"
    assert "review given to Ada by Grace" in ada.hears()[0]
    taken = say("task", "assign", "--review", ROOM, "task_1", "Ben", refused=True)
    assert "Ben is on task_1" in taken
    assert say("task", "merged", ROOM, "task_1") == "task_1 is merged: Mend the roof\n"
    say("task", "reopen", ROOM, "task_1")
    ben.call("claim_task", task_id="task_1")
    assert "task_1 is accepted" in say("task", "release", ROOM, "task_1", "--reason", "not now")
    text, decision = ben.hears()
    assert ("assigned → accepted by Grace" in text, decision) == (True, "activate")
    assert "(not now)" in say("why", ROOM, "task_1")
    nobody = say("task", "assign", ROOM, "task_1", "Eve", refused=True)
    assert "Name one of these: Ada, Ben." in nobody


def test_a_task_is_not_given_to_an_agent_that_is_gone(ada: Agent, ben: Agent, say: Saying) -> None:
    say("task", "add", ROOM, "Mend the roof")
    ben.chat.process.kill()
    ben.chat.close()

    for words in (("task", "assign", ROOM, "task_1", "Ben"), ("manager", ROOM, "Ben")):
        told = say(*words, refused=True)
        assert "is not there: its process has ended" in told
        assert "`letagents manager workshop` lists who is there" in told
    rows = [line.split()[:3] for line in say("manager", ROOM).splitlines()]
    assert rows == [["AGENT", "THERE", "MANAGES"], ["Ada", "yes", "-"], ["Ben", "gone", "-"]]


def test_a_lock_stops_an_agent_which_hears_of_it_and_of_its_end(ada: Agent, say: Saying) -> None:
    say("task", "add", ROOM, "Mend the roof")
    ada.call("claim_task", task_id="task_1")
    assert say("lock", ROOM, "task_1", "--reason", "the rain") == "lock_1 stops task_1.\n"
    assert say("lock", ROOM, "task_1", "--reason", "the rain") == "lock_1 stops task_1.\n"
    text, decision = ada.hears()
    stopped = ada.refused("update_task", task_id="task_1", status="in_progress")

    assert ("task_1 locked by Grace (the rain)" in text, decision) == (True, "activate")
    assert "task_1 is locked by Grace (human_stop): the rain" in stopped
    assert "assigned (locked)" in say("board", ROOM)
    assert "lock_1 stops this task (human_stop, by Grace): the rain" in say("why", ROOM, "task_1")
    [row] = ada.call("get_board")["tasks"]
    assert [one["id"] for one in row["active_locks"]] == ["lock_1"]

    assert say("lock", ROOM, "--board", "--kind", "policy") == "lock_2 stops the whole board.\n"
    assert ada.hears()[1] == "unclear"
    assert "board is locked" in ada.refused("add_task", title="Oil the gate")
    told = say("task", "add", ROOM, "Oil the gate", refused=True)
    assert "`letagents unlock workshop --board`" in told
    assert say("board", ROOM).startswith("lock_2 stops the whole board (policy, by Grace)\n")

    assert say("unlock", ROOM, "--board") == "lock_2 does not stop the whole board any more.\n"
    assert say("unlock", ROOM, "task_1") == "lock_1 does not stop task_1 any more.\n"
    assert ada.hears()[1] == "activate"
    ada.call("update_task", task_id="task_1", status="in_progress")
    assert "`letagents board workshop`" in say("unlock", ROOM, "task_1", refused=True)


def test_a_person_governs_a_board(ada: Agent, ben: Agent, say: Saying) -> None:
    before = say("approvals", ROOM)
    changed = say("approvals", ROOM, "--mode", "intent_required", "--failover", "announce")
    ada.call("register_task_create_intent", title="Oil the gate")
    named = say("manager", ROOM, "ben")
    heard = ben.hears()
    told, *acts = map(json.loads, say("approvals", ROOM, "--history", "--json").splitlines())
    found = [json.loads(line) for line in say("manager", ROOM, "--json").splitlines()]
    ben.call("approve_board_intent", intent_id="intent_1")
    released = say("manager", ROOM, "--release", "--reason", "lunch")

    assert "mode      manager_optional:" in before
    assert "manager   nobody" in before
    assert "mode      intent_required: agents need approvals always" in changed
    assert "failover  announce:" in changed
    assert named == "Ben manages the board.\n"
    assert ("manages the board now, assigned by Grace" in heard[0], heard[1]) == (True, "activate")
    assert told["settings"]["updated_by"] == "Grace"
    assert told["active_manager"]["assigned_by"] == "Grace"
    assert told["pending_intent_count"] == 1
    assert [(one["display_name"], one["manages"], one["is_there"]) for one in found] == [
        ("Ada", False, True),
        ("Ben", True, True),
    ]
    assert [one["type"] for one in acts] == ["board_manager_assigned", "board_settings_changed"]
    assert {one["actor"] for one in acts} == {"Grace"}
    assert released == "Ben does not manage the board any more.\n"
    assert "Grace: manager released Ben" in say("approvals", ROOM, "--history")
    assert say("manager", ROOM, "--release") == "Nobody manages the board.\n"
    said = say("tail", ROOM, "--once")
    assert "[board] When the manager is gone: auto → announce, set by Grace." in said
    assert "released by Grace: “lunch”" in said


WRONG = [
    (("task", "add", ROOM, "x" * 301), "TITLE"),
    (("task", "add", ROOM, "x", "--description", "x" * 16_385), "--description"),
    (("task", "add", ROOM, "x", "--key", "k" * 201), "--key"),
    (("task", "add", ROOM, "x", "--source", "msg_9"), "--source"),
    (("task", "cancel", ROOM, "3"), "TASK"),
    (("task", "cancel", ROOM, "task_1", "--as", "a|b"), "--as"),
    (("task", "release", ROOM, "task_1", "--reason", "x" * 2_001), "--reason"),
    (("lock", ROOM, "task_1", "--reason", "x" * 2_001), "--reason"),
    (("lock", ROOM, "3"), "TASK"),
    (("unlock", ROOM, "3"), "TASK"),
    (("manager", ROOM, "--release", "--reason", "x" * 2_001), "--reason"),
]


def test_bad_input_is_refused_by_the_name_of_its_field(home: Path, say: Saying) -> None:
    main(["send", "--create", ROOM, "Hello"])
    say("task", "add", ROOM, "Mend the roof")
    before = say("tail", ROOM, "--once"), say("why", ROOM, "task_1", "--json")
    for words, field in WRONG:
        happened, remedy = say(*words, refused=True).splitlines()
        assert field in happened + remedy, happened

    assert (say("tail", ROOM, "--once"), say("why", ROOM, "task_1", "--json")) == before


@pytest.mark.parametrize(
    "words",
    [
        ("task",),
        ("task", ROOM, "task_1", "accept"),
        ("task", "add", ROOM),
        ("lock", ROOM),
        ("lock", ROOM, "task_1", "--board"),
        ("lock", ROOM, "task_1", "--kind", "whim"),
        ("unlock", ROOM),
        ("approvals", ROOM, "--mode", "on"),
        ("manager", ROOM, "Ada", "--release"),
    ],
    ids=" ".join,
)
def test_what_is_no_command_is_not_understood(words: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as left:
        main(words)

    assert left.value.code == 2
