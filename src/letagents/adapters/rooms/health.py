"""What the database of local rooms says of its health: read, checked, and written to harmlessly."""

from pathlib import Path
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from letagents.adapters import folders
from letagents.adapters.rooms import server_health
from letagents.adapters.sql import search_index, sqlite_library
from letagents.adapters.sql.database import CommitFailed, Database, Unit
from letagents.adapters.sql.engine import is_url_of_server, open_engine, place_of
from letagents.adapters.sql.migrations import VERSION
from letagents.adapters.sql.sqlite_library import SqliteLibrary
from letagents.ports.health import Finding

ABOUT = "rooms"

_SHOWN = 3
"""So many of the faults that a check finds are told."""


def examine(place: str) -> list[Finding]:
    """Say of the rooms at a path or URL whether they can be read, are whole and can be written."""
    if is_url_of_server(place):
        return _of_server(place)
    used = sqlite_library.library()
    library = [Finding("sqlite", str(used)), *_lacks(used)]
    try:
        engine = open_engine(place)
    except (SQLAlchemyError, ImportError) as error:
        return [*library, _not_opened(error)]
    try:
        return [*library, *_sqlite(engine)]
    finally:
        engine.dispose()


def _lacks(library: SqliteLibrary) -> list[Finding]:
    if not search_index.is_lacking(library):
        return []
    module = search_index.MODULE.upper()
    return [
        Finding(
            "search",
            f"This SQLite was built without {module}: nothing can be searched, all else works.",
            remedy="Install pysqlite3 beside letagents, or a Python whose SQLite has it.",
        )
    ]


def _sqlite(engine: Engine) -> list[Finding]:
    file = Path(place_of(engine))
    if not file.exists():
        return [folders.not_used_yet(ABOUT, file)]
    return [_read_and_written(engine), *folders.openness(ABOUT, file)]


def _read_and_written(engine: Engine) -> Finding:
    database, place = Database(engine), place_of(engine)
    try:
        version, faults = database.read(_examined)
        if version > VERSION:
            return _newer(place, version)
        if faults:
            return _damaged(place, "; ".join(faults))
        database.write(_written_again)
    except (engine.dialect.loaded_dbapi.Error, SQLAlchemyError, CommitFailed, OSError) as error:
        return _unusable(place, error)
    finally:
        database.close()
    form = f"form {version}" if version else "still empty"
    return Finding(ABOUT, f"{place} is whole, can be written and synced ({form})")


def _of_server(place: str) -> list[Finding]:
    try:
        engine = open_engine(place)
    except (SQLAlchemyError, ImportError) as error:
        return [_not_opened(error)]
    try:
        return server_health.examine(engine)
    finally:
        engine.dispose()


def _not_opened(error: Exception) -> Finding:
    return Finding(
        ABOUT,
        f"The rooms cannot be opened: {error}.",
        remedy="Correct LETAGENTS_ROOMS_DB, or install the driver that it names: "
        "pip install 'letagents[postgres]'.",
    )


def _examined(unit: Unit) -> tuple[int, list[str]]:
    """Return the number of the form, and the faults that a check finds."""
    check = _rows(unit, f"PRAGMA quick_check({_SHOWN})")
    found = [str(row[0]).splitlines()[-1] for row in check]
    return _one(unit, "PRAGMA user_version"), [] if found == ["ok"] else found


def _written_again(unit: Unit) -> None:
    """Write the number of the form: it stays what it is, and is written and synced all the same."""
    unit.cursor.execute(f"PRAGMA user_version = {_one(unit, 'PRAGMA user_version')}")


def _rows(unit: Unit, statement: str) -> list[Any]:
    return list(unit.cursor.execute(statement).fetchall())


def _one(unit: Unit, statement: str) -> int:
    return int(_rows(unit, statement)[0][0])


def _newer(place: str, version: int) -> Finding:
    return Finding(
        ABOUT,
        f"{place} was made by a newer letagents: its form is {version}, ours is {VERSION}.",
        remedy="Upgrade letagents, or set LETAGENTS_ROOMS_DB to another file.",
    )


def _damaged(place: str, why: str) -> Finding:
    return Finding(
        ABOUT,
        f"{place} is damaged: {why}.",
        remedy="End all agents, copy the file and what lies beside it to a safe place, and bring "
        "back a copy from before; `sqlite3 FILE .recover` saves what can be read.",
    )


def _unusable(place: str, error: BaseException) -> Finding:
    cause = getattr(error, "orig", None) or error
    why = str(cause).strip().rstrip(".")
    if "not a database" in why or "malformed" in why:
        return _damaged(place, why)
    remedy = (
        "End the process that keeps it locked, or wait until it is done."
        if "locked" in why
        else "Let this user read and write it and its folder, make room on the disk, or set "
        "LETAGENTS_ROOMS_DB to another file."
    )
    return Finding(ABOUT, f"{place} cannot be used: {why}.", remedy=remedy)
