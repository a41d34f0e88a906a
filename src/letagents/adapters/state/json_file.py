"""The state in one JSON file, which the npm package reads and writes too."""

import errno
import glob
import os
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

import attrs
from anyio import to_thread

from letagents.adapters.state.lockfile import Held, try_acquire
from letagents.adapters.state.turns import Done, in_turn, unusable
from letagents.domain.errors import OutcomeUnknown
from letagents.domain.local_state import LocalState
from letagents.wire import records
from letagents.wire.records import Record

T = TypeVar("T")


@attrs.define
class JsonFileState:
    """Keeps the state in the file at `path`, and replaces that file as a whole.

    Readers need no lock. Who writes holds the lock file beside it, so that no two programs write
    over each other, and syncs the new file and its folder before the answer is given.
    """

    path: Path
    _mutex: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)

    async def read(self) -> LocalState:
        """Return the newest state. Raises: as StateStore."""
        return (await to_thread.run_sync(self._load)).state

    async def transact(self, decide: Callable[[LocalState], tuple[LocalState, T]]) -> T:
        """Replace the state by what `decide` makes of it. Raises: as StateStore."""
        attempt = partial(self._attempt, decide)
        return await in_turn(attempt, place=self.path, holder=self._lock)

    @property
    def _lock(self) -> Path:
        return self.path.with_name(f"{self.path.name}.lock")

    def _attempt(self, decide: Callable[[LocalState], tuple[LocalState, T]]) -> Done[T] | None:
        with self._mutex:  # threads of one process take turns here, and not at the file
            held = self._acquire()
            if held is None:
                return None
            try:
                return self._under_lock(decide, held)
            finally:
                held.release()

    def _acquire(self) -> Held | None:
        with self._translated():
            _make_folder(self.path.parent)
            held = try_acquire(self._lock)
        if held is not None and held.took_over:
            self._tidy_up()
        return held

    def _under_lock(
        self, decide: Callable[[LocalState], tuple[LocalState, T]], held: Held
    ) -> Done[T] | None:
        record = self._load()
        state, answer = decide(record.state)
        if state is record.state:
            return Done(answer)
        content = record.rewritten(state)
        with self._translated():
            return Done(answer) if self._replace(content, held) else None

    def _load(self) -> Record:
        with self._translated():
            try:
                if not stat.S_ISREG(self.path.stat().st_mode):
                    raise OSError(errno.EINVAL, "it is no file")
                content = self.path.read_bytes()
            except FileNotFoundError:
                return Record(str(self.path))
        return records.load(content, place=str(self.path))

    def _replace(self, content: bytes, held: Held) -> bool:
        """Put `content` in the file's place, unless the lock was broken by an older program."""
        temporary = self._written_beside(content)
        try:
            if not held.is_ours():
                return False
            with _open_folder(self.path.parent) as folder:
                temporary.replace(self.path)
                self._sync_folder(folder)
            return True
        finally:
            with suppress(FileNotFoundError):
                temporary.unlink()

    def _written_beside(self, content: bytes) -> Path:
        descriptor, name = tempfile.mkstemp(
            prefix=f"{self.path.name}.{os.getpid()}.", suffix=".tmp", dir=self.path.parent
        )
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                _sync(file.fileno())
        except OSError:
            Path(name).unlink()
            raise
        return Path(name)

    def _sync_folder(self, folder: int | None) -> None:
        try:
            if folder is not None:
                _sync(folder)
        except OSError as error:
            if error.errno in {errno.EINVAL, errno.ENOTSUP}:  # nothing to sync on that file system
                return
            raise OutcomeUnknown(
                f"The state in {self.path} was replaced, and may not outlast a loss of power: "
                f"{error.strerror}.",
                remedy="Check the disk with `letagents doctor`, then call again.",
            ) from error

    def _tidy_up(self) -> None:
        """Remove what an owner that died in the middle of writing left beside the file."""
        for left in self.path.parent.glob(f"{glob.escape(self.path.name)}.[0-9]*.tmp"):
            with suppress(OSError):
                left.unlink()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise unusable(self.path, error) from error


def _make_folder(folder: Path) -> None:
    """Make the folder, for its owner alone, if it is not there."""
    if folder.is_dir():
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _open_folder(folder.parent) as parent:
        if parent is not None:
            _sync(parent)


@contextmanager
def _open_folder(folder: Path) -> Iterator[int | None]:
    if os.name == "nt":  # where a folder cannot be opened, and needs no sync
        yield None
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _sync(descriptor: int) -> None:
    """Bring it to the disk, and not only as far as the disk's own memory."""
    if sys.platform == "darwin":
        import fcntl

        with suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            return
    os.fsync(descriptor)
