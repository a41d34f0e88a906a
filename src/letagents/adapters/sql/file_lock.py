"""A lock on a file, dropped by the kernel when its process dies. On Windows nobody is kept out."""

import os
import sys
from pathlib import Path

import attrs

if sys.platform != "win32":
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
        if sys.platform == "win32":
            return True
        try:
            fcntl.flock(self._opened(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def take(self) -> None:
        """Take the lock once those who asked before have had it. Raises: as `try_take`."""
        if sys.platform != "win32":
            fcntl.flock(self._opened(), fcntl.LOCK_EX)

    def give_back(self) -> None:
        """Let the next one have it."""
        if sys.platform != "win32" and self._descriptor is not None:
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
