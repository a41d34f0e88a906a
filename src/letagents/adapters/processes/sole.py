"""Who alone does one thing on this machine: the system lets the next one when its process ends."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from letagents.adapters import private


@contextmanager
def sole(file: Path) -> Iterator[bool]:
    """Yield whether this one does it now, for as long as this is open; the file stands for it.

    Where no lock is to be had everybody does it.
    """
    descriptor = _opened(file)
    is_ours = descriptor is None or (_is_taken(descriptor) and _is_there(file, descriptor))
    try:
        yield is_ours
    finally:
        if descriptor is not None:
            if is_ours:
                with suppress(OSError):
                    file.unlink()
            os.close(descriptor)


def _opened(file: Path) -> int | None:
    if sys.platform == "win32":
        return None
    try:
        private.make_folder(file.parent)
        return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return None


def _is_taken(descriptor: int) -> bool:
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # this file system has no locks
        return True
    return True


def _is_there(file: Path, descriptor: int) -> bool:
    """Whether that is the file which others find: the one before us may have removed it."""
    try:
        return os.path.samestat(file.stat(), os.fstat(descriptor))
    except OSError:
        return False
