"""The form of the database: made when there is none, refused when it is newer than we know."""

from sqlalchemy import Engine
from sqlalchemy.schema import CreateIndex, CreateTable

from letagents.adapters.sql.engine import is_sqlite
from letagents.adapters.sql.tables import METADATA
from letagents.adapters.sql.units import Unit, Units

VERSION = 1


class NewerSchema(Exception):
    """The database was made by a newer version of ours."""

    def __init__(self, found: int) -> None:
        super().__init__(f"its form is number {found}, and this program knows up to {VERSION}")


def prepare(engine: Engine) -> None:
    """Make the tables if they are not there. Many processes may do this at once.

    Raises:
        NewerSchema: the database is of a form that this program does not know.
    """
    if not is_sqlite(engine):
        METADATA.create_all(engine)
        return
    units = Units(engine)
    with units.reading() as unit:
        found = _version(unit)
    if found == 0:
        with units.writing() as unit:
            found = _version(unit)
            if found == 0:
                _create(unit, engine)
                found = VERSION
    if found > VERSION:
        raise NewerSchema(found)


def _version(unit: Unit) -> int:
    unit.cursor.execute("PRAGMA user_version")
    version: int = unit.cursor.fetchone()[0]
    return version


def _create(unit: Unit, engine: Engine) -> None:
    for table in METADATA.sorted_tables:
        unit.cursor.execute(str(CreateTable(table).compile(dialect=engine.dialect)))
        for index in sorted(table.indexes, key=lambda one: str(one.name)):
            unit.cursor.execute(str(CreateIndex(index).compile(dialect=engine.dialect)))
    unit.cursor.execute(f"PRAGMA user_version = {VERSION}")
