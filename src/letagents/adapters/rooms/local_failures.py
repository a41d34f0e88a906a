"""The failures of the database of local rooms, told in our own words."""

from sqlalchemy import Engine

from letagents.adapters.sql.database import CommitFailed
from letagents.adapters.sql.engine import is_sqlite, place_of
from letagents.adapters.sql.migrations import NewerSchema
from letagents.adapters.sql.server_errors import in_short, sqlstate
from letagents.domain.errors import OutcomeUnknown, RoomsUnavailable

_OF_THE_PLACE = frozenset({"3D000", "3F000", "42501", "42P01", "42P07"})
"""What is wrong with the place, though drivers call it an error of the program: a database, schema,
right or table is lacking, or there are tables of others."""
_LOCKED = frozenset({"55P03", "57014"})
"""It was waited for a lock in vain, or a statement took too long."""


def is_our_mistake(error: Exception) -> bool:
    """Whether the program is to blame, and not the place."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    return "ProgrammingError" in kinds and sqlstate(error) not in _OF_THE_PLACE


def told(error: Exception, engine: Engine) -> RoomsUnavailable | OutcomeUnknown:
    """Return what a caller is to know of `error`."""
    place, other = place_of(engine), f"another {'file' if is_sqlite(engine) else 'place'}"
    if isinstance(error, CommitFailed):
        return OutcomeUnknown(
            f"The rooms in {place} broke while a change was being written ({error}).",
            remedy="Read the latest messages before doing it again: it may have happened. "
            "Run `letagents doctor` to see what is wrong with the place.",
        )
    if isinstance(error, NewerSchema):
        return RoomsUnavailable(
            f"The rooms in {place} were made by a newer letagents: {error}.",
            remedy=f"Upgrade letagents, or set LETAGENTS_ROOMS_DB to {other}.",
        )
    if _is_locked(error):
        return RoomsUnavailable(
            f"The rooms in {place} are locked: another process is writing there, or was stopped "
            "while it did. Nothing was changed.",
            remedy=f"Make the same call again. If it goes on, {_who_has_it(engine)}",
        )
    return RoomsUnavailable(
        f"The rooms in {place} cannot be used: {in_short(error)}.",
        remedy="Run `letagents doctor` to see what is wrong with the place, "
        f"or set LETAGENTS_ROOMS_DB to {other}.",
    )


def _is_locked(error: Exception) -> bool:
    cause = getattr(error, "orig", None) or error
    name = str(getattr(cause, "sqlite_errorname", ""))
    return name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")) or sqlstate(error) in _LOCKED


def _who_has_it(engine: Engine) -> str:
    if is_sqlite(engine):
        return (
            f"find who has the file open (`fuser {place_of(engine)}`), and let it go on or end it."
        )
    return "look into pg_stat_activity for who is in a transaction, and let it go on or end it."
