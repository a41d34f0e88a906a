"""A served process that is killed again and again; its worker comes back each time."""

import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from tests.e2e.chats import Served

pytestmark = pytest.mark.long

KILLS = 60


def test_no_kill_loses_or_doubles_what_was_acknowledged_or_strands_the_worker(
    tmp_path: Path,
) -> None:
    acknowledged: dict[str, str] = {}
    worker_id, name = _first(tmp_path)
    for life in range(KILLS):
        _live(tmp_path, worker_id, name, life, acknowledged)
    with Served(tmp_path) as last:
        _come_back(last, worker_id, name)
        kept = {}
        for life in range(KILLS):
            for at in range(200):
                text = f"{life}:{at}"
                if text not in acknowledged:
                    break
                again = _say(last, worker_id, text)
                kept[text] = again

    assert len(acknowledged) > KILLS
    assert kept == acknowledged, "the same key is answered with the message of the first life"
    assert len(set(acknowledged.values())) == len(acknowledged)


def _first(home: Path) -> tuple[str, str]:
    with Served(home) as served:
        served.call("join_room", name="workshop")
        session = served.call(
            "register_agent_session", registration_key="k", room_id="workshop", display_name="Ada"
        )
    return str(session["worker_id"]), str(session["agent_session"]["display_name"])


def _live(home: Path, worker_id: str, name: str, life: int, told: dict[str, str]) -> None:
    """Register and speak a while; be killed in the middle of whatever is going on then."""
    with Served(home) as served:
        _come_back(served, worker_id, name)
        for at in range(1 + life * 7 % 23):
            told[f"{life}:{at}"] = _say(served, worker_id, f"{life}:{at}")
        served.begin("send_message", worker_id=worker_id, text="the last word")
        if life % 2:
            served.begin("register_agent_session", worker_id=worker_id, room_id="workshop")
        with suppress(subprocess.TimeoutExpired):
            served.process.wait(timeout=life % 20 / 4000)
        served.process.kill()


def _come_back(served: Served, worker_id: str, name: str) -> None:
    session = served.call("register_agent_session", worker_id=worker_id, room_id="workshop")
    assert session["worker_id"] == worker_id
    assert session["agent_session"]["display_name"] == name


def _say(served: Served, worker_id: str, text: str) -> str:
    said = served.call("send_message", worker_id=worker_id, text=text, client_message_id=text)
    return str(said["id"])
