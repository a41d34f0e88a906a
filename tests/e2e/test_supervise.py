"""`letagents supervise` as a process: one for a home, and what it wrote down outlives its death."""

import asyncio
import json
import queue
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.chats import ERAS, Served
from tests.e2e.shell import Running, run
from tests.e2e.supervised import agent_in_local_room, agent_in_turn, coordinates

from letagents.adapters.supervisor.socket import SocketSupervisor
from letagents.adapters.system import SystemIds
from letagents.domain.supervised import DEFERRED, DoIt, MayBeDone
from letagents.domain.surfaces import LOCAL_ROOMS
from letagents.testing.contracts.supervisor import SESSION, change

TURN = {
    "LETAGENTS_EXECUTION_PROFILE": "supervised_room_turn",
    "LETAGENTS_SUPERVISED_BOUNDED_TURNS": "1",
    "LETAGENTS_API_URL": LOCAL_ROOMS,
}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such sockets")


@contextmanager
def supervised(home: Path) -> Iterator[tuple[Running, dict[str, Any]]]:
    with Running(home, ["supervise", "--foreground", "--json"]) as running:
        yield running, json.loads(running.line())


def agent(home: Path, **environ: str) -> SocketSupervisor:
    given = {**coordinates(home), **environ}
    return SocketSupervisor(given, home / "daemon.sock", home, SystemIds(), patience=30.0)


@pytest.mark.rule("J3", "J55")
def test_a_killed_supervisor_doubles_nothing_and_its_successor_knows(tmp_path: Path) -> None:
    home = tmp_path / "h"
    asyncio.run(agent_in_turn(home))

    async def before() -> None:
        ours = agent(home)
        await ours.bind(SESSION)
        assert (await ours.borrow(SESSION)).credential is not None
        assert isinstance(await ours.prepare(change()), DoIt)

    async def after() -> None:
        ours = agent(home)
        assert await ours.borrow(SESSION) == DEFERRED
        await ours.bind(SESSION)
        told = await ours.prepare(change())
        assert isinstance(told, MayBeDone)

    with supervised(home) as (running, said):
        assert said["generation"] == 1
        asyncio.run(before())
        running.process.kill()
        running.ended()
    with supervised(home) as (running, said):
        assert said["generation"] == 2
        asyncio.run(after())
        (effect,) = run(home, "effects", "--json").stdout.splitlines()
        effect_id = json.loads(effect)["effect_id"]
        whose = run(home, "effects", "ada", "--not-done", effect_id)
        assert (whose.returncode, "Leave ada out" in whose.stderr) == (1, True)
        settled = run(home, "effects", "--not-done", effect_id)
        assert "post_status" in settled.stdout
        assert "(failed)" in settled.stdout
        assert SESSION.token.value.encode() not in (home / "supervisor.db").read_bytes()
        running.process.send_signal(signal.SIGHUP)  # its terminal closes
        assert running.ended() == 0
    assert not (home / "daemon.sock").exists()


@pytest.mark.long
def test_a_home_has_one_supervisor(tmp_path: Path) -> None:
    with supervised(tmp_path / "h"):
        second = run(tmp_path / "h", "supervise", "--foreground")

    assert second.returncode == 1
    assert "A supervisor daemon already owns this host lock." in second.stderr
    assert "`letagents supervise --foreground --replace`" in second.stderr


@pytest.mark.long
def test_one_that_is_stuck_is_replaced_once_it_goes_on(tmp_path: Path) -> None:
    home = tmp_path / "h"
    with supervised(home) as (old, _):
        old.process.send_signal(signal.SIGSTOP)
        with Running(home, ["supervise", "--foreground", "--json", "--replace"]) as new:
            with pytest.raises(queue.Empty):
                new._lines.get(timeout=7)
            old.process.send_signal(signal.SIGCONT)
            told = json.loads(new.line())
            assert old.ended() == 0
            assert told["generation"] == 2


def test_what_an_agent_calls_its_supervisor_does_once(tmp_path: Path) -> None:
    home = tmp_path / "h"
    session = asyncio.run(agent_in_local_room(home))
    environ = {**coordinates(home), **TURN}
    with supervised(home), Served(home, ERAS[0], environ) as process:
        asyncio.run(agent(home, LETAGENTS_API_URL=LOCAL_ROOMS).bind(session))
        process.call("send_message", text="Done.")
        said = process.call("read_messages")["messages"]
        refused = process.refused("claim_task", task_id="task_9")

    assert [one["text"] for one in said] == ["Done."]
    assert said[0]["sender"].startswith("Worker1")
    assert "task_9" in refused
    assert session.token.value.encode() not in b"".join([*process.said, *process.complained])


@pytest.mark.skipif(sys.platform != "linux", reason="its folder is systemd's")
def test_a_service_is_shown_written_and_removed(tmp_path: Path) -> None:
    home, settings = tmp_path / "h", {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    shown = run(home, "supervise", "install", "--show", settings=settings).stdout
    assert f'Environment="LETAGENTS_HOME={home}"' in shown
    assert not (tmp_path / "config").exists()
    assert "install --show" in run(home, "supervise", "--foreground", "--show").stderr
    written = run(home, "supervise", "install", settings=settings).stdout
    (file,) = (tmp_path / "config").rglob("*.service")
    assert file.read_text() == shown
    assert "systemctl --user enable --now letagents-supervisor.service" in written
    assert (
        "systemctl --user disable" in run(home, "supervise", "uninstall", settings=settings).stdout
    )
    assert not file.exists()
