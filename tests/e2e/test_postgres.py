"""Agents and people of two machines whose rooms one PostgreSQL keeps."""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.e2e.chats import Served
from tests.e2e.shell import Running, run
from tests.postgres_server import with_options

PASSWORD = "hunter2"
LONG = 120_000


@pytest.fixture
def settings(postgres: str) -> Mapping[str, str]:
    """The server, with a password that it does not ask for."""
    return {"LETAGENTS_ROOMS_DB": with_options(postgres, password=PASSWORD)}


@pytest.fixture
def chats(tmp_path: Path, settings: Mapping[str, str]) -> Iterator[list[Served]]:
    """One chat on each of two machines, in one room."""
    with ExitStack() as opened:
        both = [
            opened.enter_context(Served(tmp_path / home, settings=settings))
            for home in ("one", "other")
        ]
        for served in both:
            served.call("join_room", name="workshop")
        yield both


def registered(served: Served, key: str) -> str:
    session = served.call("register_agent_session", room_id="workshop", registration_key=key)
    return str(session["worker_id"])


def test_agents_on_two_machines_talk_and_share_a_board(chats: list[Served]) -> None:
    waiting, speaking = chats
    ada, ben = registered(waiting, "a"), registered(speaking, "b")
    first = speaking.call("send_message", worker_id=ben, text="@everyone hello")
    number = waiting.begin(
        "wait_for_messages", worker_id=ada, after_message_id=first["id"], timeout=LONG
    )
    waiting.call("get_current_room")
    speaking.call("send_message", worker_id=ben, text="@everyone go")
    heard = waiting.answer(number)["result"]["structuredContent"]
    speaking.call("add_task", worker_id=ben, title="Mend the roof")
    waiting.call("update_task", task_id="task_1", status="accepted", worker_id=ada)
    waiting.call("claim_task", task_id="task_1", worker_id=ada)
    refused = speaking.refused("claim_task", task_id="task_1", worker_id=ben)
    found = speaking.call("search_messages", words="hello", worker_id=ben)

    assert [message["text"] for message in heard["messages"]] == ["@everyone go"]
    assert "task_1" in refused
    assert [hit["id"] for hit in found["hits"]] == [first["id"]]


def test_a_person_uses_such_rooms_from_a_shell_and_sees_no_password(
    tmp_path: Path, settings: Mapping[str, str]
) -> None:
    said = run(tmp_path, "send", "workshop", "hello", "--create", settings=settings)
    rooms = run(tmp_path, "rooms", "--json", settings=settings)
    doctor = run(tmp_path, "doctor", settings=settings)
    away = run(
        tmp_path,
        "rooms",
        settings={"LETAGENTS_ROOMS_DB": f"postgresql://ada:{PASSWORD}@127.0.0.1:1/rooms"},
    )

    assert [done.returncode for done in (said, rooms, doctor)] == [0, 0, 0]
    assert json.loads(rooms.stdout)["room_id"] == "workshop"
    assert "PostgreSQL" in doctor.stdout
    assert "synchronous_commit on" in doctor.stdout
    assert away.returncode != 0
    assert "refused" in away.stderr
    for done in (said, rooms, doctor, away):
        assert PASSWORD not in done.stdout + done.stderr


def test_who_follows_a_room_sees_what_is_said_on_another_machine(
    tmp_path: Path, settings: Mapping[str, str]
) -> None:
    run(tmp_path / "one", "send", "workshop", "hello", "--create", settings=settings)
    with Running(tmp_path / "one", ["tail", "workshop"], settings=settings) as tail:
        shown = [tail.line(), tail.line()]
        run(tmp_path / "other", "send", "workshop", "and more", settings=settings)
        shown += [tail.line(), tail.line()]

    assert [line.strip() for line in shown[1::2]] == ["hello", "and more"]
