"""What a room server knows of agents whose processes leave, however they do."""

import signal
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.e2e.chats import Served, posix
from tests.e2e.served import Server, served
from tests.e2e.shell import PATIENCE

Leave = Callable[[Served], object]

OPEN_LINKS = "SELECT count(*) FROM things WHERE kind = 'link' AND is_open"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with served(tmp_path / "server") as running:
        yield running


def chat(home: Path, server: Server) -> Served:
    """Return a chat of the server's owner, on what looks like a machine of its own."""
    return Served(home, settings={**server.settings, "LETAGENTS_TOKEN": server.owner})


def is_attended(server: Server) -> None:
    """Wait until the server knows that a process is there: only then can it be told of its end."""
    with closing(sqlite3.connect(server.home / "server.db")) as kept:
        for _ in range(PATIENCE * 20):
            if kept.execute(OPEN_LINKS).fetchone()[0]:
                return
            threading.Event().wait(0.05)
    raise AssertionError("no process came to be known")


def named(one: Served, key: str) -> str:
    """Return the name that a new worker is given who asks for that of another."""
    made = one.call(
        "register_agent_session", registration_key=key, room_id="harbour", display_name="Juniper"
    )
    return str(made["agent_session"]["display_name"])


def signalled(number: signal.Signals) -> Leave:
    def leave(one: Served) -> None:
        one.process.send_signal(number)
        one.close()

    return leave


WAYS: dict[str, Leave] = {
    "end of input": Served.close,
    "SIGTERM": signalled(signal.SIGTERM),
    "SIGINT": signalled(signal.SIGINT),
}


@pytest.mark.skipif(not posix, reason="Windows knows no such signals")
@pytest.mark.parametrize("leave", WAYS.values(), ids=WAYS)
def test_who_leaves_says_so_and_its_name_is_free_at_once_everywhere(
    tmp_path: Path, server: Server, leave: Leave
) -> None:
    with chat(tmp_path / "one", server) as one, chat(tmp_path / "two", server) as two:
        one.call("join_room", name="harbour")
        assert named(one, "key of one") == "Juniper"
        is_attended(server)
        while_there = named(two, "key of two")
        leave(one)
        with chat(tmp_path / "three", server) as three:
            after = named(three, "key of three")

    assert (while_there != "Juniper", after) == (True, "Juniper")
    assert b"process.failed" not in b"".join(one.complained)


@pytest.mark.skipif(not posix, reason="Windows knows no such signals")
def test_who_is_killed_says_nothing_and_keeps_its_name_from_other_machines(
    tmp_path: Path, server: Server
) -> None:
    with chat(tmp_path / "one", server) as one, chat(tmp_path / "two", server) as two:
        one.call("join_room", name="harbour")
        assert named(one, "key of one") == "Juniper"
        is_attended(server)
        one.process.send_signal(signal.SIGKILL)
        one.process.wait()

        assert named(two, "key of two") != "Juniper"


def test_a_worker_whose_name_has_passed_on_is_told_and_comes_back_under_another(
    tmp_path: Path, server: Server
) -> None:
    with chat(tmp_path / "one", server) as one, chat(tmp_path / "two", server) as two:
        one.call("join_room", name="harbour")
        assert named(one, "key of one") == "Juniper"
        is_attended(server)
        one.close()
        assert named(two, "key of two") == "Juniper"
        with chat(tmp_path / "one", server) as back:
            again = back.call(
                "register_agent_session", registration_key="key of one", room_id="harbour"
            )

    assert again["agent_session"]["display_name"] != "Juniper"
    assert again["agent_session"]["ended_at"] is None
