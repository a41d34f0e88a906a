"""One transaction on PostgreSQL: what is read is waited for, and what is changed is not.

So a message that is posted takes three trips to the server: to hold its room, to learn what it
depends on, and to be written and committed; several that share a transaction take them together.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Self, TypeVar

import attrs
from sqlalchemy import Executable
from sqlalchemy.exc import SQLAlchemyError

from letagents.adapters.sql.database import CommitFailed, Row, Texts, Unit
from letagents.adapters.sql.postgres_many import ManyTexts
from letagents.adapters.sql.server_errors import in_short, severity

T = TypeVar("T")
_Change = tuple[Executable, Mapping[str, object]]

TIME = "SELECT CAST(extract(epoch FROM clock_timestamp()) AS float8)"

_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"


class LineLost(Exception):
    """The connection was lost when there was nothing yet that could have been kept."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(in_short(error))
        self.error = error


class _Ahead:
    """Lets statements be sent before the ones before them are answered, once that has begun.

    Until then each is waited for, which is cheaper where its answer is.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._stack = contextlib.ExitStack()
        self._pipeline: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._stack.close()

    def begin(self) -> None:
        """Wait for no more answers."""
        if self._pipeline is None:
            self._pipeline = self._stack.enter_context(self._connection.pipeline())

    def wait(self) -> None:
        """Wait for all answers."""
        self._pipeline.sync()


@attrs.frozen
class PostgresUnit(Unit):
    """One transaction under way. What it changes is sent and not waited for.

    A cursor does not know to which of its statements an answer is; so what is read has its own.
    """

    _changing: Any
    _ahead: "_Ahead"
    _many: ManyTexts
    _soon: dict[tuple[object, ...], _Change] = attrs.field(factory=dict)

    def rows(self, statement: Executable, **facts: object) -> list[Row]:
        """Return all that `statement` finds."""
        self.settle()
        return super().rows(statement, **facts)

    def row(self, statement: Executable, **facts: object) -> Row | None:
        """Return the one row that `statement` finds, or None."""
        self.settle()
        return super().row(statement, **facts)

    def row_of_each(
        self, statement: Executable, many: Sequence[Mapping[str, object]]
    ) -> list[Row | None]:
        """Return as `row` does, for each of `many` facts, which are all sent at once."""
        if len(many) == 1:
            return [self.row(statement, **many[0])]
        self.settle()
        return self._many.rows(self.cursor, statement, many)

    def soon(
        self, statement: Executable, facts: Mapping[str, object], row: tuple[object, ...]
    ) -> None:
        """Insert a row or change it, with others in like manner, when anything else is asked."""
        first = next(iter(self._soon.values()), None)
        if first is not None and (first[0] is not statement or row in self._soon):
            self.settle()
        self._soon[row] = statement, facts

    def settle(self) -> None:
        """Send what was put off."""
        if not self._soon:
            return
        self._ahead.begin()
        soon = list(self._soon.values())
        self._soon.clear()
        (statement, facts), *others = soon
        if others:
            self._many.change(self._changing, statement, [facts for _, facts in soon])
        else:
            self._texts.run(self._changing, statement, facts)

    def change(self, statement: Executable, facts: Mapping[str, object]) -> None:
        """Run `statement`, for what it changes."""
        self.settle()
        self._ahead.begin()
        self._texts.run(self._changing, statement, facts)

    def changed(self, statement: Executable, facts: Mapping[str, object]) -> int:
        """Run `statement`, and return how many rows it has changed."""
        self.change(statement, facts)
        self._ahead.wait()
        count: int = self._changing.rowcount
        return count

    def say(self, text: str, *values: object) -> None:
        """Run a statement that is no other database's, for what it changes."""
        self.settle()
        self._ahead.begin()
        self._changing.execute(text, values or None)


@attrs.define(eq=False)
class Transaction:
    """An attempt at one on `connection`, the driver's own. It is used once.

    `set_clock` is told the server's time.
    """

    connection: Any
    _texts: Texts
    _many: ManyTexts
    _failures: tuple[type[Exception], ...]
    _set_clock: Callable[[float], None] | None
    _changing: Any = attrs.field(init=False)
    _reading: Any = attrs.field(init=False)
    _is_committing: bool = False

    def __attrs_post_init__(self) -> None:
        self._changing, self._reading = self.connection.cursor(), self.connection.cursor()

    def read(self, work: Callable[[Unit], T]) -> T:
        """Return what `work` finds in one state of the database. Raises LineLost."""
        return self._done(work, "ROLLBACK", begin=_READ)

    def write(self, work: Callable[[Unit], T], locks: Sequence[int]) -> T:
        """Return what `work` returns once what it did is committed; `locks` are held meanwhile.

        Raises:
            LineLost: it came to nothing.
            CommitFailed: whether it was committed is not known.
        """
        try:
            self._begin_to_write(locks)
        except self._failures as error:
            self._fail(error)
        return self._done(work, "COMMIT")

    def _done(self, work: Callable[[Unit], T], end: str, begin: str | None = None) -> T:
        done: list[T] = []
        error: BaseException | None = None
        try:
            with _Ahead(self.connection) as ahead:
                # No error leaves this block: the driver would log what becomes of the rest.
                done, error = self._tried(work, ahead, end, begin)
        except self._failures as late:
            error = error or late
        if self._is_committing and self._changing.statusmessage == "COMMIT":
            error = None  # whatever came after
        elif self._is_committing and error is None:
            error = SQLAlchemyError("the server had given the transaction up")
        if error is not None:
            self._fail(error)
        if begin is not None:
            self._take_time()
        return done[0]

    def _tried(
        self, work: Callable[[Unit], T], ahead: "_Ahead", end: str, begin: str | None
    ) -> tuple[list[T], BaseException | None]:
        try:
            if begin is not None:
                ahead.begin()
                self._changing.execute(begin)
            unit = PostgresUnit(self._reading, self._texts, self._changing, ahead, self._many)
            done = work(unit)
            unit.settle()
            self._is_committing = end == "COMMIT"
            self._changing.execute(end)
            if begin is not None and self._set_clock is not None:
                self._reading.execute(TIME)
        except BaseException as error:  # noqa: BLE001  # it is raised when the pipeline has ended
            with contextlib.suppress(*self._failures):
                self._changing.execute("ROLLBACK")
            return [], error
        return [done], None

    def _begin_to_write(self, locks: Sequence[int]) -> None:
        """Begin, hold what is to be held, and learn of the time when that was so, all at once.

        Who acts asks for the time first, and it has to be that of its turn.
        """
        held = [f"SELECT pg_advisory_xact_lock({key})" for key in locks]
        time = [TIME] if self._set_clock is not None else []
        self._reading.execute("; ".join([_WRITE, *held, *time]), prepare=False)
        while self._reading.nextset():
            pass
        self._take_time()

    def _take_time(self) -> None:
        if self._set_clock is not None and (row := self._reading.fetchone()):
            self._set_clock(row[0])

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
