"""What happens in rooms that are kept in books, read from what is kept of it."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import timedelta
from typing import Protocol, TypeVar

import attrs

from letagents.adapters.rooms.book import Book, Keeping, Kind, Where
from letagents.adapters.rooms.kept import board_records, mutes
from letagents.adapters.rooms.kept.artifacts import CHANGES, Change
from letagents.adapters.rooms.kept.board import TERM
from letagents.adapters.rooms.kept.board_records import BOARD, EVENTS, TASKS
from letagents.adapters.rooms.kept.reasoning import TRACES, UPDATES
from letagents.domain import feeds
from letagents.domain.board import TaskView
from letagents.domain.feeds import Begun, Cursor, Happened, Informed, Published
from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.messages import After, Latest, Message, Page, Window
from letagents.domain.reasoning import Reasoning, Update

T = TypeVar("T")

AT_ONCE = 50
"""So many things of each kind are told at once; the next look finds more."""


class Watched(Keeping, Protocol):
    """Rooms that can be looked at without that being a sign of anybody, whenever they change."""

    async def peek(self, room_id: RoomId, window: Window, viewer: Fence | None = None) -> Page:
        """Return as RoomTransport.read does."""
        ...

    async def watch(
        self,
        room_id: RoomId,
        look: Callable[[], Awaitable[T]],
        is_enough: Callable[[T], bool],
        *,
        timeout: timedelta,
        viewer: Fence | None = None,
        of_receipts: bool = False,
    ) -> T:
        """Return what `look` finds, as soon as that is enough, or at the end of `timeout`.

        It looks again when there is something new to be told in the room, when the session of
        `viewer` was taken over or ended and, `of_receipts`, when one has moved.
        """
        ...


@attrs.frozen
class _Changes:
    """What a book tells of the time after a cursor, each with its number."""

    tasks: tuple[tuple[int, TaskView], ...]
    updates: tuple[tuple[int, Reasoning, Update], ...]
    receipts: tuple[tuple[int, int], ...]
    """Messages, each with the change of one of its receipts."""
    artifacts: tuple[Change, ...]


@attrs.frozen
class KeptFeed:
    """What happens in rooms that are kept in books."""

    _rooms: Watched
    _term: timedelta = TERM

    async def begin(
        self, room_id: RoomId, asked: Cursor | MessageId | None, viewer: Fence | None = None
    ) -> Begun:
        """Return where the telling begins."""
        newest = await self._newest(room_id, viewer)
        if isinstance(asked, MessageId):
            asked = attrs.evolve(newest, message=asked.number)
        return feeds.begun(asked, newest)

    async def after(
        self, room_id: RoomId, cursor: Cursor, *, timeout: timedelta, viewer: Fence | None = None
    ) -> tuple[Happened, ...]:
        """Return what happened after `cursor`."""

        async def look() -> tuple[Happened, ...]:
            page = await self._rooms.peek(room_id, After(cursor.message_id, AT_ONCE), viewer)
            changes = await self._rooms.look(room_id, lambda book: self._since(book, cursor))
            return tuple(_in_order(cursor, page.messages, changes))

        return await self._rooms.watch(
            room_id, look, bool, timeout=timeout, viewer=viewer, of_receipts=True
        )

    async def _newest(self, room_id: RoomId, viewer: Fence | None) -> Cursor:
        # What is written between the two looks is told: of the board it is read first.
        change, update, receipt, artifact = await self._rooms.look(
            room_id,
            lambda book: (
                _newest(book, EVENTS),
                _newest(book, UPDATES),
                book.last_receipt_change(),
                _newest(book, CHANGES),
            ),
        )
        page = await self._rooms.peek(room_id, Latest(1), viewer)
        message = page.messages[-1].id.number if page.messages else 0
        return Cursor(message, change, update, receipt, artifact)

    def _since(self, book: Book, cursor: Cursor) -> _Changes:
        last = _changed(book, cursor.change)
        tasks = [task for task_id in last if (task := book.get(TASKS, task_id)) is not None]
        stops = board_records.locks(book) if tasks else []
        tasks.sort(key=lambda one: one.number)
        views = mutes.marked(book, board_records.views(book, tasks, self._term, stops))
        updates = book.find(UPDATES, Where(after=cursor.update, limit=AT_ONCE))
        traces = ((one, book.get(TRACES, one.reasoning_id)) for one in updates)
        return _Changes(
            tasks=tuple((last[view.task.task_id], view) for view in views),
            updates=tuple((one.number, trace, one) for one, trace in traces if trace is not None),
            receipts=tuple(book.receipts_changed(cursor.receipt, AT_ONCE)),
            artifacts=tuple(book.find(CHANGES, Where(after=cursor.artifact, limit=AT_ONCE))),
        )


def _changed(book: Book, after: int) -> dict[str, int]:
    """Return which tasks changed after that event, and the number of the last event of each."""
    while True:
        events = book.find(EVENTS, Where(after=after, limit=AT_ONCE))
        found = {one.task_id: one.number for one in events if one.task_id != BOARD}
        if found or len(events) < AT_ONCE:
            return found
        after = events[-1].number


def _newest(book: Book, kind: Kind[T]) -> int:
    return book.next_number(kind) - 1


def _in_order(cursor: Cursor, said: Sequence[Message], changes: _Changes) -> Iterator[Happened]:
    for message in said:
        cursor = attrs.evolve(cursor, message=message.id.number)
        yield Happened(message, cursor)
    for number, view in sorted(changes.tasks, key=lambda one: one[0]):
        cursor = attrs.evolve(cursor, change=number)
        yield Happened(view, cursor)
    for number, trace, update in changes.updates:
        cursor = attrs.evolve(cursor, update=number)
        yield Happened((trace, update), cursor)
    for one in changes.artifacts:
        cursor = attrs.evolve(cursor, artifact=one.number)
        yield Happened(Published(one.identity), cursor)
    if changes.receipts:
        yield _informed(cursor, changes.receipts)


def _informed(cursor: Cursor, changed: Sequence[tuple[int, int]]) -> Happened:
    numbers = sorted({number for number, _ in changed})
    cursor = attrs.evolve(cursor, receipt=max(change for _, change in changed))
    return Happened(Informed(tuple(map(MessageId, numbers))), cursor)
