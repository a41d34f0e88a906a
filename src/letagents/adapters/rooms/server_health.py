"""What a PostgreSQL that keeps rooms says of its health: asked, and written to harmlessly."""

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import Engine

from letagents.adapters.sql import migrations
from letagents.adapters.sql.database import CommitFailed, Unit
from letagents.adapters.sql.engine import place_of
from letagents.adapters.sql.postgres import PostgresDatabase
from letagents.adapters.sql.server_errors import in_short
from letagents.ports.health import Finding

ABOUT = "rooms"

_ASK = """SELECT current_setting('server_version'), current_setting('synchronous_commit'),
(SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit'),
current_setting('fsync'), current_setting('full_page_writes'),
current_setting('server_encoding'), pg_is_in_recovery()"""


class _Server(NamedTuple):
    """The answer to _ASK."""

    version: str
    synchronous_commit: str
    own_synchronous_commit: str
    fsync: str
    full_page_writes: str
    encoding: str
    is_standby: bool


def examine(engine: Engine) -> list[Finding]:
    """Say whether rooms can be read and kept there, and what an answer means there."""
    database, place = PostgresDatabase(engine), place_of(engine)
    failures: tuple[type[Exception], ...] = (*database.failures, CommitFailed)
    try:
        server, form = database.read(lambda unit: (_asked(unit), _form(unit, database)))
        problems = [*_newer(place, form), *_lacks(place, server)]
        if not problems and form:
            database.write(_written_again)
    except failures as error:
        return [_unusable(place, error)]
    return problems or [_sound(place, server, form)]


def _asked(unit: Unit) -> _Server:
    return _Server._make(unit.ask(_ASK))


def _form(unit: Unit, database: PostgresDatabase) -> int:
    return migrations.form(unit, database.engine.dialect)


def _written_again(unit: Unit) -> None:
    """Write the number of the form: it stays what it is, and is written and synced all the same."""
    unit.say("UPDATE letagents_form SET number = number")


def _sound(place: str, server: _Server, form: int) -> Finding:
    told = f"synchronous_commit {server.synchronous_commit}"
    if server.own_synchronous_commit != server.synchronous_commit:
        told += f", which letagents sets for itself: the server has {server.own_synchronous_commit}"
    state = f"can be written and synced (form {form})" if form else "is still empty"
    return Finding(ABOUT, f"{place} {state}; PostgreSQL {server.version}, {told}")


def _newer(place: str, form: int) -> Iterator[Finding]:
    if form > migrations.VERSION:
        yield Finding(
            ABOUT,
            f"{place} was made by a newer letagents: its form is {form}, "
            f"ours is {migrations.VERSION}.",
            remedy="Upgrade letagents, or set LETAGENTS_ROOMS_DB to another place.",
        )


def _lacks(place: str, server: _Server) -> Iterator[Finding]:
    if server.is_standby:
        yield Finding(
            ABOUT,
            f"{place} is a standby, which cannot be written.",
            remedy="Name the primary in LETAGENTS_ROOMS_DB, or all of them in one URL with "
            "target_session_attrs=read-write.",
        )
    if server.encoding != "UTF8":
        yield Finding(
            ABOUT,
            f"{place} keeps texts as {server.encoding}, which has not every sign.",
            remedy="Make another database there WITH ENCODING 'UTF8' TEMPLATE template0.",
        )
    for name in ("fsync", "full_page_writes"):
        if getattr(server, name) != "on":
            yield Finding(
                ABOUT,
                f"The server at {place} runs with {name} off: what was answered may be lost.",
                remedy=f"Set {name} to on in its configuration, and reload it.",
            )


def _unusable(place: str, error: BaseException) -> Finding:
    return Finding(
        ABOUT,
        f"{place} cannot be used: {in_short(error)}.",
        remedy="Start the server, let this user connect and make tables there, or correct "
        "LETAGENTS_ROOMS_DB.",
    )
