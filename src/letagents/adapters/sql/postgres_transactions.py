"""One transaction on PostgreSQL: statements are sent as they come, and what is read is waited for.

So a message that is posted takes three trips to the server: to hold its room, to learn what it
depends on, and to be written and committed; several that share a transaction take them together.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

import attrs
from sqlalchemy import Executable
from sqlalchemy.exc import SQLAlchemyError

from letagents.adapters.sql.database import CommitFailed, Row, Texts, Unit
from letagents.adapters.sql.server_errors import in_short, severity

T = TypeVar("T")

TIME = "SELECT CAST(extract(epoch FROM clock_timestamp()) AS float8)"

_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
_HOLD = "SELECT pg_advisory_xact_lock(%s)"


class LineLost(Exception):
    """The connection was lost when there was nothing yet that could have been kept."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(in_short(error))
        self.error = error


@attrs.frozen
class PostgresUnit(Unit):
    """One transaction under way. What it changes is sent and not waited for.

    A cursor does not know to which of its statements an answer is; so what is read has its own.
    """

    _changing: Any
    _pipeline: Any

    def row_of_each(
        self, statement: Executable, many: Sequence[Mapping[str, object]]
    ) -> list[Row | None]:
        """Return as `row` does, for each of `many` facts, which are all sent in one trip."""
        asked = []
        for facts in many:
            cursor = self._changing.connection.cursor()
            self._texts.run(cursor, statement, facts)
            asked.append(cursor)
        return [next(iter(cursor.fetchall()), None) for cursor in asked]

    def change(self, statement: Executable, facts: Mapping[str, object]) -> None:
        """Run `statement`, for what it changes."""
        self._texts.run(self._changing, statement, facts)

    def changed(self, statement: Executable, facts: Mapping[str, object]) -> int:
        """Run `statement`, and return how many rows it has changed."""
        self.change(statement, facts)
        self._pipeline.sync()
        count: int = self._changing.rowcount
        return count

    def say(self, text: str, *values: object) -> None:
        """Run a statement that is no other database's, for what it changes."""
        self._changing.execute(text, values or None)


@attrs.define(eq=False)
class Transaction:
    """An attempt at one on `connection`, the driver's own. It is used once.

    `set_clock` is told the server's time at the end.
    """

    connection: Any
    _texts: Texts
    _failures: tuple[type[Exception], ...]
    _set_clock: Callable[[float], None] | None
    _changing: Any = attrs.field(init=False)
    _reading: Any = attrs.field(init=False)
    _is_committing: bool = False

    def __attrs_post_init__(self) -> None:
        self._changing, self._reading = self.connection.cursor(), self.connection.cursor()

    def read(self, work: Callable[[Unit], T]) -> T:
        """Return what `work` finds in one state of the database. Raises LineLost."""
        return self._done(work, _READ, "ROLLBACK")

    def write(self, work: Callable[[Unit], T], locks: Sequence[int]) -> T:
        """Return what `work` returns once what it did is committed; `locks` are held meanwhile.

        Raises:
            LineLost: it came to nothing.
            CommitFailed: whether it was committed is not known.
        """
        return self._done(work, _WRITE, "COMMIT", locks)

    def _done(
        self, work: Callable[[Unit], T], begin: str, end: str, locks: Sequence[int] = ()
    ) -> T:
        done: list[T] = []
        error: BaseException | None = None
        try:
            with self.connection.pipeline() as pipeline:
                # No error leaves this block: the driver would log what becomes of the rest.
                done, error = self._tried(work, pipeline, begin, end, locks)
        except self._failures as late:
            error = error or late
        if self._is_committing and self._changing.statusmessage == "COMMIT":
            error = None  # whatever came after
        elif self._is_committing and error is None:
            error = SQLAlchemyError("the server had given the transaction up")
        if error is not None:
            self._fail(error)
        if self._set_clock is not None and (row := self._reading.fetchone()):
            self._set_clock(row[0])
        return done[0]

    def _tried(
        self,
        work: Callable[[Unit], T],
        pipeline: Any,
        begin: str,
        end: str,
        locks: Sequence[int],
    ) -> tuple[list[T], BaseException | None]:
        try:
            self._begin(pipeline, begin, locks)
            done = work(PostgresUnit(self._reading, self._texts, self._changing, pipeline))
            self._is_committing = end == "COMMIT"
            self._changing.execute(end)
            if self._set_clock is not None:
                self._reading.execute(TIME)
        except BaseException as error:  # noqa: BLE001  # it is raised when the pipeline has ended
            with contextlib.suppress(*self._failures):
                self._changing.execute("ROLLBACK")
            return [], error
        return [done], None

    def _begin(self, pipeline: Any, begin: str, locks: Sequence[int]) -> None:
        self._changing.execute(begin)
        for key in locks:
            self._changing.execute(_HOLD, [key])
        if locks:
            pipeline.sync()  # who acts asks for the time first, and it has to be that of its turn

    def _fail(self, error: BaseException) -> NoReturn:
        """Raise what `error` means."""
        if not isinstance(error, self._failures):
            raise error
        if type(error).__name__ == "PipelineAborted" and error.__context__ is not None:
            error = error.__context__  # which is why the server did no more
        if severity(error) == "ERROR" or isinstance(error, SQLAlchemyError):
            raise error  # it has undone the transaction
        if self._is_committing:
            raise CommitFailed(in_short(error)) from error
        if self.connection.broken or self.connection.closed:
            raise LineLost(error) from error
        raise error
