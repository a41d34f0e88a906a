"""Several processes of one machine, over pipes: who is heard, who waits, and who comes back."""

import signal
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from tests.e2e.chats import ERAS, Served, posix

LONG = 120_000
"""Milliseconds of a wait that no test is patient enough for."""


class Machine:
    """One home, in which any number of processes are started."""

    def __init__(self, home: Path, era: str) -> None:
        self.home = home
        self.era = era
        self.started = ExitStack()

    def start(self) -> Served:
        served = self.started.enter_context(Served(self.home, self.era))
        served.call("join_room", name="workshop")
        return served


in_both_eras = pytest.mark.parametrize("machine", ERAS, indirect=True)


@pytest.fixture
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path, getattr(request, "param", ERAS[0]))
    with machine.started:
        yield machine


def registered(served: Served, **proof: object) -> str:
    session = served.call("register_agent_session", room_id="workshop", **proof)
    return str(session["worker_id"])


def test_a_process_whose_worker_is_taken_over_is_refused_and_told_the_way_back(
    machine: Machine,
) -> None:
    old, new = machine.start(), machine.start()
    worker_id = registered(old, registration_key="a key", display_name="Juniper")
    old.call("send_message", worker_id=worker_id, text="from the old one")
    assert registered(new, registration_key="a key") == worker_id
    for _ in range(2):
        told = old.refused("send_message", worker_id=worker_id, text="from the old one still")
        assert "a newer process holds its connection now" in told
        assert f"register_agent_session(worker_id='{worker_id}', room_id='workshop')" in told
    said = new.call("send_message", worker_id=worker_id, text="from the new one")

    assert (said["id"], said["sender"][:10]) == ("msg_2", "Juniper | ")
    assert registered(old, worker_id=worker_id) == worker_id
    assert old.call("send_message", worker_id=worker_id, text="back")["id"] == "msg_3"
    assert "[connection_replaced]" in new.refused("read_messages", worker_id=worker_id)


@pytest.mark.skipif(not posix, reason="Windows knows no SIGKILL")
def test_a_killed_process_comes_back_by_its_handle_as_what_it_was(machine: Machine) -> None:
    killed = machine.start()
    before = killed.call(
        "register_agent_session",
        room_id="workshop",
        registration_key="a key",
        display_name="Juniper",
    )
    worker_id = before["worker_id"]
    killed.call("send_message", worker_id=worker_id, text="one")
    killed.process.send_signal(signal.SIGKILL)
    killed.process.wait()
    back = machine.start()
    assert "this process has not connected it" in back.refused(
        "send_message", worker_id=worker_id, text="too early"
    )
    after = back.call("register_agent_session", room_id="workshop", worker_id=worker_id)

    for same in ("session_id", "display_name", "agent_key", "created_at"):
        assert after["agent_session"][same] == before["agent_session"][same]
    assert back.call("send_message", worker_id=worker_id, text="two")["id"] == "msg_2"


def test_two_processes_that_register_one_handle_at_once_leave_one_that_is_heard(
    machine: Machine,
) -> None:
    one, other = machine.start(), machine.start()
    worker_id = registered(one, registration_key="a key")
    for _ in range(5):
        calls = [
            (
                served,
                served.begin("register_agent_session", worker_id=worker_id, room_id="workshop"),
            )
            for served in (one, other)
        ]
        for served, number in calls:
            served.answer(number)
        answers = [
            served.answer(served.begin("send_message", worker_id=worker_id, text="me"))["result"]
            for served in (one, other)
        ]

        assert [answer["isError"] for answer in answers].count(False) == 1


def test_a_message_ends_the_wait_of_another_process(machine: Machine) -> None:
    waiting, speaking = machine.start(), machine.start()
    ada, ben = registered(waiting, registration_key="a"), registered(speaking, registration_key="b")
    first = speaking.call("send_message", worker_id=ben, text="@everyone hello")
    number = waiting.begin(
        "wait_for_messages", worker_id=ada, after_message_id=first["id"], timeout=LONG
    )
    waiting.call("get_current_room")
    speaking.call("send_message", worker_id=ben, text="@everyone go")
    heard = waiting.answer(number)["result"]["structuredContent"]

    assert [message["text"] for message in heard["messages"]] == ["@everyone go"]
    assert heard["last_observed_message_id"] == "msg_2"


