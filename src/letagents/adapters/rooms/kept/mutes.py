"""The tasks of which nobody is to be told that they wait, within one transaction."""

from collections.abc import Sequence

import attrs

from letagents.adapters.rooms.book import Book, Kind, Where
from letagents.adapters.rooms.kept.board_sheet import Sheet
from letagents.domain import stale_tasks
from letagents.domain.board import TaskView
from letagents.domain.stale_tasks import Mute
from letagents.domain.tasks import Task

_MOST = 5_000

MUTES = Kind(
    name="stale_mute",
    of=Mute,
    key=lambda mute: mute.task_id,
    number=lambda mute: mute.number,
    is_open=lambda mute: not mute.is_over,
)


def on(book: Book, task: Task) -> Mute | None:
    """Return what mutes a task."""
    found = book.get(MUTES, task.task_id)
    return found if found is not None and found.holds(task) else None


def marked(book: Book, views: Sequence[TaskView]) -> list[TaskView]:
    """Return tasks that come in the order of their numbers with who muted them."""
    if not views:
        return []
    first, last = views[0].task.number, views[-1].task.number
    where = Where(is_open=True, after=first - 1, before=last + 1, limit=_MOST)
    muted = {one.task_id: one for one in book.find(MUTES, where)}
    return [_marked(view, muted.get(view.task.task_id)) for view in views] if muted else [*views]


def _marked(view: TaskView, mute: Mute | None) -> TaskView:
    if mute is None or view.stale is None or not mute.holds(view.task):
        return view
    return attrs.evolve(view, stale=stale_tasks.muted(view.stale, mute))


def view(sheet: Sheet, task: Task) -> TaskView:
    """Return a task with who holds it, what stops it, and who muted it."""
    return _marked(sheet.view(task), on(sheet.book, task))


def mute(sheet: Sheet, task_id: str, *, is_muted: bool) -> TaskView:
    """Let nobody be told that a task waits, or let them be told again."""
    task = sheet.task(task_id)
    sheet.worker()
    before = on(sheet.book, task)
    if is_muted and before is None:
        made = Mute(
            task_id=task_id,
            number=task.number,
            stood_since=task.updated_at,
            by=sheet.actor,
            at=sheet.book.now,
        )
        sheet.book.put(MUTES, made)
        return _marked(sheet.view(task), made)
    if not is_muted and before is not None:
        sheet.book.put(MUTES, attrs.evolve(before, is_over=True))
        return sheet.view(task)
    return _marked(sheet.view(task), before)
