"""What a person can set for a server, beside what every process is told; checked.

Database, address and port may also be given on the command line, which wins.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

import attrs

from letagents.domain.errors import SettingsInvalid
from letagents.domain.serving import PORT, Bounds
from letagents.setting_sources import Source, database, set_in_file

BOUNDS = tuple(one.name for one in attrs.fields(Bounds))
LARGEST_BOUND = 1_000_000_000

_ADDRESS = re.compile(r"https?://[^/\s?#@]+(/[^\s?#]*)?")


@attrs.frozen
class Github:
    """How people may sign in through GitHub: those of `logins`, or everybody where it is None."""

    client_id: str
    scopes: str = "read:user"
    logins: frozenset[str] | None = frozenset()


@attrs.frozen
class Serving:
    """What a server is told. `base_url` is None where it is the address that it listens at."""

    database: str = attrs.field(repr=False)  # a URL may hold a password
    port: int = PORT
    base_url: str | None = None
    github: Github | None = None
    bounds: Bounds = attrs.field(factory=Bounds)
    takes_bearers: bool = False
    """Whether workers get a bearer of their own, and may show it alone."""


def load(home: Path, environ: Mapping[str, str] = os.environ) -> Serving:
    """Return what `environ` and the file in `home` make. (Source: hosted-api 1.1, mcp-tools 2.2.)

    Raises:
        SettingsInvalid: a value is not one that its setting can have, or the file cannot be read.
    """
    source = Source(environ, set_in_file(home))
    base = source.text("base_url") or environ.get("PUBLIC_API_URL", "").strip()
    place = source.text("server_db") or environ.get("DB_URL", "").strip()
    try:
        return Serving(
            database(place) if place else str(home / "server.db"),
            _port(environ.get("PORT", "").strip()),
            _address(base) if base else None,
            _github(source),
            _bounds(source),
            _is_on(source.text("agent_session_bearer_enabled")),
        )
    except ValueError as error:
        raise SettingsInvalid(
            f"The server cannot be set up so: {error}.",
            remedy="Correct it in the environment or in config.toml.",
        ) from error


def with_database(serving: Serving, place: str | None) -> Serving:
    """Return what a server is told, with the database that the command line gives, if it does.

    Raises:
        SettingsInvalid: it can be none.
    """
    if place is None:
        return serving
    try:
        return attrs.evolve(serving, database=database(place))
    except ValueError as error:
        raise SettingsInvalid(
            f"--database: {error}.", remedy="Pass a file, or a URL such as postgresql://host/name."
        ) from error


def _is_on(text: str | None) -> bool:
    """(Source: hosted-api 2.2.)"""
    return (text or "").lower() in ("1", "true", "yes")


def _port(text: str) -> int:
    if not text:
        return PORT
    if not text.isascii() or not text.isdecimal() or int(text[:6]) > 65_535:
        raise ValueError("PORT is a number up to 65535")
    return int(text)


def _address(text: str) -> str:
    if not _ADDRESS.fullmatch(text):
        raise ValueError("LETAGENTS_BASE_URL is http:// or https:// and a host")
    return text.rstrip("/")


def _bounds(source: Source) -> Bounds:
    given = {name: source.parsed(f"server_{name}", _count) for name in BOUNDS}
    return Bounds(**{name: count for name, count in given.items() if count is not None})


def _count(text: str) -> int:
    count = int(text) if text.isascii() and text.isdecimal() and len(text) < 11 else 0
    if not 1 <= count <= LARGEST_BOUND:
        raise ValueError(f"it is a number from 1 to {LARGEST_BOUND}")
    return count


def _github(source: Source) -> Github | None:
    client_id = source.environ.get("GITHUB_CLIENT_ID", "").strip()
    if not client_id:
        return None
    logins = source.text("github_logins")
    if logins is None:
        raise ValueError(
            "GITHUB_CLIENT_ID is set, and LETAGENTS_GITHUB_LOGINS does not say who may sign in: "
            "logins with commas between them, or * for everybody whom GitHub knows"
        )
    named = frozenset(one.strip().lower() for one in logins.split(",") if one.strip())
    scopes = source.environ.get("GITHUB_OAUTH_SCOPES", "").strip() or "read:user"
    return Github(client_id, scopes, None if "*" in named else named)