def test_a_waiter_is_told_when_another_process_takes_its_worker(machine: Machine) -> None:
    waiting, rival = machine.start(), machine.start()
    worker_id = registered(waiting, registration_key="a key")
    number = waiting.begin("wait_for_messages", worker_id=worker_id, timeout=LONG)
    waiting.call("get_current_room")
    registered(rival, registration_key="a key")
    result = waiting.answer(number)["result"]

    assert result["isError"] is True
    assert "[connection_replaced]" in result["content"][0]["text"]


@in_both_eras
def test_eight_calls_at_once_are_all_answered(machine: Machine) -> None:
    served = machine.start()
    worker_id = registered(served, registration_key="a key")
    served.call("register_agent_session")
    sends = [
        served.begin("send_message", worker_id=worker_id, text=str(number)) for number in range(4)
    ]
    reads = [served.begin("read_messages", worker_id=worker_id) for _ in range(2)]
    plain = [served.begin("send_message", text=f"plain {number}") for number in range(2)]
    results = [served.answer(number)["result"] for number in [*reads, *plain, *sends]]

    assert not any(result["isError"] for result in results), results
    page = served.call("read_messages")["messages"]
    assert [message["id"] for message in page] == [f"msg_{number}" for number in range(1, 7)]
    senders = {message["sender"] for message in page if message["text"].startswith("plain")}
    assert len(senders) == 1, "calls that show nothing are one chat's"


@in_both_eras
def test_a_call_that_is_cut_off_frees_the_process_at_once(machine: Machine) -> None:
    """As clients do that give a call 60 seconds: the wait was to last two minutes."""
    served = machine.start()
    worker_id = registered(served, registration_key="a key")
    served.call("wait_for_messages", worker_id=worker_id, timeout=1000)
    before = _sockets(served)
    for _ in range(3):
        waits = [
            served.begin("wait_for_messages", worker_id=worker_id, timeout=LONG) for _ in range(8)
        ]
        served.call("get_current_room")
        for number in waits:
            served.cancel(number)
        assert served.call("send_message", worker_id=worker_id, text="hi")["room_id"] == "workshop"

    while _sockets(served) > before:
        served.call("get_current_room")
    heard = served.call("wait_for_messages", worker_id=worker_id, timeout=1000)
    assert len(heard["messages"]) + heard.get("skipped_message_count", 0) == 3, "nothing was taken"


def _sockets(served: Served) -> int:
    """How many sockets a process has open: each wait has one, by which others wake it."""
    if sys.platform != "linux":
        return 0
    opened = Path(f"/proc/{served.process.pid}/fd").iterdir()
    return sum(1 for one in opened if one.readlink().match("socket:*"))


@in_both_eras
def test_a_process_leaves_in_the_middle_of_a_wait(machine: Machine) -> None:
    served = machine.start()
    served.begin("wait_for_messages", timeout=LONG)
    served.call("get_current_room")

    assert served.close() == 0


def test_a_room_is_kept_when_all_processes_have_left(machine: Machine) -> None:
    first = machine.start()
    worker_id = registered(first, registration_key="a key")
    first.call("send_message", worker_id=worker_id, text="kept")
    assert first.close() == 0
    second = machine.start()
    resumed = second.call("resume_room_session")

    assert resumed["room"]["room_id"] == "workshop"
    assert resumed["last_message_id_before_restart"] == "msg_1"
    assert [message["text"] for message in second.call("read_messages")["messages"]] == ["kept"]


def test_a_process_that_was_blocked_while_its_worker_was_replaced_writes_nothing(
    machine: Machine,
) -> None:
    """The connection changes hands in the very transaction that it waits for."""
    served = machine.start()
    worker_id = registered(served, registration_key="a key")
    served.call("send_message", worker_id=worker_id, text="before")
    with closing(sqlite3.connect(machine.home / "rooms.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        blocked = served.begin("send_message", worker_id=worker_id, text="from the old life")
        served.call("read_messages", room_id="workshop")
        other.execute("UPDATE sessions SET generation = generation + 1")
        other.execute("COMMIT")
    result = served.answer(blocked)["result"]

    assert result["isError"]
    assert "a newer process holds its connection now" in result["content"][0]["text"]
    page = served.call("read_messages", room_id="workshop")["messages"]
    assert [message["text"] for message in page] == ["before"]
