"""Processes known by a file that each holds as long as it lives: the system lets go when it ends.

A process makes a file under a new name, takes the system's lock on it, and gives that name to
rooms. Nobody ever takes such a lock again, so a file whose lock is free is a process that has
ended. Who asks takes a shared lock for a moment: any number may, beside each other, and only the
holder's own lock is in the way. A file that is not there says nothing, for it may be in another
home, or have been removed. In its file a process writes again and again that it is there, so that
others know, once it is gone, until when it was.

On Windows there is no shared lock. There a file that somebody has open cannot be renamed, which
the system sees to as well; so who asks tries to rename it, and it succeeds once, for ever.
"""

import os
import sys
import threading
import weakref
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Self

import attrs

from letagents.adapters import private
from letagents.adapters.system import SystemClock
from letagents.domain.ticks import Tick
from letagents.ports.clock import Clock
from letagents.ports.ids import Ids

if sys.platform != "win32":
    import fcntl

REMEMBERED = 256
"""The newest files that stay in any case. Once there are twice as many, those of the others are
removed whose processes have ended."""

SAID_EVERY = 30.0
"""Seconds between two times that a process says that it is there, at most."""
SAID_IN_A_TERM = 4
"""So often it says so in a term at least: a term counts from the last time."""

_LONGEST = 200
_TRIES = 3
_GONE = ".gone"


def said_every(term: timedelta) -> float:
    """Return after how many seconds a process says again that it is there, for leases of `term`."""
    return min(SAID_EVERY, term.total_seconds() / SAID_IN_A_TERM)


@attrs.define(eq=False)
class ProcessLocks:
    """Knows the processes that use `run_dir`. Any thread may ask.

    This process gets its name when it is first asked for.
    """

    _run_dir: Path
    _ids: Ids
    _clock: Clock = attrs.field(factory=SystemClock)
    _every: float = SAID_EVERY
    _held: "_Held | None" = None
    _lock: threading.Lock = attrs.field(factory=threading.Lock)
    _is_closed: bool = False

    @property
    def own(self) -> str | None:
        """The name of this process; None where the place takes no files, or no locks."""
        with self._lock:
            if self._held is not None and self._held.is_let_go:
                self._held = None  # it is our parent's: we were forked
            if self._held is None and not self._is_closed:
                self._held = self._take()
                if self._held is not None:
                    self._keep_saying_so(self._held)
            return self._held.name if self._held else None

    def is_alive(self, process: str) -> bool | None:
        """Whether that process is there; None where there is no telling."""
        if self._held is not None and self._held.is_of(process):
            return True
        try:
            return _is_held(self._folder / _checked(process))
        except OSError:
            return None

    def last_seen(self, process: str) -> Tick | None:
        """Return when that process was there last."""
        try:
            with (self._folder / _checked(process)).open("rb") as file:
                _, boot, seconds = file.read(_LONGEST).decode("ascii").split()
            return Tick("" if boot == "-" else boot, float(seconds))
        except (OSError, ValueError):
            return None

    def close(self) -> None:
        """Be gone, as if the process had ended."""
        with self._lock:
            self._is_closed = True
            if self._held is not None:
                self._held.let_go()

    def fault(self) -> str | None:
        """Return why other processes cannot tell whether this one is there; None if they can."""
        file = self._run_dir / f".doctor-{self._ids.uuid()}"
        try:
            with _hold(file):
                is_seen = _is_held(file)
        except OSError as error:
            return error.strerror or str(error)
        finally:
            with suppress(OSError):
                file.unlink()
        return None if is_seen else "locks are granted here, and not kept"

    @property
    def _folder(self) -> Path:
        return self._run_dir / "processes"

    def _keep_saying_so(self, held: "_Held") -> None:
        """Write that this process is there, now and from time to time, as long as it holds."""
        held.say(self._clock.tick())

        def say_so() -> None:
            while not held.gone.wait(self._every):
                held.say(self._clock.tick())

        threading.Thread(target=say_so, name="still-here", daemon=True).start()

    def _take(self) -> "_Held | None":
        with suppress(OSError):
            private.make_folder(self._folder)
            for _ in range(_TRIES):
                if (held := self._made()) is not None:
                    _remove_old(self._folder)
                    return held
        return None

    def _made(self) -> "_Held | None":
        """Return a new file, held, or None if somebody met it before it was locked."""
        file = self._folder / self._ids.uuid()
        try:
            held = _hold(file)
        except BlockingIOError:
            return None
        if _is_at(file, held.descriptor):
            return held
        held.let_go()
        return None


@attrs.define(eq=False)
class _Held:
    """A file whose lock this process has."""

    name: str
    descriptor: int
    is_let_go: bool = False
    gone: threading.Event = attrs.field(factory=threading.Event)
    _writing: threading.Lock = attrs.field(factory=threading.Lock)

    def say(self, tick: Tick) -> None:
        """Write down that the process was there at `tick`."""
        said = f"{os.getpid()} {tick.boot or '-'} {tick.seconds:.3f}\n".encode("ascii")
        with self._writing, suppress(OSError):
            if not self.is_let_go:  # else the number may be another file's by now
                os.lseek(self.descriptor, 0, os.SEEK_SET)
                os.write(self.descriptor, said)

    def is_of(self, process: str) -> bool:
        return self.name == process and not self.is_let_go

    def let_go(self) -> None:
        with self._writing:
            self.let_go_alone()

    def let_go_alone(self) -> None:
        """Let go where no other thread is: in a child, whose parent's threads it has not."""
        if not self.is_let_go:
            self.is_let_go = True
            self.gone.set()
            os.close(self.descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.let_go()


_HELD: "weakref.WeakSet[_Held]" = weakref.WeakSet()


def _let_go_in_child() -> None:
    """Let go of what the parent holds: it has to end with the parent."""
    for held in tuple(_HELD):
        held.let_go_alone()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_in_child)


def _hold(file: Path) -> _Held:
    """Make `file`, which is not there, and hold it.

    Raises:
        OSError: it cannot be made or locked.
    """
    held = _Held(file.name, os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    _HELD.add(held)
    try:
        if sys.platform != "win32":
            fcntl.flock(held.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        held.let_go()
        file.unlink()
        raise
    return held


def _is_at(file: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), file.lstat())
    except FileNotFoundError:
        return False


def _checked(process: str) -> str:
    """Return the name if it is one that a process here can have."""
    if not process or not process.replace("-", "").isalnum():
        raise FileNotFoundError(process)
    return process


if sys.platform == "win32":

    def _is_held(file: Path) -> bool:
        gone = file.with_name(f"{file.name}{_GONE}")
        try:
            file.rename(gone)
        except PermissionError:
            return True
        except FileNotFoundError:
            if not gone.exists():
                raise
        return False

    def _remove(file: Path) -> None:
        file.unlink()  # where it can be, nobody holds it

else:

    def _is_held(file: Path) -> bool:
        """Whether somebody holds the file.

        Raises:
            OSError: it is not there, or there is no telling.
        """
        descriptor = os.open(file, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def _remove(file: Path) -> None:
        if not _is_held(file):
            file.unlink()


def _remove_old(folder: Path) -> None:
    """Remove files of processes that have ended, as far as there are too many files."""
    files = list(folder.iterdir())
    if len(files) <= 2 * REMEMBERED:
        return
    for file in sorted(files, key=_age)[REMEMBERED:]:
        with suppress(OSError):
            _remove(file)


def _age(file: Path) -> float:
    try:
        return -file.lstat().st_mtime
    except OSError:
        return 0.0  # it has gone meanwhile
