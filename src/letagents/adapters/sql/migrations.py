"""The form of the database: made when there is none, refused when it is newer than we know."""

from sqlalchemy import Dialect
from sqlalchemy.schema import CreateIndex, CreateTable

from letagents.adapters.sql.database import Database, Unit
from letagents.adapters.sql.engine import is_sqlite
from letagents.adapters.sql.tables import METADATA

VERSION = 1


class NewerSchema(Exception):
    """The database was made by a newer version of ours."""

    def __init__(self, found: int) -> None:
        super().__init__(f"its form is number {found}, and this program knows up to {VERSION}")


def prepare(database: Database) -> None:
    """Make the tables if they are not there. Many processes may do this at once.

    Raises:
        NewerSchema: the database is of a form that this program does not know.
    """
    if not is_sqlite(database.engine):
        METADATA.create_all(database.engine)
        return
    dialect = database.engine.dialect
    found = database.read(_version) or database.write(lambda unit: _made(unit, dialect))
    if found > VERSION:
        raise NewerSchema(found)


def _version(unit: Unit) -> int:
    unit.cursor.execute("PRAGMA user_version")
    version: int = unit.cursor.fetchone()[0]
    return version


def _made(unit: Unit, dialect: Dialect) -> int:
    """Make the tables, unless somebody did since; return the number of the form."""
    if found := _version(unit):
        return found
    for table in METADATA.sorted_tables:
        unit.cursor.execute(str(CreateTable(table).compile(dialect=dialect)))
        for index in sorted(table.indexes, key=lambda one: str(one.name)):
            unit.cursor.execute(str(CreateIndex(index).compile(dialect=dialect)))
    unit.cursor.execute(f"PRAGMA user_version = {VERSION}")
    return VERSION
