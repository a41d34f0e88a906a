"""A supervisor, and the processes of its agent, killed at random hundreds of times."""

import asyncio
import itertools
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.e2e.chats import ERAS, Plain, Served
from tests.e2e.killed import Home, ended, home, line

pytestmark = [
    pytest.mark.long,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="there are no such sockets"),
]
KILLS = 500
WITH_CHILDREN = 60


async def test_no_kill_at_any_moment_doubles_or_loses_anything(tmp_path: Path) -> None:
    async with home(tmp_path) as ours:
        await ours.begin()
        for number in range(KILLS // 2):
            await ours.die_at(str(1 + number * 7 % 18))
        for number in range(KILLS - KILLS // 2):
            await _killed_from_outside(ours, number * 71 % 100 / 300)
        await ours.settle()


async def _killed_from_outside(ours: Home, after: float) -> None:
    with ours.supervisor() as mortal:
        await ours.ask()
        await line(mortal)
        await anyio.sleep(after)
        mortal.kill()
        assert await ended(mortal) == -signal.SIGKILL


async def test_no_kill_of_the_processes_of_an_agent_does_either(tmp_path: Path) -> None:
    spans = (number * 71 % 100 / 500 for number in itertools.count())

    def called(coordinates: Mapping[str, str], request_id: str, tool: str, arguments: Plain) -> Any:
        """Call a tool through `letagents mcp`, which is killed meanwhile and started again."""
        place = Path(coordinates["LETAGENTS_SUPERVISOR_DAEMON_SOCKET"]).parent
        for life in range(3):
            with Served(place, ERAS[0], coordinates) as child, suppress(OSError):
                child._asked = 10 * int(request_id)
                number = child.begin(tool, **arguments)
                if life < 2:
                    with suppress(Exception):
                        child.process.wait(timeout=next(spans))
                    child.process.kill()
                else:
                    return _told(child.answer(number)["result"])
        raise AssertionError

    async def act(
        coordinates: Mapping[str, str], request_id: str, tool: str, arguments: Plain
    ) -> Any:
        return await asyncio.to_thread(called, coordinates, request_id, tool, arguments)

    async with home(tmp_path, act) as ours:
        await ours.begin()
        for number in range(WITH_CHILDREN):
            with ours.supervisor() as mortal:
                await line(mortal)
                about = await ours.ask()
                if number % 2:
                    await anyio.sleep(next(spans) * 4)
                    mortal.kill()
                    await ended(mortal)
                else:
                    await ours.heard(f"answer {about}")
        await ours.settle()


def _told(result: Plain) -> Plain | str:
    return str(result["content"][0]["text"]) if result["isError"] else result


async def test_a_supervisor_that_forgets_a_record_is_caught(tmp_path: Path) -> None:
    for number, (forgotten, edge) in enumerate(
        (
            ("effect.executing", "before effect.completed"),
            ("item.dispatching", "before item.awaiting_result"),
        )
    ):
        (tmp_path / str(number)).mkdir()
        async with home(tmp_path / str(number)) as ours:
            await ours.begin()
            with ours.supervisor(MORTAL_FORGETS=forgotten, MORTAL_AT=edge) as mortal:
                await ours.ask()
                await ended(mortal)
            with pytest.raises(AssertionError):
                await ours.settle()
