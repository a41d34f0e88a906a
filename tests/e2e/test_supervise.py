"""`letagents supervise` as a process: one for a home, and what it wrote down outlives its death."""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.contract.supervised import put_agent_in_turn
from tests.e2e.shell import Running, run

from letagents.adapters.supervision.sql import SqlSupervision
from letagents.adapters.supervisor.socket import SocketSupervisor
from letagents.adapters.system import SystemIds
from letagents.domain.supervised import DEFERRED, DoIt, MayBeDone
from letagents.testing.contracts.supervisor import SESSION, change

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such sockets")


@contextmanager
def supervised(home: Path) -> Iterator[tuple[Running, dict[str, Any]]]:
    with Running(home, ["supervise", "--foreground", "--json"]) as running:
        yield running, json.loads(running.line())


def process(home: Path) -> SocketSupervisor:
    environ = {
        "LETAGENTS_SUPERVISOR_ENTRY_ID": "e1",
        "LETAGENTS_SUPERVISOR_DAEMON_SOCKET": str(home / "daemon.sock"),
        "LETAGENTS_SUPERVISOR_WORK_ATTEMPT_ID": "w1",
        "LETAGENTS_SUPERVISOR_EXECUTION_GENERATION_ID": "x1",
    }
    return SocketSupervisor(environ, home / "daemon.sock", home, SystemIds(), patience=30.0)


async def _agent_in_turn(home: Path) -> None:
    journal = SqlSupervision(home / "supervisor.db", 0)
    await journal.change(put_agent_in_turn)
    await journal.aclose()


@pytest.mark.rule("J3", "J55")
def test_a_killed_supervisor_doubles_nothing_and_its_successor_knows(tmp_path: Path) -> None:
    home = tmp_path / "h"
    asyncio.run(_agent_in_turn(home))

    async def before() -> None:
        agent = process(home)
        await agent.bind(SESSION)
        assert (await agent.borrow(SESSION)).credential is not None
        assert isinstance(await agent.prepare(change()), DoIt)

    async def after() -> None:
        agent = process(home)
        assert await agent.borrow(SESSION) == DEFERRED
        await agent.bind(SESSION)
        told = await agent.prepare(change())
        assert isinstance(told, MayBeDone)

    with supervised(home) as (running, said):
        assert said["generation"] == 1
        asyncio.run(before())
        running.process.kill()
        running.ended()
    with supervised(home) as (running, said):
        assert said["generation"] == 2
        asyncio.run(after())
        assert SESSION.token.value.encode() not in (home / "supervisor.db").read_bytes()
        running.process.terminate()
        assert running.ended() == 0
    assert not (home / "daemon.sock").exists()


@pytest.mark.long
def test_a_home_has_one_supervisor(tmp_path: Path) -> None:
    with supervised(tmp_path / "h"):
        second = run(tmp_path / "h", "supervise", "--foreground")

    assert second.returncode == 1
    assert "A supervisor daemon already owns this host lock." in second.stderr
