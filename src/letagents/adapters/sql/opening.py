"""Which kind of database is at a place."""

from pathlib import Path

from letagents.adapters.sql.database import Database
from letagents.adapters.sql.engine import is_url_of_server, open_engine
from letagents.adapters.sql.postgres import PostgresDatabase
from letagents.adapters.sql.server_clock import ServerClock

AnyDatabase = Database | PostgresDatabase


def open_database(place: Path | str, clock: ServerClock | None = None) -> AnyDatabase:
    """Return the database in the SQLite file at `place`, or at the SQLAlchemy URL it is.

    A server sets `clock` to its own.
    """
    if is_url_of_server(place):
        return PostgresDatabase(open_engine(place), clock)
    return Database.at(place)
