"""Units of work: one transaction on the driver's own cursor, running statements that Core wrote.

Statements are built once with SQLAlchemy Core and compiled once for the engine's dialect. They run
on the driver's cursor because running them through Core was measured at twice the cost of all the
rest of a small transaction, its sync included. So they take and give plain numbers and texts.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import attrs
from sqlalchemy import Dialect, Engine, Executable
from sqlalchemy.pool import PoolProxiedConnection

from letagents.adapters.sql.engine import is_sqlite

if TYPE_CHECKING:
    from sqlalchemy.sql import ClauseElement
    from sqlalchemy.sql.compiler import SQLCompiler

Row = tuple[Any, ...]


class CommitFailed(Exception):
    """The database broke in a commit, so that what became of the transaction is not known."""


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
        found = self.rows(statement, **facts)
        return found[0] if found else None

    def change(self, statement: Executable, facts: Mapping[str, object]) -> None:
        """Run `statement`, which changes something."""
        self._texts.run(self.cursor, statement, facts)


@attrs.define
class Units:
    """Makes units of work on one engine."""

    engine: Engine
    _texts: Texts = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._texts = Texts(self.engine.dialect)

    @contextmanager
    def reading(self) -> Iterator[Unit]:
        """Open a unit that sees one state of the database throughout."""
        with self._begun("BEGIN") as unit:
            yield unit

    @contextmanager
    def writing(self) -> Iterator[Unit]:
        """Open a unit that holds the write lock from its beginning; commit it at its end."""
        with self._begun("BEGIN IMMEDIATE") as unit:
            yield unit

    @contextmanager
    def _begun(self, begin: str) -> Iterator[Unit]:
        connection = self.engine.raw_connection()
        try:
            cursor = connection.cursor()
            if is_sqlite(self.engine):
                cursor.execute(begin)
            yield Unit(cursor, self._texts)
            self._commit(connection)
        finally:
            # Returning a connection to the pool rolls back whatever was not committed.
            connection.close()

    def _commit(self, connection: PoolProxiedConnection) -> None:
        try:
            connection.commit()
        except self.engine.dialect.loaded_dbapi.Error as error:
            if getattr(error, "sqlite_errorname", None) in _NOT_COMMITTED:
                raise
            raise CommitFailed(str(error)) from error
