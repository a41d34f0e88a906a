"""What agents are seen to do, and who ever was there, as rooms keep it."""

import attrs

from letagents.adapters.rooms.book import Book, Kind, Noting
from letagents.adapters.rooms.kept import whereabouts
from letagents.domain import activity, failures
from letagents.domain.activity import Activity, Report
from letagents.domain.failures import Failure
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.messages import Message
from letagents.domain.sessions import Session, SessionKind
from letagents.domain.tasks import WorkerRequired
from letagents.domain.whereabouts import BLOCKED, MOST, Whereabouts

ACTIVITIES = Kind(
    name="activity",
    of=Activity,
    key=lambda one: str(one.session_id),
    number=lambda one: one.number,
)


@attrs.frozen
class KeptActivities:
    """What is seen in rooms that are kept in books."""

    _rooms: Noting

    async def report(self, room_id: RoomId, found: Report, fence: Fence) -> tuple[Activity, bool]:
        """Keep a report."""
        return await self._rooms.note(room_id, lambda book: _kept(book, found), fence)

    async def failed(self, room_id: RoomId, told: Failure, fence: Fence) -> Message:
        """Let the room say why an agent cannot go on."""

        def failed(book: Book) -> Message:
            session = _worker(book)
            message_id = book.say(
                failures.words(session, told),
                key=failures.key(session.session_id, told),
                source=failures.SOURCE,
                session_id=session.session_id,
            )
            said = book.message(message_id.number)
            assert said is not None  # noqa: S101  # it was said just now, or before
            return said

        return await self._rooms.change(room_id, failed, fence)

    async def history(
        self,
        room_id: RoomId,
        *,
        limit: int,
        before: SessionId | None = None,
        viewer: Fence | None = None,
    ) -> tuple[tuple[Whereabouts, ...], bool]:
        """Return those who came before a session."""
        many = max(1, min(limit, MOST))

        def history(book: Book) -> tuple[tuple[Whereabouts, ...], bool]:
            found = book.workers_before(before, many + 1)
            seen = tuple(whereabouts.seen(book, one) for one in found[:many])
            return seen, len(found) > many

        return await self._rooms.look(room_id, history, viewer)


def _worker(book: Book) -> Session:
    session = book.caller
    if session is None or session.kind is not SessionKind.WORKER:
        raise WorkerRequired(
            "Native activity requires a worker session.", remedy="Call register_agent_session."
        )
    return session


def _kept(book: Book, found: Report) -> tuple[Activity, bool]:
    session = _worker(book)
    activity.check_is_of_now(found, book.now)
    before = book.get(ACTIVITIES, str(session.session_id))
    book.saw(session.session_id)
    if before is not None and not activity.counts(found, before):
        return before, False
    after = Activity(
        session_id=session.session_id,
        number=before.number if before else book.next_number(ACTIVITIES),
        report=found,
        reported_at=book.now,
    )
    book.put(ACTIVITIES, after)
    book.tell_receipts(session.session_id, is_blocked=found.status == BLOCKED)
    return after, True
