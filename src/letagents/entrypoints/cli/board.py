"""`letagents board ROOM`: its tasks; `letagents why ROOM TASK`: why one stands as it does."""

import argparse
from collections.abc import Iterator
from datetime import datetime, timedelta

import anyio
import attrs

from letagents.domain import moves, orders
from letagents.domain.board import LARGEST_PAGE, History, LeaseView, Query, TaskView
from letagents.domain.events import Event
from letagents.domain.leases import LeaseKind
from letagents.domain.locks import Lock
from letagents.domain.names import primary_label
from letagents.domain.tasks import MOVES, REVIEWABLE, WORKING, Patch, Status
from letagents.entrypoints.cli import printing
from letagents.entrypoints.cli.given import task_given
from letagents.entrypoints.cli.printing import DIM, GREEN, YELLOW, Surface, one_line
from letagents.entrypoints.cli.visiting import a_person_and_client, room_called
from letagents.wire import board as plain
from letagents.wire import moments

REASON_SHOWN = 200
"""So many characters of a reason are shown; --json has all."""

NOTHING = "There is no open task here. `letagents task add` puts one there."
NOTHING_AT_ALL = "There is no task here. `letagents task add` puts one there."


def run(arguments: argparse.Namespace) -> int:
    """Show the board, or why a task stands as it does; return the exit code."""
    if arguments.command == "why":
        return _run_why(arguments)
    room_id, views, stops = anyio.run(_views, arguments.room, not arguments.all)
    if arguments.json:
        for view in views:
            printing.say_json(plain.task(view, room_id))
        return 0
    surface = printing.output()
    for lock in stops:
        printing.say(_stopped(lock, surface))
    nothing = NOTHING_AT_ALL if arguments.all else NOTHING
    printing.say("\n".join(listed(views, surface)) if views else nothing)
    return 0


async def _views(room: str, open_only: bool) -> tuple[object, list[TaskView], tuple[Lock, ...]]:
    async with a_person_and_client() as (person, client):
        room_id = (await room_called(person, room)).room_id
        query = Query(open_only=open_only, limit=LARGEST_PAGE)
        found: list[TaskView] = []
        while True:
            page = await client.board.tasks(room_id, query)
            found += page.tasks
            if not page.more:
                return room_id, found, page.locks
            query = attrs.evolve(query, after=found[-1].task.number)


def listed(views: list[TaskView], surface: Surface) -> list[str]:
    """Return the lines of the board."""
    rows = [("TASK", "STATUS", "WHO", "TITLE"), *map(_row, views)]
    head, *rest = printing.columns(rows)
    return [surface.painted(head, DIM), *rest]


def _row(view: TaskView) -> tuple[str, str, str, str]:
    task = view.task
    locked = " (locked)" if view.locks else ""
    return task.task_id, f"{task.status.value}{locked}", _on_it(view), one_line(task.title)


def _on_it(view: TaskView) -> str:
    assignee = view.task.assignee
    if assignee is None:
        return "-"
    work = next((one for one in view.leases if one.lease.kind is LeaseKind.WORK), None)
    gone = " (gone)" if work is not None and not work.is_held else ""
    return one_line(primary_label(assignee.label) or assignee.label) + gone


# --- why ------------------------------------------------------------------------------------------


def _run_why(arguments: argparse.Namespace) -> int:
    task_id = task_given(arguments.task)
    room_id, history = anyio.run(_history, arguments.room, task_id)
    if arguments.json:
        for event in history.events:
            printing.say_json(plain.event(event))
        standing = plain.task(history.view, room_id)
        printing.say_json({"standing": standing, "allowed": plain.moves(history.view.task)})
        return 0
    for line in explained(history, printing.output()):
        printing.say(line)
    return 0


async def _history(room: str, task_id: str) -> tuple[object, History]:
    async with a_person_and_client() as (person, client):
        room_id = (await room_called(person, room)).room_id
        events: list[Event] = []
        while True:
            after = events[-1].number if events else 0
            history = await client.board.history(room_id, task_id, after=after)
            events += history.events
            if not history.more:
                return room_id, attrs.evolve(history, events=tuple(events))


def explained(history: History, surface: Surface) -> Iterator[str]:
    """Yield the lines that say how a task came to stand where it does, and what can follow."""
    task = history.view.task
    yield f"{task.task_id} is {surface.painted(task.status.value, GREEN)}: {one_line(task.title)}"
    yield ""
    for event in history.events:
        yield _told(event, surface)
    yield ""
    for view in history.view.leases:
        yield _held(view)
    for lock in history.view.locks:
        yield _stopped(lock, surface)
    yield from _possible(history.view)
    yield f"You can say, as VERB of `letagents task`: {', '.join(orders.open_words(task.status))}."


