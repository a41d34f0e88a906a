"""A lock on a file, dropped by the system when its process dies."""

import os
import sys
from pathlib import Path

import attrs

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


@attrs.define(eq=False)
class FileLock:
    """One holder's hold on `file`, which is made when first needed and never removed."""

    _file: Path
    _descriptor: int | None = None

    def try_take(self) -> bool:
        """Take the lock if nobody has it.

        Raises:
            OSError: the file cannot be had.
        """
        descriptor = self._opened()
        try:
            if sys.platform == "win32":
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def take(self) -> None:
        """Take the lock once those who asked before have had it. Raises: as `try_take`."""
        descriptor = self._opened()
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX)

    def give_back(self) -> None:
        """Let the next one have it."""
        if self._descriptor is None:
            return
        if sys.platform == "win32":
            msvcrt.locking(self._descriptor, msvcrt.LK_UNLCK, 1)
        else:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        """Give up the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _opened(self) -> int:
        if self._descriptor is None:
            self._descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o600)
        return self._descriptor
