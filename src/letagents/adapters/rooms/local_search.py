"""Searching local rooms: what the index lacks is added first, in transactions of its own."""

from typing import Protocol

from letagents.adapters.rooms import local_reading, local_rows, local_seats
from letagents.adapters.rooms.local_store import LocalStore
from letagents.adapters.sql import postgres_search, search_index
from letagents.adapters.sql.database import Row, Unit
from letagents.adapters.sql.tables import moment
from letagents.domain import search
from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.search import Found, Hit, Query


def lacks_up_to(store: LocalStore, room_id: RoomId, viewer: Fence | None) -> int:
    """Return the number up to which messages have to be added before a search, or 0 if none.

    Raises: as `search`.
    """
    index = _index(store)

    def look(unit: Unit) -> int:
        last = local_reading.last_number(unit, room_id)
        _admit(unit, room_id, viewer)
        index.check_available(unit)
        return last if index.indexed(unit, room_id) < last else 0

    return store.read(look)


def add_more(store: LocalStore, room_id: RoomId) -> int:
    """Add some more messages; return the number up to which they are there now."""
    index = _index(store)
    return store.write(lambda unit: index.add_more(unit, room_id), f"search of {room_id}")


def find(store: LocalStore, room_id: RoomId, query: Query, viewer: Fence | None) -> Found:
    """Return the newest hits among what has been added.

    Raises:
        UnknownRoom, ConnectionLost, UnknownMessage, NotAvailable: as the port says.
    """

    index = _index(store)

    def find(unit: Unit) -> Found:
        local_reading.last_number(unit, room_id)
        _admit(unit, room_id, viewer)
        rows = index.find(unit, room_id, query, _root(unit, room_id, query.thread))
        hits = tuple(_hit(row, query) for row in rows[: query.limit])
        return Found(hits, more=len(rows) > query.limit)

    return store.read(find)


def _index(store: LocalStore) -> "_Index":
    return search_index if store.is_sqlite else postgres_search


class _Index(Protocol):
    """What finds words in one kind of database."""

    def check_available(self, unit: Unit) -> None: ...

    def indexed(self, unit: Unit, room_id: RoomId) -> int: ...

    def add_more(self, unit: Unit, room_id: RoomId) -> int: ...

    def find(self, unit: Unit, room_id: RoomId, query: Query, root: int | None) -> list[Row]: ...


def _admit(unit: Unit, room_id: RoomId, viewer: Fence | None) -> None:
    if viewer is not None:
        local_seats.admitted(unit, room_id, viewer)


def _root(unit: Unit, room_id: RoomId, thread: MessageId | None) -> int | None:
    if thread is None:
        return None
    message = local_rows.message_numbered(unit, room_id, thread.number)
    if message is None:
        raise search.no_thread(thread)
    return message.thread_root.number


def _hit(row: Row, query: Query) -> Hit:
    number, sender, text, said_at, root = row
    snippet = search.snippet_of(text, query)
    return Hit(MessageId(number), sender, moment(said_at), MessageId(root or number), snippet)
