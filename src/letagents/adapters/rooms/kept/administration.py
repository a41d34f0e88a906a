"""What the admins of rooms do with them, where rooms are kept in books."""

import attrs

from letagents.adapters.rooms.book import Book, Keeping, Kind
from letagents.domain import event_filters, governance, rooms, sessions
from letagents.domain.event_filters import EventFilter, EventKind
from letagents.domain.fencing import Fence
from letagents.domain.governance import NoSuchSession
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.rooms import Room
from letagents.domain.sessions import Session

_ONE = "event_filter"
FILTERS = Kind(name="event_filter", of=EventFilter, key=lambda _one: _ONE, number=lambda _one: 1)


@attrs.frozen
class KeptAdministration:
    """Looks after rooms that are kept in books."""

    _rooms: Keeping

    async def rename(self, room_id: RoomId, display_name: str, fence: Fence | None = None) -> Room:
        """Call the room so from now on."""
        name = rooms.checked_display_name(display_name)

        def rename(book: Book) -> Room:
            governance.check_admin(is_admin=book.is_admin, what="say what it is called")
            return book.rename(name)

        return await self._rooms.change(room_id, rename, fence)

    async def event_filter(self, room_id: RoomId, viewer: Fence | None = None) -> EventFilter:
        """Return of which events the room wants to hear."""
        return await self._rooms.look(room_id, _filter, viewer)

    async def filter_events(
        self, room_id: RoomId, kinds: tuple[EventKind, ...], fence: Fence | None = None
    ) -> EventFilter:
        """Let the room hear of those kinds alone."""

        def choose(book: Book) -> EventFilter:
            before = _filter(book)
            after = event_filters.set_by(book.caller, kinds, before, book.now)
            governance.check_admin(is_admin=book.is_admin, what="choose of which events it hears")
            if after != before:
                book.put(FILTERS, after)
            return after

        return await self._rooms.change(room_id, choose, fence)

    async def end(
        self, room_id: RoomId, session_id: SessionId, fence: Fence | None = None
    ) -> Session:
        """End a session."""

        def end(book: Book) -> Session:
            governance.check_admin(is_admin=book.is_admin, what="end a session of another")
            seat = book.seat(session_id)
            if seat is None:
                raise NoSuchSession(
                    f"The room has no session {session_id}.", remedy="Look who is in it."
                )
            if seat.is_live:
                seat = sessions.ended(seat, now=book.now)
                book.take(seat)
            return seat.session

        return await self._rooms.change(room_id, end, fence)


def _filter(book: Book) -> EventFilter:
    return book.get(FILTERS, _ONE) or EventFilter()
