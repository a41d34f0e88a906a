"""Programs of others: where they are, which version, and what they said before they failed."""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT, TimeoutExpired, run
from typing import IO

import attrs
from anyio import to_thread

from letagents.adapters.providers.environment import without_ours
from letagents.domain import redaction
from letagents.domain.turns import ProviderMissing, ProviderUnusable, WorkspaceMissing
from letagents.ports.providers import Cause

VERSION_WITHIN = 8.0
LARGEST_OUTPUT = 1024 * 1024
"""Bytes of what a program wrote, after which its beginning is let go of when a turn begins."""
TAIL = 12_000
SHOWN = 4_000
"""Characters of what a program wrote that are kept, and shown. (Source: supervisor 6.14.)"""


@attrs.frozen
class Program:
    """A program of another maker."""

    name: str
    command: str
    install: str
    variable: str

    def found(self, environ: Mapping[str, str] = os.environ) -> str:
        """Return where it is.

        Raises:
            ProviderMissing: nowhere.
        """
        wanted = environ.get(self.variable, "").strip() or self.command
        path = shutil.which(wanted, path=environ.get("PATH"))
        if path is None:
            raise ProviderMissing(self.name, wanted, self.install, self.variable)
        return path

    async def version(self) -> str:
        """Return which version is installed.

        Raises:
            ProviderMissing: none is.
            ProviderUnusable: it does not say.
        """
        path = self.found()
        return await to_thread.run_sync(self._asked, path)

    def _asked(self, path: str) -> str:
        try:
            told = run(
                [path, "--version"],
                env=without_ours(),
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=STDOUT,
                timeout=VERSION_WITHIN,
                check=False,
            )
        except (OSError, TimeoutExpired) as error:
            raise self.unusable("it does not tell its version") from error
        text = told.stdout.decode("utf-8", "replace")
        found = re.search(r"\d+\.\d+[\w.+-]*", text)
        if told.returncode != 0 or found is None:
            raise self.unusable("it does not tell its version", text)
        return found[0]

    def unusable(self, why: str, output: str = "") -> ProviderUnusable:
        """Return the error for a program that is there and cannot be used."""
        said = redaction.shown(output.strip(), SHOWN)
        return ProviderUnusable(
            f"{self.name} cannot be used: {why}{f'. It wrote: {said}' if said else '.'}",
            remedy=f"Run `{self.command}` yourself to see what is wrong, or install it anew with "
            f"`{self.install}`.",
        )


CODEX = Program("Codex", "codex", "npm install -g @openai/codex", "LETAGENTS_CODEX_BIN")
CLAUDE = Program(
    "Claude Code", "claude", "npm install -g @anthropic-ai/claude-code", "LETAGENTS_CLAUDE_BIN"
)
CURSOR = Program(
    "Cursor",
    "cursor-agent",
    "curl https://cursor.com/install -fsS | bash",
    "LETAGENTS_CURSOR_BIN",
)
OPENCODE = Program("OpenCode", "opencode", "npm install -g opencode-ai", "LETAGENTS_OPENCODE_BIN")


def how_it_ended(code: int | None, *, is_stopped: bool) -> Cause:
    """Return why a process ended that ended with `code`; None where that is not known."""
    if is_stopped:
        return Cause.STOPPED
    if code == 0:
        return Cause.EXITED
    return Cause.KILLED if code == -9 else Cause.CRASHED


class Output:
    """Where a program writes, of which the end is read. It has no name in any folder."""

    def __init__(self) -> None:
        self.file: IO[bytes] = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  it outlasts us
        self._last = ""
        if sys.platform != "win32":
            import fcntl

            # Whoever writes there goes on at its end, also once it was made shorter.
            fcntl.fcntl(self.file, fcntl.F_SETFL, os.O_APPEND)

    def trim(self) -> None:
        """Keep the end alone of what was written, once that is much."""
        if self.file.closed or sys.platform == "win32":
            return
        descriptor = self.file.fileno()
        with suppress(OSError):
            size = os.fstat(descriptor).st_size
            if size <= LARGEST_OUTPUT:
                return
            end = os.pread(descriptor, TAIL, size - TAIL)
            os.ftruncate(descriptor, 0)
            os.write(descriptor, end)

    def tail(self) -> str:
        """Return what was written last, without secrets."""
        if not self.file.closed and sys.platform != "win32":
            with suppress(OSError):
                size = os.fstat(self.file.fileno()).st_size
                written = os.pread(self.file.fileno(), TAIL, max(0, size - TAIL))
                self._last = redaction.shown(written.decode("utf-8", "replace"), SHOWN)
        return self._last

    def close(self) -> str:
        """Let go of it; return what was written last."""
        last = self.tail()
        self.file.close()
        return last


def written(text: str, suffix: str = "") -> Path:
    """Write a text into a file for this user alone, where a program reads it; return that."""
    descriptor, name = tempfile.mkstemp(prefix="letagents-", suffix=suffix)  # mode 0600
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return Path(name)


def command_path(folder: str) -> str:
    """Return the folder as its program will see it.

    Raises:
        WorkspaceMissing: it is not there.
    """
    path = Path(folder).resolve()
    if not path.is_dir():
        raise WorkspaceMissing(folder)
    return str(path)
