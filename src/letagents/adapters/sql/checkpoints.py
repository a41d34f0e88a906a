"""Checkpoints for a SQLite with the WAL-reset fault: by one process, with writers kept out."""

from pathlib import Path
from typing import Any

import attrs

from letagents.adapters.sql.file_lock import FileLock

LOG_LIMIT = 4 * 1024 * 1024
"""So large the log may grow before it is copied back into the database."""
_EVERY = 50
_PATIENCE_MS = 500


@attrs.define(eq=False)
class Checkpoints:
    """Copies the log of the database at `place` back into it, now and then."""

    _place: Path
    _limit: int = LOG_LIMIT
    _every: int = _EVERY
    _commits: int = 0
    _lock: FileLock = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._lock = FileLock(self._place.with_name(self._place.name + "-checkpoint"))

    def after_commit(self, connection: Any) -> None:
        """Do one if it is due and nobody else is at it. `connection` is the driver's own."""
        self._commits += 1
        if self._commits % self._every or self._log_size() < self._limit:
            return
        if self._lock.try_take():
            try:
                _truncate(connection)
            finally:
                self._lock.give_back()

    def _log_size(self) -> int:
        log = self._place.with_name(self._place.name + "-wal")
        return log.stat().st_size if log.exists() else 0

    def close(self) -> None:
        """Give up the lock's file."""
        self._lock.close()


def _truncate(connection: Any) -> None:
    """Copy all of the log, unless readers are in the way for long: then the next one will."""
    before = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute(f"PRAGMA busy_timeout={_PATIENCE_MS}")
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.execute(f"PRAGMA busy_timeout={before}")
