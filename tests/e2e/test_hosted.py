"""Agents in rooms on a server: `letagents mcp` in two homes, through one `letagents serve`."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.chats import Served
from tests.e2e.served import Server, served
from tests.e2e.shell import PATIENCE


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with served(tmp_path / "server") as running:
        yield running


def chat(home: Path, server: Server, token: str | None = None) -> Served:
    """Return a chat whose rooms are on the server."""
    shown = {"LETAGENTS_TOKEN": token} if token is not None else {}
    return Served(home, settings={**server.settings, **shown})


def until(server: Server, path: str, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Return what is at `path` of the room, once it is so."""
    with server.http(server.owner) as http:
        for _ in range(PATIENCE * 50):
            found: dict[str, Any] = http.get(f"/rooms/harbour/{path}").json()
            if is_so(found):
                return found
            threading.Event().wait(0.02)
    raise AssertionError(found)


def _states(info: dict[str, Any]) -> list[str]:
    return [one["receipt_state"] for one in info["receipts"]]


def test_two_agents_of_two_accounts_talk_through_a_server(tmp_path: Path, server: Server) -> None:
    bobs = server.account("bob")
    with chat(server.home, server) as one, chat(tmp_path / "bob", server, bobs) as two:
        joined = one.call("join_room", name="harbour")
        juniper = one.call(
            "register_agent_session",
            registration_key="key of one",
            room_id="harbour",
            display_name="Juniper",
        )
        willow = two.call(
            "register_agent_session",
            registration_key="key of two",
            room_id="harbour",
            display_name="Willow",
        )
        waiting = two.begin(
            "wait_for_messages", worker_id=willow["worker_id"], room_id="harbour", timeout=30
        )
        sent = one.call(
            "send_message", worker_id=juniper["worker_id"], room_id="harbour", text="@Willow ahoy"
        )
        heard = two.answer(waiting)["result"]["structuredContent"]
        shown = until(server, "messages/msg_1/info", lambda found: _states(found) == ["responding"])
        two.call("post_status", worker_id=willow["worker_id"], status="blocked by the tide")
        seen = until(server, "presence", lambda found: len(found["presence"]) == 2)
        answered = two.call(
            "send_message", worker_id=willow["worker_id"], room_id="harbour", text="ahoy yourself"
        )
        read = one.call("read_messages", worker_id=juniper["worker_id"], room_id="harbour")
        info = until(server, "messages/msg_1/info", lambda _found: True)
        two.call("join_room", name="harbour")
        who = two.call("get_current_room")["auth"]
        gone = two.call(
            "disconnect_agent_session", worker_id=willow["worker_id"], room_id="harbour"
        )
        refused = two.refused(
            "send_message", worker_id=willow["worker_id"], room_id="harbour", text="still here?"
        )

    assert joined["is_local"] is False
    assert juniper["agent_session"]["agent_key"].partition("/")[0] != "bob"
    assert willow["agent_session"]["agent_key"].startswith("bob/worker-")
    assert [one["text"] for one in heard["messages"]] == ["@Willow ahoy"]
    assert sent["id"] == "msg_1"
    said = ["@Willow ahoy", "[status] blocked by the tide", "ahoy yourself"]
    assert [one["text"] for one in read["messages"]] == said
    assert [one["activation_reason"] for one in shown["receipts"]] == ["explicit_mention"]
    assert {one["display_name"]: one["status"] for one in seen["presence"]} == {
        "Juniper": "idle",
        "Willow": "blocked",
    }
    assert answered["id"] == "msg_3"
    assert (who["source"], who["account"]["login"]) == ("env", "bob")
    assert _states(info) == ["acknowledged"]
    assert gone["success"] is True
    assert "register_agent_session" in refused


def test_a_worker_is_the_same_after_its_process_and_the_server_were_started_anew(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    with served(home) as server:
        port = server.url.rpartition(":")[2]
        with chat(home, server) as before:
            first = before.call("join_room", name="harbour")
            first = before.call(
                "register_agent_session", registration_key="the key", room_id="harbour"
            )
        server.stop()
    with served(home, "--port", port) as server, chat(home, server) as after:
        again = after.call("register_agent_session", registration_key="the key", room_id="harbour")

    assert again["worker_id"] == first["worker_id"]
    for name in ("session_id", "display_name", "agent_key"):
        assert again["agent_session"][name] == first["agent_session"][name]


def test_a_server_that_is_away_is_told_and_nothing_is_said_to_be_done(
    tmp_path: Path, server: Server
) -> None:
    with chat(server.home, server) as one:
        one.call("join_room", name="harbour")
        juniper = one.call("register_agent_session", registration_key="a key", room_id="harbour")
        server.stop()
        refused = one.refused(
            "send_message", worker_id=juniper["worker_id"], room_id="harbour", text="anybody?"
        )

    assert "rooms_unavailable" in refused
    assert "Nothing happened" in refused


def test_who_is_not_signed_in_is_told_how_to(tmp_path: Path, server: Server) -> None:
    with chat(tmp_path / "nobody", server) as one:
        refused = one.refused("join_room", name="harbour")

    assert "start_device_auth" in refused


def test_one_chat_has_rooms_on_its_machine_and_on_a_server(tmp_path: Path, server: Server) -> None:
    told = '{"mode": "local", "roomOverrides": {"shed": "cloud"}}'
    (server.home / "chat-storage.json").write_text(told, "utf-8")
    with chat(server.home, server) as one:
        workers: dict[str, str] = {}
        for room in ("harbour", "shed"):
            joined = one.call("join_room", name=room)
            known = {"worker_id": next(iter(workers.values()))} if workers else {}
            made = one.call(
                "register_agent_session",
                **(known or {"registration_key": "the key"}),
                room_id=room,
            )
            workers[room] = made["worker_id"]
            one.call("send_message", worker_id=workers[room], room_id=room, text=f"ahoy {room}")
            task = one.call("add_task", worker_id=workers[room], room_id=room, title=f"mend {room}")

            assert joined["is_local"] is (room == "harbour")
            assert task["task"]["id"] == "task_1"
        hint = one.call("get_onboarding_status")["api_url_hint"]
        read = {
            room: one.call("read_messages", worker_id=worker, room_id=room)
            for room, worker in workers.items()
        }
    with server.http(server.owner) as http:
        on_the_server = http.get("/rooms").json()["rooms"]

    assert len(set(workers.values())) == 1
    assert "chat-storage.json" in hint
    for room, found in read.items():
        assert f"ahoy {room}" in [said["text"] for said in found["messages"]]
    assert [found["room_id"] for found in on_the_server] == ["shed"]
