"""Transactions on PostgreSQL, given as work to be done in one.

Whoever writes in a room holds that room from the beginning of the transaction, by an advisory lock
on its name: what a rule reads is then still true when its effect is written, as on SQLite, and
rooms that are not there yet can be held as well. Several rooms are held in one order by all, so
that no two wait for each other. docs/decisions/0021 says why not otherwise.
"""

import functools
import hashlib
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import attrs
from sqlalchemy import Engine, event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import PoolProxiedConnection

from letagents.adapters.sql.database import Texts, Unit
from letagents.adapters.sql.postgres_many import ManyTexts
from letagents.adapters.sql.postgres_transactions import TIME, LineLost, Transaction
from letagents.adapters.sql.server_clock import ServerClock
from letagents.adapters.sql.server_errors import in_short, sqlstate, was_cut

T = TypeVar("T")

TRIES = 3
"""So often a transaction is begun that came to nothing through no fault of its own."""

_SHUT_DOWN = frozenset({"57P01", "57P02"})
"""A session that the server, or somebody who looks after it, has ended."""
_BROKEN_OFF = frozenset({"40001", "40P01"})
"""A transaction that could not be put in a row with others, or was in a deadlock with them."""


@attrs.define(eq=False)
class PostgresDatabase:
    """A database on a PostgreSQL server. Any thread may use it.

    A `clock` that is given is set to the server's with each connection and each transaction.
    """

    engine: Engine = attrs.field(repr=False)  # its URL may hold a password
    _clock: ServerClock | None = None
    _texts: Texts = attrs.field(init=False)
    _many: ManyTexts = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._texts = Texts(self.engine.dialect)
        self._many = ManyTexts(self.engine.dialect)
        if (clock := self._clock) is not None:

            @event.listens_for(self.engine, "connect")
            def set_clock(connection: Any, _record: object) -> None:
                clock.set_to(connection.execute(TIME).fetchone()[0])

    def read(self, work: Callable[[Unit], T]) -> T:
        """Return what `work` finds, in a transaction that sees one state throughout.

        It may be begun more than once.
        """
        return self._insisting(lambda transaction: transaction.read(work))

    def write(self, work: Callable[[Unit], T], *held: str) -> T:
        """Return what `work` returns once what it did is committed.

        Its transaction holds what is named in `held` from its beginning. Nothing is kept if it
        raises. It may be begun more than once, and is committed once at most.

        Raises:
            CommitFailed: whether it was kept is not known.
        """
        locks = _in_order(held)
        return self._insisting(lambda transaction: transaction.write(work, locks))

    def tidy(self) -> None:
        """Do nothing: the server looks after itself."""

    def beat(self) -> None:
        """Say that there is no number which each commit makes another."""

    def others(self) -> None:
        """Say that it cannot be told whether others have committed."""

    def close(self) -> None:
        """Close all connections, each when it is idle."""
        self.engine.dispose()

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """The errors by which the database shows that it cannot be used."""
        return (self.engine.dialect.loaded_dbapi.Error, SQLAlchemyError, OSError)

    def _insisting(self, act: Callable[[Transaction], T]) -> T:
        """Return what `act` does in a transaction; in another, if that came surely to nothing.

        So it is if the server broke it off for the sake of others, or if its connection was lost,
        perhaps long ago: then the others that lie idle have been lost as well.
        """
        for left in reversed(range(TRIES)):
            try:
                return self._attempt(act)
            except LineLost as lost:
                self.engine.dispose()
                if not left:
                    raise lost.error from lost
            except self.failures as error:
                if not left or sqlstate(error) not in _BROKEN_OFF:
                    raise
        raise AssertionError  # the last attempt returns or raises

    def _attempt(self, act: Callable[[Transaction], T]) -> T:
        connection = self._connected()
        set_clock = self._clock.set_to if self._clock else None
        try:
            driver = connection.driver_connection
            return act(Transaction(driver, self._texts, self._many, self.failures, set_clock))
        finally:
            self._give_back(connection)

    def _connected(self) -> PoolProxiedConnection:
        try:
            return self.engine.raw_connection()
        except self.engine.dialect.loaded_dbapi.ProgrammingError as error:
            # Something in the URL that the driver does not know: no mistake of a statement.
            raise SQLAlchemyError(in_short(error)) from error
        except self.failures as error:
            if sqlstate(error) in _SHUT_DOWN or was_cut(error):
                raise LineLost(error) from error
            raise

    def _give_back(self, connection: PoolProxiedConnection) -> None:
        """Undo what is left of a transaction, and keep the connection if that could be done."""
        try:
            connection.rollback()
        except self.failures:
            connection.invalidate()
        else:
            connection.close()


def _in_order(held: Iterable[str]) -> list[int]:
    """Return the keys of what is to be held, in the order in which everybody takes them."""
    return sorted({_key(name) for name in held})


@functools.lru_cache(maxsize=10_000)
def _key(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)
