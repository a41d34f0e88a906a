"""Programs that are run for long: known by their birth, and ended with all that they started."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from letagents.adapters.processes import births, children
from letagents.adapters.processes.births import Presence
from letagents.adapters.providers import lives
from letagents.domain.turns import ProcessAmbiguous
from letagents.ports.providers import Connection

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="births are not told on Windows")

PATIENCE = 30.0
SLEEP = ("/bin/sleep", "600")
STUBBORN = ("/bin/sh", "-c", 'trap "" TERM; echo ready; while :; do sleep 1; done')


def _start(*words: str, stdout: int = subprocess.DEVNULL) -> children.Child:
    return children.start(words, cwd="/", env=os.environ, stdout=stdout)


async def test_a_process_is_told_by_its_birth_and_not_by_its_number_alone() -> None:
    child = _start(*SLEEP)
    try:
        again = births.birth_of(child.pid)
        same = births.presence(child.pid, child.birth)
        other = births.presence(child.pid, f"{child.birth}0")
    finally:
        await child.end()

    assert again == child.birth
    assert same is Presence.SAME
    assert other is Presence.GONE
    assert births.presence(child.pid, child.birth) is Presence.GONE


async def test_a_number_that_is_another_process_s_is_sent_nothing() -> None:
    child = _start(*SLEEP)
    try:
        await children.end(child.pid, f"{child.birth}0", grace=0)
        there = births.presence(child.pid, child.birth)
    finally:
        await child.end()

    assert there is Presence.SAME


async def test_who_does_not_end_when_asked_is_killed() -> None:
    child = _start(*STUBBORN, stdout=subprocess.PIPE)
    assert child.process.stdout is not None
    with child.process.stdout as said:
        said.readline()
        with anyio.fail_after(PATIENCE):
            code = await child.end(grace=0.05)

    assert code == -signal.SIGKILL


async def test_what_a_program_left_behind_ends_with_it(tmp_path: Path) -> None:
    number = tmp_path / "pid"
    child = _start("/bin/sh", "-c", f"trap '' TERM; sleep 600 & echo $! >{number}.new; "
                   f"mv {number}.new {number}; kill -9 $$")  # fmt: skip
    with anyio.fail_after(PATIENCE):
        code = await child.ended()
        left = int(number.read_text())
        await children.gone(left, births.birth_of(left) or "")

    assert code == -signal.SIGKILL


_LEAVES_ONE = "sleep 600 & echo $!; wait"


@pytest.mark.parametrize("is_asked", [True, False], ids=["ended by us", "ended by itself"])
async def test_what_a_launcher_of_another_supervisor_left_behind_ends_with_it(
    is_asked: bool,
) -> None:
    script = "trap '' TERM;" * is_asked + _LEAVES_ONE
    child = _start("/bin/sh", "-c", script, stdout=subprocess.PIPE)
    assert child.process.stdout is not None
    with child.process.stdout as said:
        left = int(said.readline())
    at = Connection("codex_app_server", child.pid, child.birth)
    with anyio.fail_after(PATIENCE):
        if is_asked:
            await children.end(child.pid, child.birth, grace=0.05)
        else:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lives.ended, None, at)
                await anyio.wait_all_tasks_blocked()
                os.kill(child.pid, signal.SIGKILL)
        await children.gone(left, births.birth_of(left) or "")
    child.process.wait()


async def test_nothing_is_sent_to_a_number_that_another_process_has() -> None:
    child = _start(*SLEEP)
    try:
        children.end_left(child.pid)
        there = births.presence(child.pid, child.birth)
    finally:
        await child.end()

    assert there is Presence.SAME


async def test_the_end_of_a_process_that_somebody_else_started_is_noticed() -> None:
    child = _start(*SLEEP)
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(children.gone, child.pid, child.birth)
            await anyio.wait_all_tasks_blocked()
            os.kill(child.pid, signal.SIGKILL)

    assert await child.ended() == -signal.SIGKILL


async def test_a_program_that_is_not_there_cannot_be_started() -> None:
    with pytest.raises(OSError, match="nothing"):
        _start("/nothing/there")


DIES = """
import asyncio, os, signal, sys
from letagents.adapters.processes import children

async def born(pid, birth):
    print(pid, birth, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

words = ["/bin/sh", "-c", 'echo ran > "$0"', sys.argv[1]]
asyncio.run(children.start_known(words, born, cwd="/", env=os.environ))
"""


async def test_who_dies_before_a_process_is_written_down_leaves_no_program(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    with anyio.fail_after(PATIENCE):
        done = await anyio.run_process([sys.executable, "-c", DIES, str(ran)], check=False)
        pid, birth = done.stdout.decode().split(maxsplit=1)
        await children.gone(int(pid), birth.strip())

    assert done.returncode == -signal.SIGKILL
    assert not ran.exists()


async def test_what_is_written_down_runs_with_its_own_input(tmp_path: Path) -> None:
    known: list[tuple[int, str]] = []

    async def born(pid: int, birth: str) -> None:
        known.append((pid, birth))

    words = ("/bin/cat",)
    child = await children.start_known(
        words, born, cwd="/", env=os.environ, has_input=True, stdout=subprocess.PIPE
    )
    assert child.process.stdin is not None
    assert child.process.stdout is not None
    with child.process.stdin as said:
        said.write(b"one\ntwo\n")
    with child.process.stdout as heard, anyio.fail_after(PATIENCE):
        read = heard.read()
        code = await child.ended()

    assert (read, code) == (b"one\ntwo\n", 0)
    assert known == [(child.pid, child.birth)]


async def test_what_cannot_be_told_is_not_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    child = _start(*SLEEP)

    def untold(_pid: int) -> str:
        raise PermissionError

    with monkeypatch.context() as blind:
        blind.setattr(births, "birth_of", untold)
        with pytest.raises(ProcessAmbiguous):
            await children.end(child.pid, child.birth)
    there = births.presence(child.pid, child.birth)
    await child.end()

    assert there is Presence.SAME
