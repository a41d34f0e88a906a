"""What a worker finds when it arrives again: its own tasks, and those that were left to it."""

from letagents.adapters.rooms.book import Book
from letagents.adapters.rooms.kept import absences as kept_absences
from letagents.adapters.rooms.kept import board as kept_board
from letagents.domain.sessions import Resumed, Session


def resumed(book: Book, session: Session) -> tuple[Resumed, ...]:
    """Let `session` have what was left to it; return all that it holds."""
    held = kept_board.adopt(book, session)
    kept_absences.returned(book, session, held)
    return tuple(
        Resumed(lease.about, lease.kind.value, lease.epoch, lease.lease_id) for lease in held
    )
