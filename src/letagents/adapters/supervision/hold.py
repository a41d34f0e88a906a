"""The right to be the supervisor of a home: a lock that the system drops when its process dies.

The generation is in a file beside it, which is written anew, synced and put in its place before
anything is served.
"""

import os
import sys
from pathlib import Path

import attrs

from letagents.adapters import private
from letagents.adapters.sql.file_lock import FileLock
from letagents.domain import generations
from letagents.domain.errors import StateUnavailable
from letagents.domain.generations import AlreadySupervised, FenceLost

LOCK = "daemon.lock"
COUNTER = "daemon.lock.generation"
JOURNAL = "supervisor.db"
_OWN = (LOCK, COUNTER, *(f"{JOURNAL}{part}" for part in ("", "-wal", "-shm", "-turn")))
"""Files that are ours alone, and no links to others."""
_LONGEST = 64


@attrs.define(eq=False)
class HomeHold:
    """One process's right to supervise the agents of `home`; `take` it first."""

    _home: Path
    _lock: FileLock = attrs.field(init=False)
    _counter: str = attrs.field(init=False)
    """It is read for each request."""
    _generation: int = attrs.field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        self._lock = FileLock(self._home / LOCK)
        self._counter = str(self._home / COUNTER)

    @property
    def generation(self) -> int:
        """Which supervisor of the home this is."""
        return self._generation

    def take(self) -> None:
        """Take the right, and be the next generation.

        Raises:
            AlreadySupervised: another process has it.
            GenerationDamaged: the file that counts them is not as it was written.
            StateUnavailable: the files cannot be had.
        """
        try:
            private.make_folder(self._home)
            private.close_to_others(self._home, *(self._home / name for name in _OWN))
            if not self._lock.try_take():
                raise AlreadySupervised
            self._generation = self._next()
        except OSError as error:
            self.close()
            raise StateUnavailable(
                f"{self._home} cannot be supervised: {error.strerror or error}.",
                remedy="Let this user write there, or set LETAGENTS_HOME to another folder.",
            ) from error
        except BaseException:
            self.close()
            raise

    def _next(self) -> int:
        generation = generations.next_generation(self._counted())
        self._count(generation)
        return generation

    def check(self) -> None:
        """Do nothing as long as no newer supervisor has taken over. Raises: FenceLost."""
        if not self._generation:
            raise FenceLost
        generations.check_fence(self._generation, self._counted())

    def close(self) -> None:
        """Give the right up; the files stay."""
        self._generation = 0
        self._lock.close()

    def _counted(self) -> str | None:
        try:
            descriptor = os.open(self._counter, os.O_RDONLY)
        except FileNotFoundError:
            return None
        try:
            return os.read(descriptor, _LONGEST).decode("ascii", "replace")
        finally:
            os.close(descriptor)

    def _count(self, generation: int) -> None:
        fresh = self._home / f"{COUNTER}.{os.getpid()}"
        fresh.unlink(missing_ok=True)
        try:
            with open(fresh, "xb", buffering=0, opener=_for_us_alone) as file:
                file.write(f"{generation}\n".encode("ascii"))
                os.fsync(file.fileno())
            fresh.replace(self._counter)
        except OSError:
            fresh.unlink(missing_ok=True)
            raise
        _sync_folder(self._home)


def _for_us_alone(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _sync_folder(folder: Path) -> None:
    if sys.platform == "win32":  # where folders are not synced, and need not be
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
