"""The engine that SQL adapters share: how a database is opened, and how its transactions begin.

SQLite is opened so that what was committed is on the disk (WAL, `synchronous=FULL`), and so that a
transaction which writes takes the write lock when it begins: what it reads first is then still true
when it writes, and no two of them can end in a deadlock.
"""

import threading
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL

from letagents.adapters import private
from letagents.adapters.sql import sqlite_library
from letagents.adapters.sql.sqlite_library import SqliteLibrary

PATIENCE_MS = 15_000
"""So long a transaction waits for its turn, before the database counts as unusable."""

_TRIES = 200
_PAUSE = 0.05


def open_engine(place: Path | str, *, library: SqliteLibrary | None = None) -> Engine:
    """Return an engine for the SQLite file at `place`, or for the SQLAlchemy URL that it is.

    Nothing is opened yet: that happens when the first connection is asked for.
    """
    if isinstance(place, str) and "://" in place and not place.startswith("sqlite"):
        return create_engine(place)
    return _sqlite_engine(place, library or sqlite_library.library())


def is_sqlite(engine: Engine) -> bool:
    """Whether the database is a SQLite file."""
    return engine.dialect.name == "sqlite"


def file_of(engine: Engine) -> Path | None:
    """Return the file that the database is, or None if it is none."""
    place = engine.url.database
    is_file = is_sqlite(engine) and place and not place.startswith((":", "file:"))
    return Path(str(place)) if is_file else None


def place_of(engine: Engine) -> str:
    """Return where the database is, in a form without a password."""
    if is_sqlite(engine):
        return str(engine.url.database)
    return engine.url.render_as_string(hide_password=True)


def _sqlite_engine(place: Path | str, library: SqliteLibrary) -> Engine:
    is_url = isinstance(place, str) and "://" in place
    url: URL | str = str(place) if is_url else URL.create("sqlite+pysqlite", database=str(place))
    engine = create_engine(
        url,
        module=library.module,
        paramstyle="named",
        connect_args={"check_same_thread": False, "timeout": PATIENCE_MS / 1000},
        max_overflow=-1,
    )

    @event.listens_for(engine, "do_connect")
    def prepare_the_place(_dialect: object, _record: object, arguments: Any, _options: Any) -> None:
        private.make_file(Path(arguments[0]))

    @event.listens_for(engine, "connect")
    def set_it_up(connection: Any, _record: object) -> None:
        _set_up(connection, library)

    return engine


def _set_up(connection: Any, library: SqliteLibrary) -> None:
    connection.isolation_level = None
    connection.execute("PRAGMA busy_timeout=0")
    _insist(connection, "PRAGMA journal_mode=WAL", library)
    connection.execute(f"PRAGMA busy_timeout={PATIENCE_MS}")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    # See checkpoints.py for why, and for who does it.
    connection.execute("PRAGMA wal_autocheckpoint=0")


def _insist(connection: Any, statement: str, library: SqliteLibrary) -> None:
    """Run `statement`, again while others open the same new file: SQLite does not wait for this."""
    for _ in range(_TRIES):
        try:
            connection.execute(statement)
        except library.module.OperationalError as error:
            if "locked" not in str(error):
                raise
            threading.Event().wait(_PAUSE)
        else:
            return
    connection.execute(statement)
