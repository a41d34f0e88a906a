"""A PostgreSQL for tests: one that runs already, or one of our own from a wheel.

`LETAGENTS_TEST_POSTGRES` names the first by its URL, in whose database tests may do what they like;
without it each process of the tests starts a server that ends with it.
"""

import atexit
import functools
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from sqlalchemy.engine import URL, make_url
from tests.own_postgres import NoWheel, OwnServer, plain, text_of

from letagents.adapters.sql import migrations
from letagents.adapters.sql.opening import open_database

if TYPE_CHECKING:
    import psycopg  # which some systems have not

_TABLES = (
    "account_states",
    "server_proofs",
    "room_members",
    "agents",
    "account_tokens",
    "accounts",
    "search_words",
    "search_rooms",
    "things",
    "receipts",
    "messages",
    "sessions",
    "rooms",
)


@functools.cache
def server() -> URL:
    """Return where the server is; it is started when first asked for."""
    given = os.environ.get("LETAGENTS_TEST_POSTGRES")
    return make_url(given).set(drivername="postgresql+psycopg") if given else _started().url


def _started() -> OwnServer:
    try:
        return OwnServer()
    except NoWheel as lacking:
        pytest.skip(f"there is no PostgreSQL: {lacking}, or name one")


def with_options(place: str, **options: str) -> str:
    """Return the URL with more words in its query."""
    return text_of(make_url(place).update_query_dict(options))


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


@pytest.fixture
def blank_postgres() -> Iterator[str]:
    """The URL of a PostgreSQL in which there is not even a table."""
    connection, name = _prepared(), "blank"
    connection.execute(f"CREATE SCHEMA {name}".encode())
    yield with_options(text_of(server()), options=f"-csearch_path={name}")
    connection.execute(f"DROP SCHEMA {name} CASCADE".encode())


@pytest.fixture
def own_server() -> Iterator[OwnServer]:
    """A server that the test may do anything to."""
    started = _started()
    yield started
    started.stop()
