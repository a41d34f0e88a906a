"""`letagents lock` and `letagents unlock`: a person stops the work on a task or a board."""

import argparse

import anyio

from letagents.application.orders import Orders
from letagents.domain.locks import Lock, LockReason
from letagents.entrypoints.cli import printing
from letagents.entrypoints.cli.given import name_given, reason_given, task_given
from letagents.entrypoints.cli.told import told
from letagents.entrypoints.cli.visiting import visiting

_REMEDIES = {"unknown_lock": "Run `letagents board ROOM` to see what is locked."}


def run(arguments: argparse.Namespace) -> int:
    """Place a lock, or lift those that are there; return the exit code."""
    printing.output()
    task_id = None if arguments.board else task_given(arguments.task)
    is_locking = arguments.command == "lock"
    if is_locking:
        arguments.reason = reason_given(arguments.reason)
    does, verb = (_locked, "stops") if is_locking else (_unlocked, "does not stop")
    locks = anyio.run(does, arguments, task_id, name_given(arguments.name))
    for lock in locks:
        more = "" if lock.is_active else " any more"
        printing.say(f"{lock.lock_id} {verb} {lock.task_id or 'the whole board'}{more}.")
    return 0


async def _locked(
    arguments: argparse.Namespace, task_id: str | None, name: str | None
) -> list[Lock]:
    async with visiting(arguments.room) as visit, visit.acting(name) as by:
        kind = LockReason(arguments.kind)
        return [await visit.client.board.lock(by, task_id, kind, arguments.reason)]


async def _unlocked(
    arguments: argparse.Namespace, task_id: str | None, name: str | None
) -> list[Lock]:
    async with visiting(arguments.room) as visit, visit.acting(name) as by:
        with told(_REMEDIES):
            return await Orders(visit.client.board, visit.client.governing).lift(by, task_id)
