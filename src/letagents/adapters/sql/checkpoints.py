"""Copying SQLite's log back into the database, out of everybody's way.

SQLite would do it within a commit, while others wait for their turn to write. Here it is done when
the commit has been answered and the turn given back, so that only who does it is held up. With a
SQLite that has the WAL-reset fault, one process at a time does it, and keeps writers out.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs

from letagents.adapters.sql.file_lock import FileLock

EVERY = 25
"""So often, counted in commits of this process, it is looked whether it is due."""
DUE = 1_000
"""So many pages of the log wait to be copied when it is due."""
LARGE = 8_000
"""So many pages may be in the log before writers are kept out, that it can begin anew."""

_PAGE = 4_096
_PATIENCE_MS = 500

InTurn = Callable[[Callable[[], Any]], Any]


@attrs.define(eq=False)
class Checkpoints:
    """One process's care for the log of the database at `place`."""

    _place: Path
    _apart: bool
    _commits: int = 0
    _lock: FileLock = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._lock = FileLock(self._place.with_name(self._place.name + "-checkpoint"))

    def may_be_due(self) -> bool:
        """Whether it is time to look; asked after each commit, and true for the first."""
        self._commits += 1
        return self._commits % EVERY == 1

    def run(self, connection: Any, in_turn: InTurn) -> None:
        """Do what is due. `connection` is the driver's own."""
        if self._apart:
            self._copy_apart(connection)
        else:
            _copy(connection, in_turn)

    def _copy_apart(self, connection: Any) -> None:
        if self._log_size() < DUE * _PAGE or not self._lock.try_take():
            return
        try:
            _checkpoint(connection, "TRUNCATE")
        finally:
            self._lock.give_back()

    def _log_size(self) -> int:
        log = self._place.with_name(self._place.name + "-wal")
        return log.stat().st_size if log.exists() else 0

    def close(self) -> None:
        """Give up the lock's file."""
        self._lock.close()


def _copy(connection: Any, in_turn: InTurn) -> None:
    pages, copied = _checkpoint(connection, "NOOP")
    if pages - copied < DUE:
        return
    pages, _ = _checkpoint(connection, "PASSIVE")
    if pages >= LARGE:
        in_turn(lambda: _checkpoint(connection, "RESTART"))


def _checkpoint(connection: Any, mode: str) -> tuple[int, int]:
    """Return how many pages are in the log, and how many of them have been copied."""
    patience = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute(f"PRAGMA busy_timeout={_PATIENCE_MS}")
    try:
        _, pages, copied = connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
    finally:
        connection.execute(f"PRAGMA busy_timeout={patience}")
    return pages, copied
