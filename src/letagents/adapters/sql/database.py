"""Transactions: units of work on the driver's own cursor, with statements that Core wrote.

Statements are built once with SQLAlchemy Core and compiled once for the engine's dialect. They run
on the driver's cursor because running them through Core was measured at twice the cost of all the
rest of a small transaction, its sync included. So they take and give plain numbers and texts.
"""

import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import attrs
from sqlalchemy import Dialect, Engine, Executable
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import PoolProxiedConnection

from letagents.adapters.sql import sqlite_library
from letagents.adapters.sql.checkpoints import Checkpoints
from letagents.adapters.sql.engine import PATIENCE_MS, file_of, is_sqlite, open_engine
from letagents.adapters.sql.pulse import Pulse
from letagents.adapters.sql.sqlite_library import SqliteLibrary
from letagents.adapters.sql.turnstile import Turnstile

if TYPE_CHECKING:
    from sqlalchemy.sql import ClauseElement
    from sqlalchemy.sql.compiler import SQLCompiler

T = TypeVar("T")
Row = tuple[Any, ...]


class CommitFailed(Exception):
    """The database broke in a commit, so that what became of the transaction is not known."""


SHORT_PATIENCE_MS = 500
"""So long a write waits for SQLite's lock after an earlier one has waited for it in vain."""

_NOT_COMMITTED = frozenset({"SQLITE_BUSY", "SQLITE_FULL"})
"""Failures after which SQLite has taken nothing of the transaction."""


@attrs.frozen
class _Text:
    """A statement as the driver takes it; `constants` are values that were built into it."""

    sql: str
    constants: Mapping[str, object]


@attrs.define
class Texts:
    """The texts of statements, compiled when first used; a statement is known by its identity."""

    _dialect: Dialect
    _compiled: dict[int, _Text] = attrs.field(factory=dict)

    def run(self, cursor: Any, statement: Executable, facts: Mapping[str, object]) -> None:
        """Run `statement` on the driver's `cursor`."""
        text = self._compiled.get(id(statement)) or self._compile(statement)
        cursor.execute(text.sql, {**text.constants, **facts} if text.constants else facts)

    def _compile(self, statement: Executable) -> _Text:
        compiled = cast("ClauseElement", statement).compile(dialect=self._dialect)
        binds = cast("SQLCompiler", compiled).bind_names
        constants = {name: bind.value for bind, name in binds.items() if not bind.required}
        text = _Text(str(compiled), constants)
        self._compiled[id(statement)] = text
        return text


@attrs.frozen
class Unit:
    """One transaction under way."""

    cursor: Any
    _texts: Texts

    def rows(self, statement: Executable, **facts: object) -> list[Row]:
        """Return all that `statement` finds."""
        self._texts.run(self.cursor, statement, facts)
        found: list[Row] = self.cursor.fetchall()
        return found

    def row(self, statement: Executable, **facts: object) -> Row | None:
        """Return the one row that `statement` finds, or None."""
        self._texts.run(self.cursor, statement, facts)
        found: list[Row] = self.cursor.fetchall()
        return found[0] if found else None

    def row_of_each(
        self, statement: Executable, many: Sequence[Mapping[str, object]]
    ) -> list[Row | None]:
        """Return as `row` does, for each of `many` facts."""
        return [self.row(statement, **facts) for facts in many]

    def change(self, statement: Executable, facts: Mapping[str, object]) -> None:
        """Run `statement`, for what it changes."""
        self._texts.run(self.cursor, statement, facts)

    def soon(
        self, statement: Executable, facts: Mapping[str, object], _row: tuple[object, ...]
    ) -> None:
        """Insert a row or change it, the one of that name, before anything else is asked."""
        self.change(statement, facts)

    def say(self, text: str, *values: object) -> None:
        """Run a statement that is no other database's, for what it changes."""
        self.cursor.execute(text, values)

    def ask(self, text: str) -> Row:
        """Return the one row that a question finds which is no other database's."""
        self.cursor.execute(text)
        row: Row = self.cursor.fetchone()
        return row

    def changed(self, statement: Executable, facts: Mapping[str, object]) -> int:
        """Run `statement`, and return how many rows it has changed."""
        self.change(statement, facts)
        count: int = self.cursor.rowcount
        return count