def _stopped(lock: Lock, surface: Surface) -> str:
    what = "this task" if lock.task_id else "the whole board"
    why = f": {one_line(lock.message)}" if lock.message else ""
    by = one_line(primary_label(lock.created_by) or lock.created_by)
    said = f"{lock.lock_id} stops {what} ({lock.reason.value}, by {by}){why}"
    return surface.painted(said, YELLOW)


def _told(event: Event, surface: Surface) -> str:
    when = surface.painted(_moment(event.at, surface), DIM)
    moved = f"{event.before} -> {event.after}" if event.after else ""
    lease = f"[{event.lease_id}, epoch {event.epoch}]" if event.lease_id else ""
    said = [event.type.value, moved, event.detail or "", lease]
    who = "" if event.decision.value == "record" else f"by {primary_label(event.actor)}"
    why = f"({_in_short(event.reason)})" if event.reason else ""
    return " ".join([when, *(one_line(one) for one in (*said, who, why) if one)])


def _in_short(reason: str) -> str:
    text = " ".join(reason.split())
    return text if len(text) <= REASON_SHOWN else f"{text[:REASON_SHOWN].rstrip()}..."


def _moment(when: datetime, surface: Surface) -> str:
    if surface.is_terminal:
        return f"{when.astimezone():%Y-%m-%d %H:%M:%S}"
    return moments.to_text(when)


def _held(view: LeaseView) -> str:
    lease = view.lease
    does = "Works on it" if lease.kind is LeaseKind.WORK else "Reviews it"
    process = {True: "its process is there", False: "its process is gone", None: "nobody can tell "
               "whether its process is there"}[view.alive]  # fmt: skip
    if view.has_left:
        process = "its session has ended"
    until = "" if view.is_held else ": whoever claims it has it"
    return (
        f"{does}: {one_line(lease.actor_label)} ({lease.lease_id}, epoch {lease.epoch}), last sign "
        f"{_span(view.silent_for)} ago, {process}{until}."
    )


def _span(span: timedelta) -> str:
    seconds = int(span.total_seconds())
    for name, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length} {name}"
    return f"{seconds} s"


def _possible(view: TaskView) -> Iterator[str]:
    """Yield what can follow, and who can do it."""
    task, held = view.task, {one.lease.kind for one in view.leases if one.is_held}
    is_free = task.status in WORKING and LeaseKind.WORK not in held
    if (task.status is Status.ACCEPTED or is_free) and not view.locks:
        yield "Any agent can claim it: claim_task."
    for who, statuses in _movers(view):
        if statuses:
            yield f"{who} can set it to {_or(statuses)}."
    if task.status in REVIEWABLE and LeaseKind.REVIEW not in held:
        yield "Another agent can review it: claim_task_review."


def _movers(view: TaskView) -> Iterator[tuple[str, list[Status]]]:
    task = view.task
    patches: dict[Status, Patch] = {
        one: Patch(status=one) for one in MOVES[task.status] if one is not Status.ASSIGNED
    }
    decided = [one for one, patch in patches.items() if moves.is_review_decision(task, patch)]
    worked = [one for one, patch in patches.items() if moves.moves_on(task, patch)]
    worker = one_line(primary_label(task.assignee.label)) if task.assignee else "Who is on it"
    yield worker, [one for one in worked if one not in decided]
    yield "Who reviews it", decided
    others = [one for one in patches if one not in worked]
    if Status.MERGED in others:  # its worker never merges it alone
        yield "Who reviews it without working on it", [Status.MERGED]
        others.remove(Status.MERGED)
    yield _closers(view, worker), others


def _closers(view: TaskView, worker: str) -> str:
    """Return who ends what nobody may end for those who are at it (L15)."""
    held = {one.lease.kind for one in view.leases if one.is_held}
    if view.task.status not in WORKING or not held:
        return "Anybody here"
    reviews = view.task.status is Status.IN_REVIEW
    if reviews and LeaseKind.REVIEW not in held:
        return "Anybody here"
    return f"{worker}, who reviews it, or a person" if reviews else f"{worker}, or a person"


def _or(statuses: list[Status]) -> str:
    return " or ".join(status.value for status in statuses)
