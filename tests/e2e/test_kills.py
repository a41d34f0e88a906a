"""A supervisor that is killed at each of its records; nothing is done twice, and nothing left."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.killed import EDGES, ended, home, line
from tests.e2e.minds import DONE, UNCERTAIN, by_socket
from tests.e2e.shell import PATIENCE

from letagents.adapters.supervision.hold import LOCK

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="there are no such sockets"),
]
KILLS = 25


async def test_no_kill_doubles_or_loses_a_turn_an_answer_or_a_call(tmp_path: Path) -> None:
    async with home(tmp_path) as ours:
        await ours.begin()
        for edge in EDGES:
            await ours.die_at(edge)
        for number in range(KILLS - len(EDGES)):
            await ours.die_at(str(1 + number * 5 % 18))
        await ours.settle()


async def test_a_supervisor_that_wakes_when_another_took_over_writes_nothing(
    tmp_path: Path,
) -> None:
    async with home(tmp_path) as ours:
        await ours.begin()
        fault = {"MORTAL_AT": "after effect.executing", "MORTAL_SIGNAL": str(int(signal.SIGSTOP))}
        with ours.supervisor(**fault) as old:
            await line(old)
            about = await ours.ask()
            assert await line(old) == b"stopped\n"
            (ours.folder / LOCK).unlink()  # as a file system does that forgets who holds what
            with ours.supervisor() as new:
                await line(new)
                os.kill(old.pid, signal.SIGCONT)
                assert await ended(old) == 1
                await ours.heard(f"answer {await ours.ask()}")
                await ours.check()
        assert ours.minds.told[about] == UNCERTAIN


async def test_a_newer_supervisor_takes_over_in_the_middle_of_a_turn(tmp_path: Path) -> None:
    acting, let = asyncio.Event(), asyncio.Event()

    async def act(*call: Any) -> Any:
        acting.set()
        await let.wait()
        return await by_socket(*call)

    async with home(tmp_path, act) as ours:
        with ours.supervisor() as old:
            await line(old)
            await ours.add()
            about = await ours.ask()
            async with asyncio.timeout(PATIENCE):
                await acting.wait()
            with ours.supervisor(MORTAL_REPLACES="1") as new:
                await line(new)
                assert await ended(old) == 0
                let.set()
                await ours.heard(f"answer {about}")
                await ours.check()
    assert ours.minds.told[about] == DONE
