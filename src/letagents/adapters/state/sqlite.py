"""The state in one row of a SQLite file."""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import attrs

from letagents.adapters.sql import sqlite_library
from letagents.adapters.sql.sqlite_library import SqliteLibrary
from letagents.adapters.state.turns import Done, in_turn, unusable
from letagents.domain.errors import StateUnavailable
from letagents.domain.local_state import LocalState
from letagents.wire import records
from letagents.wire.records import Record

T = TypeVar("T")

_BUSY = {5, 6}
_NO_STATE = {11, 26}
"""SQLite's codes for a damaged file, and for one that is no database."""

_CREATE = (
    "CREATE TABLE IF NOT EXISTS state "
    "(id INTEGER PRIMARY KEY CHECK (id = 1), document TEXT NOT NULL)"
)
_READ = "SELECT document FROM state WHERE id = 1"
_WRITE = (
    "INSERT INTO state (id, document) VALUES (1, ?) "
    "ON CONFLICT (id) DO UPDATE SET document = excluded.document"
)


class _NotOurTurn(Exception):
    """Another connection has the database."""


@attrs.define
class SqliteState:
    """Keeps the state as one JSON document in the database at `path`; `close` it at the end."""

    path: Path
    library: SqliteLibrary = attrs.field(factory=sqlite_library.library)
    _connection: Any = attrs.field(default=None, init=False, repr=False)
    _mutex: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)

    async def read(self) -> LocalState:
        """Return the newest state. Raises: as StateStore."""
        return await in_turn(self._attempt_to_read, place=self.path, holder=self.path)

    async def transact(self, decide: Callable[[LocalState], tuple[LocalState, T]]) -> T:
        """Replace the state by what `decide` makes of it. Raises: as StateStore."""
        attempt = partial(self._attempt, decide)
        return await in_turn(attempt, place=self.path, holder=self.path)

    def close(self) -> None:
        """Let go of the file. The next call opens it again."""
        with self._mutex:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _attempt_to_read(self) -> Done[LocalState] | None:
        with self._mutex:
            try:
                return Done(self._load().state if self.path.exists() else LocalState())
            except _NotOurTurn:
                return None

    def _attempt(self, decide: Callable[[LocalState], tuple[LocalState, T]]) -> Done[T] | None:
        with self._mutex:
            try:
                self._run("BEGIN IMMEDIATE")
                return Done(self._in_transaction(decide))
            except _NotOurTurn:
                return None
            finally:
                self._roll_back_what_is_open()

    def _in_transaction(self, decide: Callable[[LocalState], tuple[LocalState, T]]) -> T:
        record = self._load()
        state, answer = decide(record.state)
        if state is not record.state:
            self._run(_WRITE, record.rewritten(state).decode())
            self._run("COMMIT")
        return answer

    def _load(self) -> Record:
        row = self._run(_READ)
        if row is None:
            return Record(str(self.path))
        if not isinstance(row[0], str):
            raise records.damaged(str(self.path), "its document is not a text")
        return records.load(row[0].encode(), place=str(self.path))

    def _run(self, statement: str, *values: str) -> Any:
        """Run one statement on the connection, which is opened if it has to be."""
        with self._translated():
            if self._connection is None:
                self._connection = self._opened()
            return self._connection.execute(statement, values).fetchone()

    def _opened(self) -> Any:
        _make_private(self.path)
        connection = self.library.module.connect(
            self.path, timeout=0.1, isolation_level=None, check_same_thread=False
        )
        try:
            # A library with the WAL-reset fault keeps to the older journal, which has none.
            journal = "DELETE" if self.library.checkpoints_apart else "WAL"
            connection.execute(f"PRAGMA journal_mode={journal}").fetchone()
            connection.execute("PRAGMA synchronous=FULL")
            if sys.platform == "darwin":
                connection.execute("PRAGMA fullfsync=1")
            connection.execute(_CREATE)
        except BaseException:
            connection.close()
            raise
        return connection

    def _roll_back_what_is_open(self) -> None:
        if self._connection is not None and self._connection.in_transaction:
            self._run("ROLLBACK")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise unusable(self.path, error) from error
        except self.library.module.Error as error:
            raise self._meaning(error) from error

    def _meaning(self, error: Exception) -> Exception:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _BUSY:
            return _NotOurTurn()
        if code in _NO_STATE:
            return records.damaged(str(self.path), str(error))
        return StateUnavailable(
            f"The state in {self.path} cannot be used: {error}.",
            remedy="Let this user read and write that file and its folder, or set "
            "LETAGENTS_STATE_PATH to one that it may; `letagents doctor` shows what is configured.",
        )


def _make_private(file: Path) -> None:
    """Make the file and its folder, if they are not there, for their owner alone."""
    if file.exists():
        return
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
