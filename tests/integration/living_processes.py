"""Processes that live until a test ends them, in the tests of who is there.

Run as `python -m tests.integration.living_processes ROLE RUN_DIR`: it tells the name under which
it can be found, and then obeys what it is told, a word on a line.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs

from letagents.adapters.processes.locks import ProcessLocks
from letagents.adapters.system import SystemIds

MANY = 2_000


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
                close_fds=False,
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


def main() -> None:
    role, run_dir = sys.argv[1:]
    processes = ProcessLocks(Path(run_dir), SystemIds())
    {"live": live, "ask": ask}[role](processes)


if __name__ == "__main__":
    main()
