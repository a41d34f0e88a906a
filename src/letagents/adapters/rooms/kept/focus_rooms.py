"""The focus rooms beside rooms that are kept in books: all in the book of the parent."""

from collections.abc import Callable
from datetime import timedelta

import attrs

from letagents.adapters.rooms.book import Book, Keeping, Where
from letagents.adapters.rooms.kept import origins
from letagents.adapters.rooms.kept import tasks as kept_tasks
from letagents.adapters.rooms.kept.board import TERM
from letagents.adapters.rooms.kept.board_records import TASKS
from letagents.adapters.rooms.kept.board_sheet import Sheet
from letagents.adapters.rooms.kept.focus_records import FOCUS_ROOMS
from letagents.domain import focus_rooms, governance, rooms
from letagents.domain.fencing import Fence
from letagents.domain.focus_rooms import LISTED, Changes, Focus, Outcome
from letagents.domain.ids import RoomId
from letagents.domain.messages import Message
from letagents.domain.rooms import Room
from letagents.domain.tasks import Task
from letagents.ports.focus_rooms import Concluded, Opened


@attrs.frozen
class KeptFocusRooms:
    """The focus rooms beside rooms that are kept in books."""

    _rooms: Keeping
    _term: timedelta = TERM

    async def beside(self, room_id: RoomId, viewer: Fence | None = None) -> tuple[Room, ...]:
        """Return the focus rooms beside the room, the newest first."""
        return await self._rooms.look(room_id, lambda book: tuple(book.beside()[:LISTED]), viewer)

    async def of_key(self, room_id: RoomId, key: str, viewer: Fence | None = None) -> Room:
        """Return the focus room of that key."""
        return await self._rooms.look(room_id, lambda book: _known(book, key)[0], viewer)

    async def open_for_task(
        self,
        room_id: RoomId,
        task_id: str,
        fence: Fence | None = None,
        *,
        display_name: str | None = None,
    ) -> Opened:
        """Return the open focus room of a task, made if there is none."""

        def open_(book: Book) -> Opened:
            origins.check(book)
            sheet = Sheet(book, self._term)
            task = sheet.task(task_id)
            focus_rooms.check_may_be_about(task_id, is_open=task.is_open)
            kept_tasks.check_works_on(sheet, task)
            there = book.find(FOCUS_ROOMS, Where(is_open=True, about=task_id, limit=1))
            title = focus_rooms.cut_title(task.title)
            return _opened(book, there, title, display_name, task)

        return await self._rooms.change(room_id, open_, fence)

    async def open(
        self,
        room_id: RoomId,
        title: str,
        fence: Fence | None = None,
        *,
        display_name: str | None = None,
    ) -> Opened:
        """Return the open focus room of that title, made if there is none."""
        called = focus_rooms.checked_title(title)

        def open_(book: Book) -> Opened:
            Sheet(book, self._term).worker()
            there = [one for one in book.find(FOCUS_ROOMS, Where(is_open=True)) if _is(one, called)]
            return _opened(book, there, called, display_name)

        return await self._rooms.change(room_id, open_, fence)

    async def set(
        self, room_id: RoomId, key: str, changes: Changes, fence: Fence | None = None
    ) -> Room:
        """Set how it belongs to the room."""

        def change(book: Book) -> Room:
            room, before = _known(book, key)
            governance.check_admin(is_admin=book.is_admin, what="set how its focus rooms are")
            return _put(book, room, attrs.evolve(before, settings=changes.of(before.settings)))

        return await self._rooms.change(room_id, change, fence)

    async def conclude(
        self, room_id: RoomId, key: str, outcome: Outcome, fence: Fence | None = None
    ) -> Concluded:
        """Conclude it."""

        def conclude(book: Book) -> Concluded:
            sheet, (room, before) = Sheet(book, self._term), _known(book, key)
            sheet.worker()
            after = focus_rooms.concluded(before, outcome, by=sheet.actor, now=book.now)
            task = book.get(TASKS, after.task_id) if after.task_id else None
            if after is not before and task is not None:
                kept_tasks.check_works_on(sheet, task)
            return Concluded(_put(book, room, after), _told(book, after, task))

        return await self._rooms.change(room_id, conclude, fence)


def _is(focus: Focus, title: str) -> bool:
    return focus.task_id is None and focus.title == title


def _opened(
    book: Book, there: list[Focus], title: str, display_name: str | None, task: Task | None = None
) -> Opened:
    if there:
        return Opened(_known(book, there[0].key)[0], is_new=False)
    focus_rooms.check_may_have_some(book.parent)
    task_id = task.task_id if task else None
    shown = (
        title if display_name is None else focus_rooms.checked_title(display_name, "display_name")
    )
    keys = focus_rooms.keys_for(task_id, title)
    key = next(one for one in keys if book.get(FOCUS_ROOMS, one) is None)
    return Opened(book.put_beside(_making(book.room_id, key, title, task_id), shown), is_new=True)


def _making(parent: RoomId, key: str, title: str, task_id: str | None) -> Callable[[int], Focus]:
    return lambda number: Focus(number=number, parent=parent, key=key, title=title, task_id=task_id)


def _known(book: Book, key: str) -> tuple[Room, Focus]:
    found = book.beside(key)
    if not found or found[0].focus is None:
        raise rooms.missing_beside(book.room_id, key)
    return found[0], found[0].focus


def _put(book: Book, room: Room, focus: Focus) -> Room:
    if focus != room.focus:
        book.put(FOCUS_ROOMS, focus)
    return attrs.evolve(room, focus=focus)


def _told(book: Book, focus: Focus, task: Task | None) -> Message | None:
    """Say in the parent what came of it, once; who is on the task is called."""
    if not focus_rooms.is_shared(focus):
        return None
    caller = book.caller
    key = task.assignee_key if task is not None else None
    is_another = key is not None and (caller is None or caller.agent_key != key)
    said = book.say(
        focus_rooms.words_of(focus) + (f"\n@agent:{key}" if is_another else ""),
        key=f"focus:{focus.room_id}:concluded",
        session_id=caller.session_id if caller else None,
    )
    return book.message(said.number)
