"""The threads of rooms, and how far each reader has read them, as rooms keep it."""

from collections.abc import Mapping

import attrs

from letagents.adapters.rooms.book import Book, Keeping, Kind, Where
from letagents.domain import threads
from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.threads import MOST, PAGE, Summary, Tally, Threads, UnknownThread


@attrs.frozen(kw_only=True)
class ReadTo:
    """How far a reader has read a thread."""

    reader: str
    root: int
    number: int


READ_TO = Kind(
    name="thread_read",
    of=ReadTo,
    key=lambda one: f"{one.reader}/{one.root}",
    number=lambda one: one.number,
    by=lambda one: one.reader,
)


@attrs.frozen
class KeptThreads:
    """The threads of rooms that are kept in books."""

    _rooms: Keeping

    async def threads(
        self,
        room_id: RoomId,
        reader: str,
        *,
        unread_only: bool = False,
        before: MessageId | None = None,
        limit: int = PAGE,
        viewer: Fence | None = None,
    ) -> Threads:
        """Return threads of a room, the newest reply first."""

        def look(book: Book) -> Threads:
            tallies, read_to = book.threads(MOST), _read(book, reader)
            page, more = threads.chosen(
                tallies,
                read_to,
                unread_only=unread_only,
                before=before.number if before else None,
                limit=limit,
            )
            shown = [_summary(book, one, read_to.get(one.root, 0)) for one in page]
            unread = [one for one in tallies if threads.is_unread(one, read_to.get(one.root, 0))]
            return Threads(shown, more, len(unread))

        return await self._rooms.look(room_id, look, viewer)

    async def around(
        self, room_id: RoomId, first: MessageId, last: MessageId, reader: str
    ) -> Mapping[MessageId, Summary]:
        """Return the threads of the messages from `first` to `last`."""

        def look(book: Book) -> list[Summary]:
            return book.threads_around(first.number, last.number, (READ_TO, f"{reader}/"))

        return {one.root: one for one in await self._rooms.look(room_id, look)}

    async def read(
        self,
        room_id: RoomId,
        thread: MessageId,
        reader: str,
        up_to: MessageId | None = None,
        *,
        viewer: Fence | None = None,
    ) -> Summary:
        """Note how far `reader` has read a thread."""

        def note(book: Book) -> Summary:
            tally = _tally(book, _root(book, thread))
            named = book.message(up_to.number) if up_to else None
            if up_to is not None and named is None:
                raise _unknown(up_to)
            to = threads.read_up_to(named, MessageId(tally.root), tally.latest)
            before = book.get(READ_TO, f"{reader}/{tally.root}")
            furthest = max(to, before.number if before else 0)
            if before is None or furthest > before.number:
                book.put(READ_TO, ReadTo(reader=reader, root=tally.root, number=furthest))
            return _summary(book, tally, furthest)

        return await self._rooms.change(room_id, note, viewer)


def _read(book: Book, reader: str) -> dict[int, int]:
    """Return how far a reader has read the threads that they read last."""
    found = book.find(READ_TO, Where(by=reader, newest_first=True, limit=MOST))
    return {one.root: one.number for one in found}


def _root(book: Book, thread: MessageId) -> int:
    message = book.message(thread.number)
    if message is None:
        raise _unknown(thread)
    return message.thread_root.number


def _tally(book: Book, root: int) -> Tally:
    voices = book.voices(root, 0)
    replies = sum(one.messages for one in voices) - 1
    return Tally(root, replies, max(one.latest for one in voices))


def _summary(book: Book, tally: Tally, read_to: int) -> Summary:
    return Summary(
        root=MessageId(tally.root),
        replies=tally.replies,
        latest=book.message(tally.latest) if tally.replies else None,
        voices=book.voices(tally.root, read_to),
        read_to=read_to,
    )


def _unknown(message_id: MessageId) -> UnknownThread:
    return UnknownThread(
        f"The room has no message {message_id}.", remedy="Read the room for those it has."
    )
