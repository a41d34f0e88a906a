"""What agents let others see of their reasoning, as rooms keep it."""

from collections.abc import Callable

import attrs

from letagents.adapters.rooms.book import Book, Keeping, Kind, Where
from letagents.domain import reasoning
from letagents.domain.errors import UnknownMessage
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId, quoted
from letagents.domain.reasoning import (
    UNNAMED,
    Reasoning,
    Subject,
    Trace,
    UnknownReasoning,
    Update,
)

TRACES = Kind(
    name="reasoning",
    of=Reasoning,
    key=lambda one: one.reasoning_id,
    number=lambda one: one.number,
    is_open=lambda one: one.closed_at is None,
    by=lambda one: one.agent_key,
    about=lambda one: one.task_id,
)
UPDATES = Kind(
    name="reasoning_update",
    of=Update,
    key=lambda one: one.update_id,
    number=lambda one: one.number,
    about=lambda one: one.reasoning_id,
)

CheckTask = Callable[[Book, str], object]
"""Raises UnknownTask if the room has no task of that id."""


def _any_task(_book: Book, _task_id: str) -> None:
    """Let each room have each task."""


@attrs.frozen
class KeptReasonings:
    """The traces of rooms that are kept in books."""

    _rooms: Keeping
    _check_task: CheckTask = _any_task

    async def post(
        self,
        room_id: RoomId,
        said: Trace,
        fence: Fence,
        *,
        reasoning_id: str | None = None,
        about: Subject = UNNAMED,
    ) -> tuple[Reasoning, Update]:
        """Go on with that trace, or with the open one of who acts, or open one."""

        def post(book: Book) -> tuple[Reasoning, Update]:
            self._check(book, about)
            trace = _gone_on(book, said, reasoning_id).about(about)
            update = Update(
                update_id=f"ru_{_hex(book)}",
                number=book.next_number(UPDATES),
                reasoning_id=trace.reasoning_id,
                actor_label=trace.actor_label,
                trace=said,
                created_at=book.now,
            )
            book.put(TRACES, trace)
            book.put(UPDATES, update)
            return trace, update

        return await self._rooms.change(room_id, post, fence)

    async def traces(
        self,
        room_id: RoomId,
        *,
        is_open: bool | None = True,
        agent_key: str | None = None,
        task_id: str | None = None,
        limit: int = 50,
        viewer: Fence | None = None,
    ) -> tuple[Reasoning, ...]:
        """Return traces, the newest first."""
        where = Where(is_open=is_open, by=agent_key, about=task_id, newest_first=True, limit=limit)
        return await self._rooms.look(room_id, lambda book: tuple(book.find(TRACES, where)), viewer)

    async def trace(
        self, room_id: RoomId, reasoning_id: str, viewer: Fence | None = None
    ) -> Reasoning:
        """Return one trace."""
        return await self._rooms.look(room_id, lambda book: _known(book, reasoning_id), viewer)

    async def updates(
        self, room_id: RoomId, reasoning_id: str, *, limit: int = 100, viewer: Fence | None = None
    ) -> tuple[Update, ...]:
        """Return the states that a trace had, the newest first."""

        def updates(book: Book) -> tuple[Update, ...]:
            _known(book, reasoning_id)
            where = Where(about=reasoning_id, newest_first=True, limit=limit)
            return tuple(book.find(UPDATES, where))

        return await self._rooms.look(room_id, updates, viewer)

    async def relate(
        self, room_id: RoomId, reasoning_id: str, about: Subject, fence: Fence | None = None
    ) -> Reasoning:
        """Let a trace be about something else."""

        def relate(book: Book) -> Reasoning:
            before = _known(book, reasoning_id)
            self._check(book, about)
            after = reasoning.related(before, about, by=book.caller, now=book.now)
            if after != before:
                book.put(TRACES, after)
            return after

        return await self._rooms.change(room_id, relate, fence)

    def _check(self, book: Book, about: Subject) -> None:
        """See that the room has what a trace is to be about."""
        if about.task_id is not None:
            self._check_task(book, about.task_id)
        if about.anchor is not None and book.message(about.anchor.number) is None:
            raise UnknownMessage(
                f"anchor_message_id: {about.anchor} does not exist in this room.",
                remedy="Call read_messages to see the ids of the room's messages.",
            )

    async def close(
        self, room_id: RoomId, reasoning_id: str, fence: Fence | None = None
    ) -> Reasoning:
        """Close a trace."""

        def close(book: Book) -> Reasoning:
            before = _known(book, reasoning_id)
            after = reasoning.closed(before, by=book.caller, now=book.now)
            if after != before:
                book.put(TRACES, after)
            return after

        return await self._rooms.change(room_id, close, fence)


def _gone_on(book: Book, said: Trace, reasoning_id: str | None) -> Reasoning:
    caller = book.caller
    assert caller is not None  # noqa: S101  # a fence admits a session
    if reasoning_id is not None:
        return reasoning.gone_on(_known(book, reasoning_id), said, by=caller, now=book.now)
    mine = Where(is_open=True, by=caller.agent_key, newest_first=True, limit=1)
    for before in book.find(TRACES, mine):
        return reasoning.gone_on(before, said, by=caller, now=book.now)
    return reasoning.opened(
        said,
        reasoning_id=f"rs_{_hex(book)}",
        number=book.next_number(TRACES),
        by=caller,
        now=book.now,
    )


def _hex(book: Book) -> str:
    return book.ids.uuid().replace("-", "")


def _known(book: Book, reasoning_id: str) -> Reasoning:
    found = book.get(TRACES, reasoning_id)
    if found is None:
        raise UnknownReasoning(
            f"reasoning_id: this room has no trace {quoted(reasoning_id)}.",
            remedy="Call post_reasoning to open one.",
        )
    return found