@attrs.define(eq=False)
class Database:
    """A database, whose transactions are given as work to be done in one. Any thread may use it.

    Each thread keeps the connection that it got: what SQLite remembers of the pages and statements
    that it used last would be lost if connections went round.
    """

    engine: Engine
    _turnstile: Turnstile | None = None
    _checkpoints: Checkpoints | None = None
    _pulse: Pulse | None = None
    _file: Path | None = None
    _opened_as: tuple[int, int] | None = None
    _texts: Texts = attrs.field(init=False)
    _own: threading.local = attrs.field(factory=threading.local)
    _idle: set[PoolProxiedConnection] = attrs.field(factory=set)
    _is_closed: bool = False
    _is_locked_out: bool = False
    _is_sqlite: bool = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._texts = Texts(self.engine.dialect)
        self._is_sqlite = is_sqlite(self.engine)

    @classmethod
    def at(
        cls,
        place: Path | str,
        library: SqliteLibrary | None = None,
        *,
        has_one_writer: bool = False,
    ) -> "Database":
        """Return the database in the SQLite file at `place`, or at the SQLAlchemy URL it is.

        Where one process writes as a rule, it does not queue: SQLite keeps others apart all the
        same.
        """
        library = library or sqlite_library.library()
        engine = open_engine(place, library=library)
        file = file_of(engine)
        if file is None:
            return cls(engine)
        return cls(
            engine,
            None if has_one_writer else Turnstile(file.with_name(f"{file.name}-turn")),
            Checkpoints(file, library.checkpoints_apart),
            Pulse(file, library.module),
            file,
        )

    def read(self, work: Callable[[Unit], T]) -> T:
        """Return what `work` finds, in a transaction that sees one state throughout."""
        connection = self._taken()
        try:
            return work(self._begun(connection, "BEGIN"))
        finally:
            self._give_back(connection)

    def write(self, work: Callable[[Unit], T], *_held: str) -> T:
        """Return what `work` returns once what it did is committed.

        Its transaction holds the write lock from its beginning, which is the lock of all that might
        be named to be held. Nothing is kept if it raises.

        Raises:
            CommitFailed: whether it was kept is not known.
        """
        connection = self._taken()
        try:
            done = self._in_turn(lambda: self._committed(connection, work))
        except BaseException:
            self._give_back(connection)
            raise
        self._keep(connection)
        return done

    def tidy(self) -> None:
        """Do after a write what is due and need not be waited for. If it fails, it is due again."""
        if self._checkpoints is None or not self._checkpoints.may_be_due():
            return
        with contextlib.suppress(*self.failures):
            connection = self._taken()
            try:
                self._checkpoints.run(connection.dbapi_connection, self._in_turn)
            finally:
                self._give_back(connection)

    def beat(self) -> int | None:
        """Return a number that each commit makes another, or None if it cannot be told."""
        return self._pulse.beat() if self._pulse else None

    def others(self) -> object:
        """Return another value once anybody else has committed than the thread that asks."""
        connection = self._taken()
        try:
            cursor = connection.driver_connection.cursor()  # type: ignore[union-attr]  # it is open
            cursor.execute("PRAGMA data_version")
            return connection, cursor.fetchone()
        finally:
            self._give_back(connection)

    def close(self) -> None:
        """Close all connections, each when it is idle, and give up the files beside it."""
        self._is_closed = True
        while self._idle:
            self._idle.pop().invalidate()
        self.engine.dispose()
        for held in (self._turnstile, self._checkpoints, self._pulse):
            if held is not None:
                held.close()

    def _taken(self) -> PoolProxiedConnection:
        """Take this thread's connection, or a new one if that was closed."""
        self._refuse_another_file()
        kept: PoolProxiedConnection | None = getattr(self._own, "connection", None)
        if kept is not None and kept in self._idle:
            self._idle.discard(kept)
            return kept
        self._own.connection = made = self.engine.raw_connection()
        if self._opened_as is None:
            self._opened_as = self._identity()
        return made

    def _refuse_another_file(self) -> None:
        """Do nothing in a file that has lost its name: nobody else would ever see it.

        Raises:
            OSError: the file was removed, or another one stands in its place.
        """
        if self._opened_as is not None and self._identity() != self._opened_as:
            raise OSError(
                "it was removed or replaced while this process had it open; start this process anew"
            )

    def _identity(self) -> tuple[int, int] | None:
        if self._file is None:
            return None
        try:
            found = self._file.stat()
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino

    def _give_back(self, connection: PoolProxiedConnection) -> None:
        """Undo what was not committed, and keep the connection if that could be done."""
        try:
            connection.rollback()
        except self.failures:
            connection.invalidate()
        else:
            self._keep(connection)

    def _keep(self, connection: PoolProxiedConnection) -> None:
        """Keep it for this thread's next time."""
        if self._is_closed:
            connection.invalidate()
        else:
            self._idle.add(connection)

    def _in_turn(self, work: Callable[[], T]) -> T:
        return self._turnstile.passed(work) if self._turnstile else work()

    def _committed(self, connection: PoolProxiedConnection, work: Callable[[Unit], T]) -> T:
        try:
            done = work(self._begun_to_write(connection))
        except BaseException:
            connection.rollback()
            raise
        self._commit(connection)
        return done

    def _begun_to_write(self, connection: PoolProxiedConnection) -> Unit:
        """Begin with the write lock. Who comes after one that waited in vain waits less for it.

        Else each of those that queue here would wait as long again, one after the other.
        """
        patience = SHORT_PATIENCE_MS if self._is_locked_out else None
        try:
            unit = self._begun(connection, "BEGIN IMMEDIATE", patience)
        except self.failures as error:
            self._is_locked_out = getattr(error, "sqlite_errorname", None) == "SQLITE_BUSY"
            raise
        self._is_locked_out = False
        return unit

    def _begun(
        self, connection: PoolProxiedConnection, begin: str, patience_ms: int | None = None
    ) -> Unit:
        cursor = connection.driver_connection.cursor()  # type: ignore[union-attr]  # it is open
        if self._is_sqlite and patience_ms is None:
            cursor.execute(begin)
        elif self._is_sqlite:
            cursor.execute(f"PRAGMA busy_timeout={patience_ms}")
            try:
                cursor.execute(begin)
            finally:
                cursor.execute(f"PRAGMA busy_timeout={PATIENCE_MS}")
        return Unit(cursor, self._texts)

    def _commit(self, connection: PoolProxiedConnection) -> None:
        try:
            connection.driver_connection.commit()  # type: ignore[union-attr]  # it is open
        except self.failures as error:
            connection.rollback()
            if getattr(error, "sqlite_errorname", None) in _NOT_COMMITTED:
                raise
            raise CommitFailed(str(error)) from error

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """The errors by which the database, or its place, shows that it cannot be used."""
        return (self.engine.dialect.loaded_dbapi.Error, SQLAlchemyError, OSError)
