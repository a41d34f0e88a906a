"""The database of local rooms: opened when first used, its failures told in our own words."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import attrs
from sqlalchemy.exc import SQLAlchemyError

from letagents.adapters.rooms import local_failures
from letagents.adapters.rooms.rosters import Rosters
from letagents.adapters.sql import migrations
from letagents.adapters.sql.database import CommitFailed, Unit
from letagents.adapters.sql.engine import is_sqlite
from letagents.adapters.sql.migrations import NewerSchema
from letagents.adapters.sql.opening import open_database
from letagents.adapters.sql.server_errors import in_short
from letagents.domain.errors import RoomsUnavailable
from letagents.ports.clock import Clock

if TYPE_CHECKING:
    from letagents.adapters.sql.opening import AnyDatabase

T = TypeVar("T")


@attrs.define(eq=False)
class LocalStore:
    """Does work in transactions on the database. Any thread may use it."""

    _database: "AnyDatabase"
    _is_ours: bool
    rosters: Rosters = attrs.field(factory=Rosters)
    _lock: threading.Lock = attrs.field(factory=threading.Lock)
    _is_prepared: bool = False
    _failures: tuple[type[Exception], ...] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._failures = (*self._database.failures, CommitFailed, NewerSchema)

    @classmethod
    def at(cls, place: "AnyDatabase | Path | str", clock: Clock | None = None) -> "LocalStore":
        """Return the store at a path or URL, or in a database, which is then not closed.

        A server sets `clock` to its own, if it is one that can be set.

        Raises:
            RoomsUnavailable: the URL is none, or the driver that it names is not installed.
        """
        if not isinstance(place, Path | str):
            return cls(place, is_ours=False)
        try:
            return cls(open_database(place, clock), is_ours=True)
        except (SQLAlchemyError, ImportError) as error:
            raise RoomsUnavailable(
                f"The rooms cannot be opened: {in_short(error)}.",
                remedy="Correct LETAGENTS_ROOMS_DB, or install the driver that it names: "
                "pip install 'letagents[postgres]'.",
            ) from error

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is a SQLite file."""
        return is_sqlite(self._database.engine)

    def read(self, work: Callable[[Unit], T]) -> T:
        """Return what `work` finds, in a transaction that sees one state throughout.

        Raises:
            RoomsUnavailable: the database cannot be used.
        """
        return self._done(self._database.read, work)

    def write(self, work: Callable[[Unit], T], *held: str) -> T:
        """Return what `work` returns once what it did is committed; nothing is kept if it raises.

        Nobody else who holds one of `held` writes meanwhile. It may be begun again, if the database
        breaks it off for the sake of others.

        Raises:
            RoomsUnavailable: the database cannot be used, and nothing was changed.
            OutcomeUnknown: it broke while what was done was being written down.
        """
        return self._done(lambda work: self._database.write(work, *held), work)

    def tidy(self) -> None:
        """Do after a write what is due and need not be waited for."""
        self._database.tidy()

    def beat(self) -> int | None:
        """Return a number that each commit makes another, or None if it cannot be told."""
        return self._database.beat()

    def others(self) -> object:
        """Return another value once anybody else has committed than the thread that asks.

        Raises:
            RoomsUnavailable: the database cannot be used.
        """
        try:
            return self._database.others()
        except self._failures as error:
            raise local_failures.told(error, self._database.engine) from error

    def close(self) -> None:
        """Close the database if it was opened here."""
        if self._is_ours:
            self._database.close()

    def _done(self, act: Callable[[Callable[[Unit], T]], T], work: Callable[[Unit], T]) -> T:
        try:
            if not self._is_prepared:
                self._prepare()
            return act(work)
        except self._failures as error:
            if local_failures.is_our_mistake(error):
                raise
            raise local_failures.told(error, self._database.engine) from error

    def _prepare(self) -> None:
        with self._lock:
            if not self._is_prepared:
                migrations.prepare(self._database)
                self._is_prepared = True
