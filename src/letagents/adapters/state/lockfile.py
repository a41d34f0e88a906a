"""The lock beside the state file, which the npm package takes too.

To it, a lock is a file that it managed to create, and a file older than ten seconds is nobody's.
We keep to that: the file's presence is the lock. Beyond that, ours is signed, and its owner keeps
the operating system's lock on it, which ends when its process does. So of a signed file it is known
whether its owner lives: a live owner's lock is never broken, however old it is, and a dead owner's
is taken over at once.

A lock is taken over in place, by whoever got the operating system's lock on that very file: nothing
is removed, so two who find the same dead owner cannot remove each other's lock. Who holds it is
told by the file's identity, which no other file has while we keep it open; so nobody removes a lock
that is not its own.
"""

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import attrs

STALE_AFTER = 10.0
"""Seconds after which an unsigned lock is nobody's. (Source: state-and-rules.md 2.4.)"""

_SIGNATURE = b"letagents "
_FAR = 1 << 30
"""Where Windows locks a byte: a locked one cannot be read, so it is one that is not there."""


@attrs.frozen
class Held:
    """The lock, held. `took_over` says that the owner before us died, or lost it by its age."""

    path: Path
    descriptor: int
    took_over: bool = False

    def is_ours(self) -> bool:
        """Whether the lock is still this one: an older program may break it after ten seconds."""
        return _is_at(self.path, self.descriptor)

    def release(self) -> None:
        """Give the lock back; if somebody else holds it by now, it stays theirs."""
        remove = self.is_ours()
        if os.name == "nt":  # where a file that is open cannot be removed
            os.close(self.descriptor)
        with suppress(OSError):  # what stays is signed, and its owner will be seen to be gone
            if remove:
                self.path.unlink()
        if os.name != "nt":
            os.close(self.descriptor)


def try_acquire(path: Path) -> Held | None:
    """Return the lock at `path`, or None while somebody else holds it.

    Raises:
        OSError: it can be neither made nor looked at.
    """
    try:
        found = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return _created(path)
    held = None
    try:
        held = _taken_over(path, found)
    finally:
        if held is None:
            os.close(found)
    return held


def _taken_over(path: Path, found: int) -> Held | None:
    """Return the lock if its owner is gone. While we look, nobody else of ours can."""
    if not _locked(found) or not _is_at(path, found):
        return None
    if not _is_signed(found) and _age(path, found) <= STALE_AFTER:
        return None
    _sign(found)
    return Held(path, found, took_over=True)


def _created(path: Path) -> Held | None:
    """Make the lock, so that it is signed and locked from the moment it is there."""
    if os.name == "nt":
        return _created_in_place(path)
    descriptor, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        _locked(descriptor)
        _sign(descriptor)
        os.link(name, path)
    except FileExistsError:
        os.close(descriptor)
        return None
    except OSError:  # a file system without hard links
        os.close(descriptor)
        return _created_in_place(path)
    finally:
        Path(name).unlink()
    return Held(path, descriptor)


def _created_in_place(path: Path) -> Held | None:
    """Make the lock, and then sign it: an owner that dies between leaves one to be waited for."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return None
    held = Held(path, descriptor)
    is_kept = False
    try:
        if _locked(descriptor):
            _sign(descriptor)
            is_kept = True
    finally:
        if not is_kept:
            held.release()
    return held if is_kept else None


def _is_at(path: Path, descriptor: int) -> bool:
    """Whether the open file is the one that `path` names."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def _is_signed(descriptor: int) -> bool:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return os.read(descriptor, len(_SIGNATURE)) == _SIGNATURE


def _sign(descriptor: int) -> None:
    """Say whose lock it is, for people too. It is a new file's age from now on."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, b"%b%d\n" % (_SIGNATURE, os.getpid()))


def _age(path: Path, descriptor: int) -> float:
    """Return the file's age in seconds by the file system's own clock, which may be another's."""
    new, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        return os.fstat(new).st_mtime - os.fstat(descriptor).st_mtime
    finally:
        os.close(new)
        Path(name).unlink()


if sys.platform == "win32":

    def _locked(descriptor: int) -> bool:
        """Take the operating system's lock on the file, unless another process has it."""
        import msvcrt

        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:

    def _locked(descriptor: int) -> bool:
        """Take the operating system's lock on the file, unless another process has it."""
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
