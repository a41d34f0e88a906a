"""Processes that live until a test ends them, in the tests of who is there.

Run as `python -m tests.integration.living_processes ROLE RUN_DIR`: it tells the name under which
it can be found, and then obeys what it is told, a word on a line.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import attrs

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.processes.locks import ProcessLocks
from letagents.adapters.rooms.kept_board import KeptBoard
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.system import SystemClock, SystemIds
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Patch, Status
from letagents.ports.clock import Clock
from letagents.testing.contracts.room_callers import ADA, ROOM, arrival

MANY = 2_000
TERM = timedelta(minutes=15)


@attrs.define
class Living:
    """A process that was started, and what it was called when it was."""

    process: "subprocess.Popen[str]"
    name: str

    def tell(self, word: str) -> None:
        """Say something to it."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()

    def answer(self) -> str:
        """Return what it says next."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def signal(self, number: int) -> None:
        """Send it a signal; a stop has been done on return."""
        os.kill(self.process.pid, number)
        if number == signal.SIGSTOP:
            os.waitpid(self.process.pid, os.WUNTRACED)

    def kill(self) -> None:
        """End it as the system does where memory is short: it does nothing more."""
        self.process.kill()
        self.process.wait()


@contextmanager
def living(run_dir: Path, role: str = "live") -> Iterator[Living]:
    """Start a process that is there until it is killed, or the test ends."""
    command = [sys.executable, "-m", "tests.integration.living_processes", role, str(run_dir)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield Living(process, process.stdout.readline().strip())
        finally:
            process.kill()


def tell(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def live(processes: ProcessLocks) -> None:
    tell(processes.own)
    for word in sys.stdin:
        if word.strip() == "fork":
            tell(_forked(processes))
        elif word.strip() == "start":
            child = subprocess.Popen(
                [sys.executable, "-c", "import sys; print(1, flush=True); sys.stdin.read()"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            assert child.stdout is not None
            child.stdout.readline()
            tell(child.pid)


def _forked(processes: ProcessLocks) -> str:
    """Fork a child that outlives us; return its pid and the name that it has."""
    told, tells = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(0)
        os.close(1)
        os.write(tells, f"{processes.own}\n".encode())
        signal.pause()
    return f"{pid} {os.read(told, 100).decode().strip()}"


def ask(processes: ProcessLocks) -> None:
    """Ask many times after each process that is named; tell all that was answered."""
    tell("ready")
    for name in sys.stdin:
        answers = {processes.is_alive(name.strip()) for _ in range(MANY)}
        tell(sorted(map(str, answers)))


def hold(processes: ProcessLocks) -> None:
    """Be Ada in the rooms beside the run directory, and claim the task that is named."""
    asyncio.run(_hold(processes))


async def _hold(processes: ProcessLocks) -> None:
    rooms = rooms_beside(processes, SystemClock())
    await rooms.join(ROOM)
    arriving = attrs.evolve(arrival(ADA, 1), token=SystemIds().token(), insists=True)
    ada = await rooms.connect(ROOM, arriving)
    tell(processes.own)
    for task_id in map(str.strip, sys.stdin):
        if task_id != "resumed":
            await claim(rooms, task_id, ada)
        tell(task_id if task_id != "resumed" else list(map(str, ada.resumed)))


def rooms_beside(processes: ProcessLocks, clock: Clock) -> LocalRooms:
    """Return the rooms of the home that `processes` are of."""
    place = processes._run_dir.parent / "rooms.db"
    return LocalRooms(place, SystemIds(), clock, NoNudges(), processes, term=TERM)


async def claim(rooms: LocalRooms, task_id: str, by: Connection) -> None:
    """Claim a task."""
    await KeptBoard(rooms, TERM).change(ROOM, task_id, Patch(status=Status.ASSIGNED), by.fence)


def main() -> None:
    role, run_dir = sys.argv[1:]
    processes = ProcessLocks(Path(run_dir), SystemIds())
    {"live": live, "ask": ask, "hold": hold}[role](processes)


if __name__ == "__main__":
    main()
