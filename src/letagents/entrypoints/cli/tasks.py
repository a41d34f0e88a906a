"""`letagents task VERB ROOM`: a person adds tasks, moves them, and says who is on them."""

import argparse

import anyio

from letagents.application.orders import Orders
from letagents.domain import orders
from letagents.domain.board import TaskView
from letagents.domain.leases import LeaseKind
from letagents.domain.moves import WorksOnIt, WrongStatus
from letagents.domain.names import primary_label
from letagents.domain.orders import Order
from letagents.domain.sessions import Connection
from letagents.domain.tasks import WORKING, InvalidTransition, Proposal
from letagents.entrypoints.cli import printing
from letagents.entrypoints.cli.given import (
    name_given,
    reason_given,
    task_given,
    text_given,
)
from letagents.entrypoints.cli.printing import one_line
from letagents.entrypoints.cli.told import Told, told
from letagents.entrypoints.cli.visiting import Visit, visiting

_MOVES = {one.value: one for one in Order}
_FIELDS = {
    "title": "TITLE",
    "description": "--description",
    "client_task_id": "--key",
    "source_message_id": "--source",
}


def run(arguments: argparse.Namespace) -> int:
    """Do what the verb says; return the exit code."""
    printing.output()
    if arguments.command == "add":
        view = anyio.run(_added, arguments, _proposal(arguments), name_given(arguments.name))
    else:
        arguments.task = task_given(arguments.task)
        arguments.reason = reason_given(getattr(arguments, "reason", None))
        view = anyio.run(_changed, arguments, name_given(arguments.name))
    printing.say(said(view, about_review=getattr(arguments, "review", False)))
    return 0


def said(view: TaskView, *, about_review: bool = False) -> str:
    """Return in words how a task stands."""
    task, title = view.task, one_line(view.task.title)
    if about_review:
        held = (one.lease for one in view.leases if one.lease.kind is LeaseKind.REVIEW)
        who = next((f"{_name(lease.actor_label)} reviews" for lease in held), "nobody reviews")
        return f"{task.task_id} is {task.status.value}, and {who} it: {title}"
    assignee = task.assignee if task.status in WORKING else None
    on_it = f", and {_name(assignee.label)} is on it" if assignee else ""
    return f"{task.task_id} is {task.status.value}{on_it}: {title}"


def _name(label: str) -> str:
    return one_line(primary_label(label) or label)


# --- a new one ----------------------------------------------------------------------------------


def _proposal(arguments: argparse.Namespace) -> Proposal:
    with told({}, _FIELDS):
        description = arguments.description
        return Proposal(
            title=" ".join(arguments.title),
            description=None if description is None else text_given(description),
            source_message=arguments.source,
            client_task_id=arguments.key,
        )


_NOT_ADDED = {
    "coordination_active_lock": "Run `letagents unlock ROOM --board` to lift it.",
    "coordination_duplicate_work": "Run `letagents board ROOM` to see that one, or give yours a "
    "title that says what is different.",
    "key_reused": "Pass another --key for another task, or none.",
    "unknown_message": "Run `letagents tail ROOM` to see the ids of its messages.",
}


async def _added(arguments: argparse.Namespace, proposal: Proposal, name: str | None) -> TaskView:
    async with visiting(arguments.room) as visit, visit.acting(name) as by:
        with told(_NOT_ADDED, _FIELDS):
            return (await visit.client.board.propose(by, proposal)).view


# --- one that is there --------------------------------------------------------------------------


async def _changed(arguments: argparse.Namespace, name: str | None) -> TaskView:
    async with visiting(arguments.room) as visit, visit.acting(name) as by:
        try:
            with told(_not_changed(arguments.task)):
                return await _ordered(visit, by, arguments)
        except (InvalidTransition, WrongStatus) as refused:
            task = (await visit.client.board.task(visit.room_id, arguments.task)).task
            remedy = _what_can_follow(task.task_id, orders.open_words(task.status))
            raise Told(refused.happened, remedy=remedy) from None
        except WorksOnIt:
            raise Told(
                f"{one_line(arguments.who)} is on {arguments.task}, and nobody reviews that.",
                remedy="Name another: `letagents manager ROOM` lists who is there.",
            ) from None


async def _ordered(visit: Visit, by: Connection, arguments: argparse.Namespace) -> TaskView:
    board = Orders(visit.client.board, visit.client.governing)
    task_id = arguments.task
    if (order := _MOVES.get(arguments.command)) is not None:
        return await board.move(by, task_id, order)
    if arguments.command == "assign":
        give = board.give_review if arguments.review else board.give
        return await give(by, task_id, arguments.who, arguments.reason)
    let_go = board.let_review_go if arguments.review else board.let_go
    return await let_go(by, task_id, arguments.reason)


def _what_can_follow(task_id: str, words: tuple[str, ...]) -> str:
    if len(words) == 1:
        return f"What can follow: `letagents task {words[0]} ROOM {task_id}`."
    return f"What can follow: `letagents task VERB ROOM {task_id}` with {_or(words)} as its VERB."


def _or(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _not_changed(task_id: str) -> dict[str, str]:
    why = f"Run `letagents why ROOM {task_id}` to see who is on it now."
    return {
        "coordination_active_lock": f"Run `letagents unlock ROOM {task_id}` to lift its lock, or "
        "with --board that of the board.",
        "coordination_board_review_required": "Run `letagents task assign --review ROOM "
        f"{task_id} AGENT` to let one review it, or `letagents task done ROOM {task_id}` to close "
        "it as it is.",
        "coordination_lease_fence_stale": why,
        "coordination_missing_lease": why,
        "coordination_stale_lease_reference": why,
        "coordination_target_session_unreachable": "Name another: `letagents manager ROOM` lists "
        "who is there.",
        "coordination_wrong_actor": f"Run `letagents task release --review ROOM {task_id}` first "
        "to take it from who has it.",
    }
