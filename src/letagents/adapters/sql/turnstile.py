"""Whose turn it is to write, among processes: first come, first served.

SQLite gives its write lock to whoever asks at the right moment, and who waits for it sleeps longer
and longer; of several busy processes, some would starve. So they queue for a lock on a file beside
the database, which the kernel hands on in order. This is a courtesy and no safeguard: SQLite's own
lock keeps writers apart. Who has waited long (the holder may be stopped), or cannot have the file,
goes on without a turn.
"""

import contextlib
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

import attrs

from letagents.adapters.sql.file_lock import FileLock

T = TypeVar("T")

PATIENCE = 0.5
"""So many seconds a writer waits for its turn."""


@attrs.define(eq=False)
class Turnstile:
    """One process's way through the turnstile of a database; one of its threads at a time."""

    _file: Path
    _patience: float = PATIENCE
    _lock: FileLock = attrs.field(init=False)
    _usher: "_Usher | None" = None

    def __attrs_post_init__(self) -> None:
        self._lock = FileLock(self._file)

    def passed(self, work: Callable[[], T]) -> T:
        """Return what `work` returns, having done it in turn if turns can be had."""
        try:
            is_free = self._lock.try_take()
        except OSError:
            return work()
        if not is_free:
            return self._after_waiting(work)
        try:
            return work()
        finally:
            self._lock.give_back()

    def _after_waiting(self, work: Callable[[], T]) -> T:
        if self._usher is None:
            self._usher = _Usher(self._file)
        if self._usher.is_waiting:
            return work()
        turn = self._usher.ask(work)
        try:
            return turn.result(self._patience)
        except TimeoutError:
            return work() if turn.cancel() else turn.result()

    def close(self) -> None:
        """Give up the file."""
        self._lock.close()
        if self._usher is not None:
            self._usher.dismiss()


class _Usher:
    """A thread that waits in line and does the work itself when its turn comes.

    So no time is lost, once the turn has come, by waking another thread first.
    """

    def __init__(self, file: Path) -> None:
        self._lock = FileLock(file)
        self._asked: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]
        self._asked = queue.SimpleQueue()
        self.is_waiting = False
        threading.Thread(target=self._run, name="rooms-usher", daemon=True).start()

    def ask(self, work: Callable[[], T]) -> Future[T]:
        """Return what `work` will return; it can be cancelled until its turn comes."""
        turn: Future[T] = Future()
        self.is_waiting = True
        self._asked.put((turn, work))
        return turn

    def dismiss(self) -> None:
        """Let the thread end."""
        self._asked.put(None)

    def _run(self) -> None:
        while (asked := self._asked.get()) is not None:
            with contextlib.suppress(OSError):
                self._lock.take()
            self.is_waiting = False
            _do(*asked)
            self._lock.give_back()
        self._lock.close()


def _do(turn: Future[T], work: Callable[[], T]) -> None:
    if not turn.set_running_or_notify_cancel():
        return
    try:
        turn.set_result(work())
    except BaseException as error:  # noqa: BLE001  # it is raised where the result is asked for
        turn.set_exception(error)
