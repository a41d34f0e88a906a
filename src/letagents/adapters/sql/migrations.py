"""The form of the database: made when there is none, brought forward when it is older than ours.

A form that is newer than we know is refused. Each step is one transaction with the number it leads
to, so that many processes may do this at once and one that is killed leaves the form before.
SQLite keeps the number in the head of the file, PostgreSQL in a table with one row.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from sqlalchemy import Column, Dialect, Table
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.schema import CreateColumn, CreateIndex, CreateTable

from letagents.adapters.sql.database import Unit
from letagents.adapters.sql.tables import (
    METADATA,
    RECEIPTS,
    ROOMS,
    SESSIONS,
    THINGS,
    prepare_for_postgresql,
)

if TYPE_CHECKING:
    from letagents.adapters.sql.opening import AnyDatabase

VERSION = 5
_FORM = "letagents_form"
"""The table with the number, where no file has it in its head; and what is held to set it."""
_IS_THERE = "SELECT count(*) FROM pg_class WHERE oid = to_regclass('letagents_form')"
_GET = "SELECT max(number) FROM letagents_form"


class NewerSchema(Exception):
    """The database was made by a newer version of ours."""

    def __init__(self, found: int) -> None:
        super().__init__(f"its form is number {found}, and this program knows up to {VERSION}")


def prepare(database: "AnyDatabase") -> None:
    """Make the tables if they are not there, or bring those forward that are older.

    Raises:
        NewerSchema: the database is of a form that this program does not know.
    """
    dialect = database.engine.dialect
    found = database.read(lambda unit: form(unit, dialect))
    while found < VERSION:
        found = database.write(lambda unit: _forward(unit, dialect), _FORM)
    if found > VERSION:
        raise NewerSchema(found)


def form(unit: Unit, dialect: Dialect) -> int:
    """Return the number of the form that the database has; 0 if none was made there yet."""
    if dialect.name == "sqlite":
        return _number(unit, "PRAGMA user_version")
    return _number(unit, _GET) if _number(unit, _IS_THERE) else 0


def _number(unit: Unit, question: str) -> int:
    return int(unit.ask(question)[0])


def _forward(unit: Unit, dialect: Dialect) -> int:
    """Make one step, unless somebody did since; return the number of the form."""
    found = form(unit, dialect)
    if found >= VERSION:
        return found
    if dialect.name != "sqlite":
        _check_server(unit)
    reached = found + 1 if found else VERSION
    (_STEPS[reached] if found else _make_all)(unit, dialect)
    _set(unit, dialect, reached)
    return reached


def _check_server(unit: Unit) -> None:
    """Let a step take as long as it needs, in a database that can keep every text."""
    unit.say("SET LOCAL statement_timeout TO 0")
    (encoding,) = unit.ask("SELECT current_setting('server_encoding')")
    if encoding != "UTF8":
        raise SQLAlchemyError(f"its encoding is {encoding}, and rooms need UTF8")


def _set(unit: Unit, dialect: Dialect, number: int) -> None:
    if dialect.name == "sqlite":
        unit.say(f"PRAGMA user_version = {number}")
    else:
        unit.say("DELETE FROM letagents_form")
        unit.say("INSERT INTO letagents_form VALUES (%s)", number)


def _make_all(unit: Unit, dialect: Dialect) -> None:
    from letagents.adapters.sql import account_tables  # noqa: F401  # they are among all tables

    is_sqlite = dialect.name == "sqlite"
    if not is_sqlite:
        prepare_for_postgresql()
    for table in METADATA.sorted_tables:
        _make(unit, dialect, table)
    if not is_sqlite:
        unit.say("CREATE TABLE letagents_form (number integer NOT NULL)")
        from letagents.adapters.sql import postgres_search

        postgres_search.make_search(unit)


def _to_2(unit: Unit, dialect: Dialect) -> None:
    """Sessions name their process and its last sign; rooms count changes, and keep more."""
    for name in ("process", "seen_boot", "seen_seconds"):
        _add(unit, dialect, SESSIONS.c[name])
    _add(unit, dialect, ROOMS.c.roster_changes)
    _make(unit, dialect, THINGS)


def _to_3(unit: Unit, dialect: Dialect) -> None:
    """Servers keep accounts."""
    from letagents.adapters.sql.account_tables import OF_ACCOUNTS

    if dialect.name != "sqlite":
        prepare_for_postgresql()
    for table in OF_ACCOUNTS:
        _make(unit, dialect, table)


def _to_4(unit: Unit, dialect: Dialect) -> None:
    """Messages have receipts."""
    if dialect.name != "sqlite":
        prepare_for_postgresql()
    _make(unit, dialect, RECEIPTS)


def _to_5(unit: Unit, dialect: Dialect) -> None:
    """Rooms can be beside others."""
    if dialect.name != "sqlite":
        prepare_for_postgresql()
    for name in ("parent_room_id", "focus_key", "focus_number"):
        _add(unit, dialect, ROOMS.c[name])
    _index(unit, dialect, ROOMS)


_STEPS: Mapping[int, Callable[[Unit, Dialect], None]] = {
    2: _to_2,
    3: _to_3,
    4: _to_4,
    5: _to_5,
}


def _make(unit: Unit, dialect: Dialect, table: Table) -> None:
    unit.say(str(CreateTable(table).compile(dialect=dialect)))
    _index(unit, dialect, table)


def _index(unit: Unit, dialect: Dialect, table: Table) -> None:
    for index in sorted(table.indexes, key=lambda one: str(one.name)):
        unit.say(str(CreateIndex(index).compile(dialect=dialect)))


def _add(unit: Unit, dialect: Dialect, column: Column[object]) -> None:
    form = str(CreateColumn(column).compile(dialect=dialect))
    unit.say(f"ALTER TABLE {column.table.name} ADD COLUMN {form}")
