"""The form of the database: made when there is none, brought forward when it is older than ours.

A form that is newer than we know is refused. Each step is one transaction with the number it leads
to, so that many processes may do this at once and one that is killed leaves the form before.
"""

from collections.abc import Callable, Mapping

from sqlalchemy import Column, Dialect, Table
from sqlalchemy.schema import CreateColumn, CreateIndex, CreateTable

from letagents.adapters.sql.database import Database, Unit
from letagents.adapters.sql.engine import is_sqlite
from letagents.adapters.sql.tables import (
    METADATA,
    ROOMS,
    SESSIONS,
    THINGS,
    prepare_for_postgresql,
)

VERSION = 2


class NewerSchema(Exception):
    """The database was made by a newer version of ours."""

    def __init__(self, found: int) -> None:
        super().__init__(f"its form is number {found}, and this program knows up to {VERSION}")


def prepare(database: Database) -> None:
    """Make the tables if they are not there, or bring those forward that are older.

    Raises:
        NewerSchema: the database is of a form that this program does not know.
    """
    if not is_sqlite(database.engine):
        prepare_for_postgresql()
        METADATA.create_all(database.engine)
        return
    dialect = database.engine.dialect
    found = database.read(_version)
    while found < VERSION:
        found = database.write(lambda unit: _forward(unit, dialect))
    if found > VERSION:
        raise NewerSchema(found)


def _version(unit: Unit) -> int:
    unit.cursor.execute("PRAGMA user_version")
    version: int = unit.cursor.fetchone()[0]
    return version


def _forward(unit: Unit, dialect: Dialect) -> int:
    """Make one step, unless somebody did since; return the number of the form."""
    found = _version(unit)
    if found >= VERSION:
        return found
    reached = found + 1 if found else VERSION
    (_STEPS[reached] if found else _make_all)(unit, dialect)
    unit.cursor.execute(f"PRAGMA user_version = {reached}")
    return reached


def _make_all(unit: Unit, dialect: Dialect) -> None:
    for table in METADATA.sorted_tables:
        _make(unit, dialect, table)


def _to_2(unit: Unit, dialect: Dialect) -> None:
    """Sessions name their process and its last sign; rooms count changes, and keep more."""
    for name in ("process", "seen_boot", "seen_seconds"):
        _add(unit, dialect, SESSIONS.c[name])
    _add(unit, dialect, ROOMS.c.roster_changes)
    _make(unit, dialect, THINGS)


_STEPS: Mapping[int, Callable[[Unit, Dialect], None]] = {2: _to_2}


def _make(unit: Unit, dialect: Dialect, table: Table) -> None:
    unit.cursor.execute(str(CreateTable(table).compile(dialect=dialect)))
    for index in sorted(table.indexes, key=lambda one: str(one.name)):
        unit.cursor.execute(str(CreateIndex(index).compile(dialect=dialect)))


def _add(unit: Unit, dialect: Dialect, column: Column[object]) -> None:
    form = str(CreateColumn(column).compile(dialect=dialect))
    unit.cursor.execute(f"ALTER TABLE {column.table.name} ADD COLUMN {form}")
