"""Whether who acts may write on the board of a room from where it says that it is."""

from letagents.adapters.rooms.book import Book, Where
from letagents.adapters.rooms.kept.focus_records import FOCUS_ROOMS
from letagents.domain import focus_rooms, locators
from letagents.domain.focus_rooms import Focus
from letagents.domain.ids import RoomId
from letagents.domain.sessions import SessionKind


def check(book: Book) -> None:
    """Let no agent write here from a focus room that is to keep to itself (R27)."""
    origin, caller = book.origin, book.caller
    if origin is None or origin == book.room_id or caller is None:
        return
    if caller.kind is SessionKind.WORKER:
        focus_rooms.check_origin(_beside(book, origin))


def _beside(book: Book, room_id: RoomId) -> Focus | None:
    where = locators.located(room_id)
    if where is not None:
        return book.get(FOCUS_ROOMS, where.key) if where.parent == book.room_id else None
    if locators.number_of(room_id) is None:
        return None
    found = book.find(FOCUS_ROOMS, Where(also=str(room_id), limit=1))
    return found[0] if found else None
