"""All that LocalRooms does in its database, in one place; blocking, for any thread.

What a verb needs is loaded when it is first called: who joins a room waits for no other.
"""

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import attrs

from letagents.adapters.rooms import local_seats
from letagents.adapters.rooms.book import Admins, Book
from letagents.adapters.rooms.local_store import LocalStore
from letagents.adapters.rooms.stirred import Stirred
from letagents.adapters.rooms.writer import Outcome, Post
from letagents.adapters.sql.database import Unit
from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.messages import Message, Window
from letagents.domain.rooms import Room
from letagents.domain.sessions import Arrival, Connection, Resumed, Session, SessionKind
from letagents.ports.clock import Clock
from letagents.ports.ids import Ids
from letagents.ports.processes import Processes
from letagents.ports.vitals import Vitals

if TYPE_CHECKING:
    from letagents.adapters.rooms.local_book import Books
    from letagents.adapters.rooms.local_reading import Seen
    from letagents.adapters.rooms.local_vitals import Counts
    from letagents.adapters.sql.opening import AnyDatabase
    from letagents.domain.search import Found, Query

T = TypeVar("T")


@attrs.frozen
class Ledger:
    """The verbs of the port, each in transactions of its own."""

    _store: LocalStore
    _ids: Ids
    _clock: Clock
    _processes: Processes
    _opened: Callable[[], "Books"]
    _counting: Callable[[], "Counts"]

    @property
    def _books(self) -> "Books":
        return self._opened()

    @classmethod
    def at(
        cls,
        place: "AnyDatabase | Path | str",
        ids: Ids,
        clock: Clock,
        processes: Processes,
        admins: Admins,
        grace: timedelta,
    ) -> "Ledger":
        """Return the ledger of a database, or of the one at a path or URL."""
        store = LocalStore.at(place, clock)

        @functools.cache
        def books() -> "Books":
            from letagents.adapters.rooms.local_book import Books

            return Books(store, ids, clock, processes, admins, grace)

        @functools.cache
        def counts() -> "Counts":
            from letagents.adapters.rooms.local_vitals import Counts

            return Counts(clock)

        return cls(store, ids, clock, processes, books, counts)

    def change(
        self, room_id: RoomId, work: Callable[[Book], T], fence: Fence | None
    ) -> tuple[T, Stirred]:
        """Return what `work` returns once what it put down is committed, and whom it concerns."""
        return self._books.change(room_id, work, fence)

    def look(self, room_id: RoomId, work: Callable[[Book], T], viewer: Fence | None) -> T:
        """Return what `work` finds in one state of the database."""
        return self._books.look(room_id, work, viewer)

    def create(self) -> Room:
        """Make a room that is entered by a new invite code."""
        return local_seats.create(self._store, self._ids, self._clock)

    def join(self, room_id: RoomId, *, create: bool) -> Room:
        """Return the room, making it if it is not there and may be made."""
        return local_seats.join(self._store, room_id, self._clock, create=create)

    def counted(self) -> Vitals:
        """Return what is told of all rooms."""
        return self._counting().of(self._store)

    def known(self) -> tuple[Room, ...]:
        """Return the rooms, the latest active first."""
        return local_seats.known(self._store)

    def connect(
        self, room_id: RoomId, arrival: Arrival, *, may_wait: bool = True
    ) -> tuple[Connection, Stirred]:
        """Open a session or take it over; say whom it concerns."""
        from letagents.adapters.rooms.kept import arriving

        if arriving.comes_so(arrival):
            return self._admit(room_id, arrival, may_wait=may_wait)
        if arrival.predecessor is not None or arrival.worker_id is None:
            _load_the_board()
        process = self._processes.own if arrival.kind is SessionKind.WORKER else None
        return local_seats.connect(
            self._store, room_id, arrival, self._ids, self._clock, process, self._resumed
        )

    def _admit(
        self, room_id: RoomId, arrival: Arrival, *, may_wait: bool
    ) -> tuple[Connection, Stirred]:
        """Let somebody in who comes through a server."""
        from letagents.adapters.rooms.kept import arriving

        _load_the_board()

        def admit(unit: Unit) -> tuple[Connection, Stirred]:
            stirred = Stirred()
            book = self._books.begun(unit, room_id, stirred)
            arrived = arriving.arrive(book, arrival, may_wait=may_wait)
            made = arrived.connection
            if not arrived.may_resume:
                return made, stirred
            found = self._resumed(unit, made.session, stirred)
            return attrs.evolve(made, resumed=found), stirred

        return self._store.write(admit, room_id.value)

    def _resumed(self, unit: Unit, session: Session, stirred: Stirred) -> tuple[Resumed, ...]:
        return _load_the_board()(self._books.of(unit, session, stirred), session)

    def touch(self, room_id: RoomId, fence: Fence) -> None:
        """Write down that the session called."""
        local_seats.touch(self._store, room_id, fence, self._clock, self._processes)

    def disconnect(self, room_id: RoomId, fence: Fence) -> tuple[Session, Stirred]:
        """End the session; say whom it concerns."""
        return local_seats.disconnect(self._store, room_id, fence, self._clock)

    def post_all(self, posts: Sequence[Post]) -> list[Outcome]:
        """Do all posts in one transaction; return what became of each."""
        from letagents.adapters.rooms import local_posts

        return local_posts.post_all(self._store, posts, self._clock)

    def read(self, room_id: RoomId, window: Window, viewer: Fence | None) -> "Seen":
        """Return the messages in `window`, with whether each is for `viewer`."""
        from letagents.adapters.rooms import local_reading

        return local_reading.read(self._store, room_id, window, viewer)

    def shown(self, room_id: RoomId, viewer: Fence, numbers: Collection[int]) -> bool:
        """Take note that a viewer was shown messages; return whether that is news."""
        from letagents.adapters.rooms import local_reading

        return local_reading.shown(self._store, room_id, viewer, numbers, self._clock)

    def message(self, room_id: RoomId, message_id: MessageId) -> Message | None:
        """Return one message, or None if the room has no such."""
        from letagents.adapters.rooms import local_reading

        return local_reading.message(self._store, room_id, message_id)

    def search_lacks_up_to(self, room_id: RoomId, viewer: Fence | None) -> int:
        """Return the number up to which messages have to be added before a search, or 0."""
        from letagents.adapters.rooms import local_search

        return local_search.lacks_up_to(self._store, room_id, viewer)

    def add_to_search(self, room_id: RoomId) -> int:
        """Add some more messages to what is searched; return the number reached."""
        from letagents.adapters.rooms import local_search

        return local_search.add_more(self._store, room_id)

    def search(self, room_id: RoomId, query: "Query", viewer: Fence | None) -> "Found":
        """Return the newest hits among what has been added."""
        from letagents.adapters.rooms import local_search

        return local_search.find(self._store, room_id, query, viewer)

    def tidy(self) -> None:
        """Do after a write what is due and need not be waited for."""
        self._store.tidy()

    def beat(self) -> int | None:
        """Return a number that each commit makes another, or None if it cannot be told.

        It never waits, and is the one question that may be asked on an event loop.
        """
        return self._store.beat()

    def others(self) -> object:
        """Return another value once anybody else has committed than the thread that asks."""
        return self._store.others()

    def marks(self, room_ids: Collection[RoomId]) -> Mapping[RoomId, object]:
        """Return for each room what is another value once a wait there could find something."""
        from letagents.adapters.rooms import local_marks  # a file that can tell needs none

        return local_marks.of(self._store, room_ids)

    def close(self) -> None:
        """Close the database if it was opened here."""
        self._store.close()


def _load_the_board() -> Callable[[Book, Session], tuple[Resumed, ...]]:
    """Return what asks the board; not in a transaction, for whose end others wait, if need be.

    Most arrivals are of new workers, who need no board.
    """
    from letagents.adapters.rooms.resuming import resumed

    return resumed
