"""Processes of the command line that are forked from one which has loaded it already.

Each is a process of its own, with the arguments, environment, folder and streams that it was given,
as if a shell had started it; but loading letagents, which would be most of what it costs, was done
before. Tests of loading and of starting start theirs themselves.
"""

import contextlib
import gc
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]
STREAMS = 3
REQUEST = 1 << 20
"""More bytes than a request has; an environment is all that could be long in it."""


class Forked:
    """A command that runs, its streams pipes, with as much of subprocess.Popen as tests use."""

    def __init__(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        module: str = "letagents",
    ) -> None:
        self.args = [module, *words]
        self.returncode: int | None = None
        given, writing = os.pipe()
        reading, out = os.pipe()
        complaints, errors = os.pipe()
        self.stdin, self.stdout = os.fdopen(writing, "wb"), os.fdopen(reading, "rb")
        self.stderr = os.fdopen(complaints, "rb")
        self._told, telling = os.pipe()
        _zygote().fork(self.args, dict(environment), [given, out, errors, telling])
        for descriptor in (given, out, errors, telling):
            os.close(descriptor)
        self.pid = int(os.read(self._told, 20))

    def poll(self) -> int | None:
        """Return its exit code if it has ended, negative if by a signal."""
        return self._status(0)

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code once it has ended."""
        status = self._status(timeout)
        if status is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return status

    def communicate(self, given: bytes = b"", timeout: float | None = None) -> tuple[bytes, bytes]:
        """Give it its input and return what it wrote, once it has ended."""
        with ThreadPoolExecutor(max_workers=STREAMS) as threads:
            giving = threads.submit(self._give, given)
            told = [threads.submit(stream.read) for stream in (self.stdout, self.stderr)]
            try:
                self.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
            giving.result()
            out, errors = (one.result() for one in told)
        self.stdout.close()
        self.stderr.close()
        return out, errors

    def _give(self, given: bytes) -> None:
        with contextlib.suppress(BrokenPipeError), self.stdin as stdin:
            stdin.write(given)

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def _status(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._told], [], [], timeout)[0]:
            status = int(os.read(self._told, 20) or 1)
            os.close(self._told)
            self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


# --- the process that they are forked from --------------------------------------------------------


class Zygote:
    """A process that has loaded letagents and starts nothing but forks of itself."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            number = theirs.fileno()
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(number)],
                stdin=subprocess.DEVNULL,
                pass_fds=[number],
            )
        self._socket = ours
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, REQUEST)

    def fork(self, words: list[str], environment: dict[str, str], streams: list[int]) -> None:
        """Start a command with these streams, and a pipe to which its pid and status are told."""
        request = json.dumps([words, environment, str(Path.cwd())]).encode(
            "utf-8", "surrogateescape"
        )
        socket.send_fds(self._socket, [request], streams)


@cache
def _zygote() -> Zygote:
    return Zygote()


def _served(control: socket.socket) -> tuple[list[str], dict[str, str], str]:
    """Fork for each request, until nobody can ask any more; return in a fork, what it is to run."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        request, streams, _, _ = socket.recv_fds(control, REQUEST, STREAMS + 1)
        if not request:
            os._exit(0)
        if os.fork() == 0:
            control.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            _keep(streams)
            words, environment, folder = json.loads(request)
            return words, environment, folder
        for descriptor in streams:
            os.close(descriptor)


def _keep(streams: list[int]) -> None:
    """Return in a child with these streams; tell of it, and of its end, to the last of them."""
    *given, telling = streams
    held, let_go = os.pipe()
    if (child := os.fork()) == 0:
        os.close(let_go)
        os.read(held, 1)  # its pid is told before it does anything
        for number, descriptor in enumerate(given):
            os.dup2(descriptor, number)
        os.closerange(STREAMS, max(*streams, held) + 1)
        return
    for descriptor in given:
        os.close(descriptor)
    os.write(telling, str(child).encode())
    os.close(let_go)
    _, status = os.waitpid(child, 0)
    os.write(telling, str(status).encode())
    os._exit(0)


def _load_all() -> None:
    import letagents
    from letagents.adapters.sql.sqlite_library import library

    for module in pkgutil.walk_packages(letagents.__path__, "letagents."):
        if not module.name.startswith(("letagents.testing", "letagents.__main__")):
            import_module(module.name)
    for name in ("anyio._backends._asyncio", "sqlalchemy.dialects.sqlite.pysqlite"):
        import_module(name)  # what is loaded by who opens rooms
    library()


def main() -> None:
    """Be that process, and in the end one of its forks."""
    control = socket.socket(fileno=int(sys.argv[1]))
    _load_all()
    gc.freeze()
    words, environment, folder = _served(control)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    time.tzset()
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    module, *sys.argv[1:] = words
    sys.path.insert(0, str(ROOT))
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
