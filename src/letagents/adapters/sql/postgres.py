"""Transactions on PostgreSQL, given as work to be done in one.

Whoever writes in a room holds that room from the beginning of the transaction, by an advisory lock
on its name: what a rule reads is then still true when its effect is written, as on SQLite, and
rooms that are not there yet can be held as well. Several rooms are held in one order by all, so
that no two wait for each other. docs/decisions/0019 says why not otherwise.
"""

import functools
import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import attrs
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import PoolProxiedConnection

from letagents.adapters.sql.database import CommitFailed, Texts, Unit
from letagents.adapters.sql.server_clock import ServerClock

T = TypeVar("T")

TRIES = 3
"""So often a transaction is begun that the server breaks off for the sake of others."""

_BROKEN_OFF = frozenset({"40001", "40P01"})
"""A transaction that could not be put in a row with others, or was in a deadlock with them."""
_TO_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_TO_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
_TELL_THE_TIME = ";SELECT CAST(extract(epoch FROM clock_timestamp()) AS float8)"


def sqlstate(error: BaseException) -> str:
    """Return the code by which the server names the error; nothing where it said none."""
    return getattr(getattr(error, "orig", None) or error, "sqlstate", None) or ""


def _severity(error: BaseException) -> str | None:
    severity: str | None = getattr(getattr(error, "diag", None), "severity_nonlocalized", None)
    return severity


def in_short(error: BaseException) -> str:
    """Return the driver's own sentence, without the statement, its parameters and the rows."""
    cause = getattr(error, "orig", None) or error
    sentence = getattr(getattr(cause, "diag", None), "message_primary", None) or str(cause)
    first = sentence.strip().partition("\n")[0]
    return first.strip().rstrip(".") or type(cause).__name__


@attrs.define(eq=False)
class PostgresDatabase:
    """A database on a PostgreSQL server. Any thread may use it.

    A `clock` that is given is set to the server's whenever a transaction begins.
    """

    engine: Engine
    _clock: ServerClock | None = None
    _texts: Texts = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._texts = Texts(self.engine.dialect)

    def read(self, work: Callable[[Unit], T]) -> T:
        """Return what `work` finds, in a transaction that sees one state throughout.

        It is begun again if its connection was lost: a look changes nothing.
        """
        with self._begun(_TO_READ) as unit:
            try:
                return work(unit)
            except self.failures:
                if not unit.cursor.connection.broken:
                    raise
        with self._begun(_TO_READ) as unit:
            return work(unit)

    def write(self, work: Callable[[Unit], T], *held: str) -> T:
        """Return what `work` returns once what it did is committed.

        Its transaction holds what is named in `held` from its beginning. Nothing is kept if it
        raises. It may be begun more than once, and is committed once at most.

        Raises:
            CommitFailed: whether it was kept is not known.
        """
        begin = "".join([_TO_WRITE, *map(_holding, _in_order(held))])
        for _ in range(TRIES - 1):
            try:
                return self._written(begin, work)
            except self.failures as error:
                if sqlstate(error) not in _BROKEN_OFF:
                    raise
        return self._written(begin, work)

    def tidy(self) -> None:
        """Do nothing: the server looks after itself."""

    def beat(self) -> None:
        """Say that there is no number which each commit makes another."""

    def close(self) -> None:
        """Close all connections, each when it is idle."""
        self.engine.dispose()

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """The errors by which the database shows that it cannot be used."""
        return (self.engine.dialect.loaded_dbapi.Error, SQLAlchemyError, OSError)

    def _written(self, begin: str, work: Callable[[Unit], T]) -> T:
        with self._begun(begin) as unit:
            done = work(unit)
            _commit(unit.cursor, self.failures)
            return done

    @contextmanager
    def _begun(self, begin: str) -> Iterator[Unit]:
        """Begin a transaction; undo at the end what was not committed."""
        connection, cursor = self._first_said(begin)
        try:
            yield Unit(cursor, self._texts)
        finally:
            self._give_back(connection, cursor)

    def _first_said(self, begin: str) -> tuple[PoolProxiedConnection, Any]:
        """Say `begin` on a connection; on a new one, if that of before was lost meanwhile."""
        connection = self._connected()
        try:
            return connection, self._said(connection, begin)
        except self.failures:
            is_lost = _is_lost(connection)
            self._give_back(connection, None)
            if not is_lost:
                raise
        self.engine.dispose()
        connection = self._connected()
        try:
            return connection, self._said(connection, begin)
        except BaseException:
            self._give_back(connection, None)
            raise

    def _connected(self) -> PoolProxiedConnection:
        try:
            return self.engine.raw_connection()
        except self.engine.dialect.loaded_dbapi.ProgrammingError as error:
            # Something in the URL that the driver does not know: no mistake of a statement.
            raise SQLAlchemyError(in_short(error)) from error

    def _said(self, connection: PoolProxiedConnection, begin: str) -> Any:
        cursor = connection.driver_connection.cursor()  # type: ignore[union-attr]  # it is open
        if self._clock is None:
            cursor.execute(begin)
            return cursor
        cursor.execute(begin + _TELL_THE_TIME)
        while cursor.nextset():
            pass  # the time comes last: it may have been long until what was to be held was free
        self._clock.set_to(cursor.fetchone()[0])
        return cursor

    def _give_back(self, connection: PoolProxiedConnection, cursor: Any) -> None:
        try:
            if cursor is not None:
                cursor.close()
            connection.rollback()
        except self.failures:
            connection.invalidate()
        else:
            connection.close()


def _is_lost(connection: PoolProxiedConnection) -> bool:
    driver = connection.driver_connection
    return driver is None or bool(driver.broken)


def _commit(cursor: Any, failures: tuple[type[Exception], ...]) -> None:
    try:
        cursor.execute("COMMIT")
    except failures as error:
        if _severity(error) == "ERROR":
            raise  # the server said that it undid the transaction; FATAL would leave it open
        raise CommitFailed(in_short(error)) from error
    if cursor.statusmessage != "COMMIT":
        raise SQLAlchemyError("the server had given the transaction up")


def _holding(key: int) -> str:
    return f";SELECT pg_advisory_xact_lock({key})"


def _in_order(held: Sequence[str]) -> list[int]:
    """Return the keys of what is to be held, in the order in which everybody takes them."""
    return sorted({_key(name) for name in held})


@functools.lru_cache(maxsize=10_000)
def _key(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)
