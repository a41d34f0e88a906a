"""The database of local rooms: opened when first used, its failures told in our own words."""

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import attrs
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from letagents.adapters.sql import migrations
from letagents.adapters.sql.engine import open_engine, place_of
from letagents.adapters.sql.migrations import NewerSchema
from letagents.adapters.sql.units import CommitFailed, Unit, Units
from letagents.domain.errors import OutcomeUnknown, RoomsUnavailable


@attrs.define
class LocalStore:
    """Gives units of work on the database. Any thread may use it."""

    engine: Engine
    _units: Units = attrs.field(init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock)
    _is_prepared: bool = False

    def __attrs_post_init__(self) -> None:
        self._units = Units(self.engine)

    @classmethod
    def at(cls, place: "Engine | Path | str") -> "LocalStore":
        """Return the store at a path or URL, or over an engine."""
        return cls(place if isinstance(place, Engine) else open_engine(place))

    @contextlib.contextmanager
    def reading(self) -> Iterator[Unit]:
        """Open a unit that sees one state of the database throughout.

        Raises:
            RoomsUnavailable: the database cannot be used.
        """
        with self._translated():
            self._prepare()
            with self._units.reading() as unit:
                yield unit

    @contextlib.contextmanager
    def writing(self) -> Iterator[Unit]:
        """Open a unit that holds the write lock from its beginning; commit it at its end.

        Raises:
            RoomsUnavailable: the database cannot be used, and nothing was changed.
            OutcomeUnknown: it broke while what was done was being written down.
        """
        with self._translated():
            self._prepare()
            with self._units.writing() as unit:
                yield unit

    def _prepare(self) -> None:
        if self._is_prepared:
            return
        with self._lock:
            if not self._is_prepared:
                migrations.prepare(self.engine)
                self._is_prepared = True

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        place = place_of(self.engine)
        try:
            yield
        except CommitFailed as error:
            raise OutcomeUnknown(
                f"The rooms in {place} broke while a change was being written ({error}).",
                remedy="Read the latest messages before doing it again: it may have happened. "
                "Run `letagents doctor` to see what is wrong with the place.",
            ) from error
        except NewerSchema as error:
            raise RoomsUnavailable(
                f"The rooms in {place} were made by a newer letagents: {error}.",
                remedy="Upgrade letagents, or set LETAGENTS_ROOMS_DB to another file.",
            ) from error
        except (self.engine.dialect.loaded_dbapi.Error, SQLAlchemyError, OSError) as error:
            if isinstance(error, self.engine.dialect.loaded_dbapi.ProgrammingError):
                raise  # our own mistake, not the place's
            raise RoomsUnavailable(
                f"The rooms in {place} cannot be used: {_in_short(error)}.",
                remedy="Run `letagents doctor` to see what is wrong with the place, "
                "or set LETAGENTS_ROOMS_DB to another file.",
            ) from error

    def close(self) -> None:
        """Close all connections to the database."""
        self.engine.dispose()


def _in_short(error: BaseException) -> str:
    """Return the driver's own sentence, without the statement and its parameters."""
    cause = getattr(error, "orig", None) or error
    return str(cause).strip().rstrip(".") or type(cause).__name__
