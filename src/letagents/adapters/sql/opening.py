"""Which kind of database is at a place."""

from pathlib import Path
from typing import TYPE_CHECKING

from letagents.adapters.sql.database import Database
from letagents.adapters.sql.engine import is_url_of_server, open_engine
from letagents.ports.clock import Clock

if TYPE_CHECKING:  # who keeps rooms in a file loads nothing of a server
    from letagents.adapters.sql.postgres import PostgresDatabase

    AnyDatabase = Database | PostgresDatabase


def open_database(place: Path | str, clock: Clock | None = None) -> "AnyDatabase":
    """Return the database in the SQLite file at `place`, or at the SQLAlchemy URL it is.

    A server sets `clock` to its own, if it is one that can be set.
    """
    if is_url_of_server(place):
        from letagents.adapters.sql.postgres import PostgresDatabase
        from letagents.adapters.sql.server_clock import ServerClock

        set_by_server = clock if isinstance(clock, ServerClock) else None
        return PostgresDatabase(open_engine(place), set_by_server)
    return Database.at(place)
