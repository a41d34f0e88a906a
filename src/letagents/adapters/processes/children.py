"""Programs that are run for long: started apart from us, found again, and ended.

Each is the first of a group of its own, so that a signal for us is none for it, and one for it
reaches what it has started. Nothing is sent to a process whose birth is not the one we know. As
long as a child was not reaped nobody gets its number, so what it left behind is ended before that.

A program that has to be found again waits at a gate until its process is written down: a shell
that reads one line and becomes it. Whoever dies before leaves a line that ends, and no program.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO

import anyio
import attrs

from letagents.adapters.processes.births import Presence, birth_of, presence
from letagents.domain.turns import ProcessAmbiguous

GRACE = 5.0
"""Seconds that a program has to end by itself once asked. (Source: supervisor 6.14.)"""
KILLED_WITHIN = 10.0
LOOKING = 0.25
"""Seconds between two looks, where the system does not tell that a process has ended."""


_LEFT: "list[subprocess.Popen[bytes]]" = []
"""Those that were let go of: nobody is to complain that they run."""


@attrs.define(eq=False)
class Child:
    """A program that this process has started."""

    process: "subprocess.Popen[bytes]" = attrs.field(repr=False)
    pid: int
    birth: str

    @property
    def has_ended(self) -> bool:
        """Whether it has ended."""
        return presence(self.pid, self.birth) is Presence.GONE

    async def ended(self) -> int:
        """Wait for its end; return its exit code, or the number of the signal, below zero."""
        await gone(self.pid, self.birth)
        return self._reaped()

    async def end(self, grace: float = GRACE) -> int:
        """End it: ask, wait, and kill what is left.

        Raises:
            ProcessAmbiguous: it does not end, or there is no telling.
        """
        if self.process.returncode is None:
            await end(self.pid, self.birth, grace)
        return self._reaped()

    def leave(self) -> None:
        """Let go of it without ending it: we end before it does, or nobody minds."""
        _LEFT.append(self.process)

    def _reaped(self) -> int:
        if self.process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                _signal_group(self.pid, _KILL)
        return self.process.wait()


def start(
    arguments: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    stdin: "int | IO[bytes]" = subprocess.DEVNULL,
    stdout: "int | IO[bytes]" = subprocess.DEVNULL,
    stderr: "int | IO[bytes]" = subprocess.DEVNULL,
) -> Child:
    """Start a program in a session of its own.

    Raises:
        OSError: it cannot be started, or not be told apart from others; then it was ended.
    """
    process = subprocess.Popen(
        list(arguments),
        cwd=cwd,
        env=dict(env),
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
    )
    try:
        birth = birth_of(process.pid) or ""  # who has ended already has none
    except OSError:
        process.kill()
        process.wait()
        raise
    return Child(process, process.pid, birth)


_GATE = 'read -r go && exec "$@"'
_WITHOUT_INPUT = f"{_GATE} </dev/null"


async def start_known(
    arguments: Sequence[str],
    born: Callable[[int, str], Awaitable[None]],
    *,
    cwd: str,
    env: Mapping[str, str],
    has_input: bool = False,
    stdout: "int | IO[bytes]" = subprocess.DEVNULL,
    stderr: "int | IO[bytes]" = subprocess.DEVNULL,
) -> Child:
    """Start a program once `born` has written down its number and its birth.

    Raises:
        OSError: it cannot be started, or has ended meanwhile.
    """
    gate = ("/bin/sh", "-c", _GATE if has_input else _WITHOUT_INPUT, "letagents", *arguments)
    child = start(gate, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=stdout, stderr=stderr)
    entrance = child.process.stdin
    assert entrance is not None  # noqa: S101  it was asked for
    try:
        await born(child.pid, child.birth)
        entrance.write(b"go\n")
        entrance.flush()
    except BaseException:
        with suppress(OSError):
            entrance.close()
        if child.process.stdout is not None:
            child.process.stdout.close()
        child.process.wait()  # its line has ended, and with it the shell
        raise
    if not has_input:
        entrance.close()
    return child


async def end(pid: int, birth: str, grace: float = GRACE) -> None:
    """End a process and its group, if it is still the one of that birth.

    Raises:
        ProcessAmbiguous: that cannot be told, or it does not end.
    """
    for number, seconds in ((signal.SIGTERM, grace), (_KILL, KILLED_WITHIN)):
        if not _is_signalled(pid, birth, number):
            return
        if await gone_within(pid, birth, seconds):
            end_left(pid)
            return
    raise ProcessAmbiguous(pid)


def end_left(pid: int) -> None:
    """End what is left of the group of a process that was seen there, and has ended just now.

    As long as any of them lives no other process gets that number; if one has it, none is left.
    """
    try:
        if birth_of(pid) is None:
            _signal_group(pid, _KILL)
    except OSError:  # nobody is left, or there is no telling
        pass


async def gone_within(pid: int, birth: str, seconds: float) -> bool:
    """Wait, no longer than that, until a process has ended; return whether it has."""
    with anyio.move_on_after(seconds):
        await gone(pid, birth)
    return presence(pid, birth) is Presence.GONE


async def gone(pid: int, birth: str) -> None:
    """Wait until a process has ended, whoever started it."""
    while presence(pid, birth) is not Presence.GONE:
        if not await _told_of_end(pid, birth):
            await anyio.sleep(LOOKING)


def _is_signalled(pid: int, birth: str, number: int) -> bool:
    """Signal the group of a process; return whether the process was there."""
    there = presence(pid, birth)
    if there is Presence.UNKNOWN:
        raise ProcessAmbiguous(pid)
    if there is Presence.GONE:
        return False
    try:
        _signal_group(pid, number)
    except ProcessLookupError:
        return False
    return True


if sys.platform == "win32":
    _KILL = signal.SIGTERM

    def _signal_group(pid: int, number: int) -> None:
        os.kill(pid, number)

else:
    _KILL = signal.SIGKILL
    _signal_group = os.killpg


if sys.platform == "linux":

    async def _told_of_end(pid: int, birth: str) -> bool:
        """Wait until the kernel tells that the process has ended; False if it does not tell."""
        try:
            descriptor = os.pidfd_open(pid)
        except OSError:
            return False
        try:
            if presence(pid, birth) is Presence.SAME:  # and not a later one, of that number
                await anyio.wait_readable(descriptor)
        finally:
            os.close(descriptor)
        return True

else:

    async def _told_of_end(pid: int, birth: str) -> bool:
        return False
