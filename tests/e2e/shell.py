"""The command line as a shell runs it: real processes, a home of their own, every wait bounded."""

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Self, cast

PATIENCE = 60
"""Seconds until a wait is given up; nothing here depends on how busy the machine is."""

COMMAND = (sys.executable, "-m", "letagents")
_LEFT_OUT = ("LETAGENTS_", "AGENT_", "CODEX_", "NO_COLOR")


def environment(home: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment in which nothing of letagents is set but its home and the owner.

    Chats enter no room by themselves: tests run in a checkout. What is made for a while is made
    beside the home, and goes with it.
    """
    plain = {name: value for name, value in os.environ.items() if not name.startswith(_LEFT_OUT)}
    ours = {"LETAGENTS_HOME": str(home), "LETAGENTS_AGENT_OWNER_LABEL": "Grace"}
    ours["LETAGENTS_AUTO_JOIN"] = "0"
    ours["LETAGENTS_CODEX_BIN"] = str(home / "no-codex")
    return {**plain, **ours, "TMPDIR": str(home.parent), **(more or {})}


def begun(words: Sequence[str], environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    """Start a command whose streams are pipes; as itself, where its Python is told anything."""
    told = any(name.startswith("PYTHON") and name not in os.environ for name in environment)
    if sys.platform == "win32" or told:
        return begun_anew(words, environment)
    from tests.e2e.forks import Forked

    return cast("subprocess.Popen[bytes]", Forked(words, environment))


def begun_anew(words: Sequence[str], environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    """Start a command whose streams are pipes, as a shell would."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [*COMMAND, *words], stdin=pipe, stdout=pipe, stderr=pipe, env=environment
    )


def run(
    home: Path, *words: str, given: bytes = b"", settings: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run one command to its end."""
    process = begun(words, environment(home, settings))
    out, errors = process.communicate(given, PATIENCE)
    return subprocess.CompletedProcess(
        process.args, process.returncode, out.decode(), errors.decode()
    )


class Running:
    """A command that goes on, seen line by line."""

    def __init__(
        self,
        home: Path,
        words: Sequence[str],
        *,
        out: "int | IO[bytes]" = subprocess.PIPE,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        told = environment(home, settings)
        if out == subprocess.PIPE:
            self.process = begun(words, told)
            assert self.process.stdin is not None
            self.process.stdin.close()
        else:
            self.process = subprocess.Popen(
                [*COMMAND, *words], stdout=out, stderr=subprocess.PIPE, env=told
            )
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        if self.process.stdout is not None:
            threading.Thread(target=self._read, args=[self.process.stdout], daemon=True).start()
        # Nobody reads this until the end, and a full pipe would stop the process.
        self._complaints: list[bytes] = []
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()

    def _read(self, stream: IO[bytes]) -> None:
        with stream:
            for line in stream:
                self._lines.put(line)

    def line(self) -> str:
        """Return the next line."""
        return self._lines.get(timeout=PATIENCE).decode().rstrip("\r\n")

    def ended(self) -> int:
        """Wait for its end; return its exit code."""
        return self.process.wait(PATIENCE)

    def complaints(self) -> str:
        """Return what it wrote to standard error until its end."""
        self._listening.join(PATIENCE)
        return b"".join(self._complaints).decode()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as errors:
            self._complaints.extend(errors)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE)
