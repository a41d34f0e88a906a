"""Which kind of database is at a place."""

from pathlib import Path

from letagents.adapters.sql.database import Database
from letagents.adapters.sql.engine import is_url_of_server, open_engine
from letagents.adapters.sql.postgres import PostgresDatabase

AnyDatabase = Database | PostgresDatabase


def open_database(place: Path | str) -> AnyDatabase:
    """Return the database in the SQLite file at `place`, or at the SQLAlchemy URL it is."""
    return PostgresDatabase(open_engine(place)) if is_url_of_server(place) else Database.at(place)
