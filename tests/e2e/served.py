"""`letagents serve` as a process of a test, and a client of it without any of our own code."""

import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import httpx
from tests.e2e.shell import PATIENCE, Running, run

Plain = dict[str, Any]


@attrs.frozen
class Server:
    """A server that runs, and what it said of itself."""

    home: Path
    said: Plain
    running: Running

    @property
    def url(self) -> str:
        """Where it is."""
        return str(self.said["url"])

    @property
    def settings(self) -> dict[str, str]:
        """What a program is told that is to use it."""
        return {"LETAGENTS_API_URL": self.url}

    def http(self, token: str | None = None) -> httpx.Client:
        """Return a client for whoever has `token`."""
        shown = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=self.url, headers=shown, timeout=PATIENCE)

    def account(self, login: str) -> str:
        """Make an account; return its token."""
        done = run(self.home, "accounts", "add", login)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    @property
    def owner(self) -> str:
        """The token of the machine's owner."""
        kept = json.loads((self.home / "server-owner.json").read_text("utf-8"))
        return str(kept["servers"][-1]["token"])

    def stop(self) -> int:
        """Ask it to end, and return its exit code."""
        if sys.platform == "win32":
            self.running.process.terminate()
        else:
            os.kill(self.running.process.pid, signal.SIGTERM)
        return self.running.ended()


QUIETLY = {"LETAGENTS_LOG_LEVEL": "warning"}
"""For servers that are asked much: what they write to their log is read at the end alone."""


@contextmanager
def served(home: Path, *words: str, settings: Mapping[str, str] | None = None) -> Iterator[Server]:
    """Serve rooms from `home`, at a port that is free."""
    command = ["serve", "--port", "0", "--json", *words]
    with Running(home, command, settings=settings) as running:
        yield Server(home, json.loads(running.line()), running)
