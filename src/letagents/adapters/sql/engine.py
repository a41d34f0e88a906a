"""The engine that SQL adapters share: how a database is opened, and how its transactions begin.

SQLite is opened so that what was committed is on the disk (WAL, `synchronous=FULL`), and so that a
transaction which writes takes the write lock when it begins: what it reads first is then still true
when it writes, and no two of them can end in a deadlock. PostgreSQL is opened in sessions that
wait for the disk too, whatever the server's own setting; postgres.py says how they keep writers
apart.
"""

import threading
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from letagents.adapters import private
from letagents.adapters.sql import sqlite_library
from letagents.adapters.sql.sqlite_library import SqliteLibrary

PATIENCE_MS = 15_000
"""So long a transaction waits for its turn, before the database counts as unusable."""
CONNECTIONS = 5
"""So many connections to a server one process has for its rooms: one writes, the others read."""
STOPPED_MS = 5_000
"""After so long a server ends the transaction of a process that has stopped in its middle."""
REACHED_WITHIN = 5
"""So many seconds a server may take to answer to a new connection."""

_TRIES = 200
_PAUSE = 0.05


def open_engine(place: Path | str, *, library: SqliteLibrary | None = None) -> Engine:
    """Return an engine for the SQLite file at `place`, or for the SQLAlchemy URL that it is.

    Nothing is opened yet: that happens when the first connection is asked for.
    """
    if is_url_of_server(place):
        return _postgres_engine(str(place))
    return _sqlite_engine(place, library or sqlite_library.library())


def is_url_of_server(place: Path | str) -> bool:
    """Whether rooms are kept by a server there, and not in a file."""
    return isinstance(place, str) and "://" in place and not place.startswith("sqlite")


def is_sqlite(engine: Engine) -> bool:
    """Whether the database is a SQLite file."""
    return engine.dialect.name == "sqlite"


def file_of(engine: Engine) -> Path | None:
    """Return the file that the database is, or None if it is none."""
    place = engine.url.database
    is_file = is_sqlite(engine) and place and not place.startswith((":", "file:"))
    return Path(str(place)) if is_file else None


def place_of(engine: Engine) -> str:
    """Return where the database is, without a password: it may stand in two places of a URL."""
    if is_sqlite(engine):
        return str(engine.url.database)
    return engine.url.set(query={}).render_as_string(hide_password=True)


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


def _postgres_engine(place: str) -> Engine:
    url = _server_url(place)
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_size=CONNECTIONS,
        max_overflow=0,
        pool_timeout=PATIENCE_MS / 1000,
        use_native_hstore=False,
        connect_args={"autocommit": True, **_REACHING},
    )

    @event.listens_for(engine, "connect")
    def set_it_up(connection: Any, _record: object) -> None:
        connection.execute(_SESSION)

    return engine


def _server_url(place: str) -> URL:
    """Return `place` as a URL. What is wrong with it is told without a part of it: which is which
    is not known then, and one is a password.

    Raises:
        ArgumentError: it is none.
    """
    try:
        url = make_url(place)
    except (ArgumentError, ValueError):
        url = None
    if url is None or "@" in (url.host or ""):
        raise ArgumentError(
            "its URL cannot be read. It is postgresql://USER:PASSWORD@HOST/DATABASE, and a sign "
            "of the password that is no letter or digit is written as %XX"
        )
    if url.get_backend_name() not in ("postgresql", "postgres"):
        raise ArgumentError("of servers, only a PostgreSQL can keep them: postgresql://")
    return url


_REACHING = {
    "connect_timeout": REACHED_WITHIN,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": PATIENCE_MS,
    "client_encoding": "utf8",
    "application_name": "letagents",
}
_SESSION = f"""SELECT
set_config('synchronous_commit',
    CASE current_setting('synchronous_commit')
        WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),
set_config('statement_timeout', '{PATIENCE_MS}', false),
set_config('lock_timeout', '{PATIENCE_MS - 1000}', false),
set_config('idle_in_transaction_session_timeout', '{STOPPED_MS}', false),
set_config('jit', 'off', false)"""
"""What each session sets for itself: an answer means that the disk has it, and nobody who was
stopped in the middle keeps others waiting for ever."""


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
