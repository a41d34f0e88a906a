"""Processes on one board, in the tests of what only processes can show."""

import asyncio
import multiprocessing
import os
import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import BrokenBarrierError
from typing import Any, TypeVar

import attrs

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms import ledger
from letagents.adapters.rooms.evidence import UnknownProcesses
from letagents.adapters.rooms.kept import board as kept_board
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.system import SystemClock, SystemIds
from letagents.domain.errors import LetAgentsError, RoomsUnavailable
from letagents.domain.leases import LeaseHeld
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Patch, Proposal, Status
from letagents.ports.processes import Processes
from letagents.testing.contracts.room_callers import ROOM, arrival

T = TypeVar("T")

LOADED = (kept_board, ledger)
"""What processes that are forked from one which has loaded this need not load again."""

_FORKS = "forkserver" in multiprocessing.get_all_start_methods()
_CONTEXT = multiprocessing.get_context("forkserver" if _FORKS else "spawn")
if _FORKS:
    _CONTEXT.set_forkserver_preload([__name__, "tests.integration.board_histories"])

CLAIM = Patch(status=Status.ASSIGNED)
TERM = timedelta(milliseconds=400)
PATIENCE = 240
"""Seconds until a wait is given up; nothing here depends on how busy the machine is."""


def rooms_at(place: Path, processes: Processes | None = None) -> LocalRooms:
    """Return rooms as a process has them; without `processes` it can ask after no other."""
    known = processes or UnknownProcesses()
    return LocalRooms(place, SystemIds(), SystemClock(), NoNudges(), known, term=TERM)


async def with_tasks(place: Path, count: int) -> None:
    """Make the room, with so many tasks that can be claimed."""
    rooms = rooms_at(place)
    await rooms.join(ROOM)
    for number in range(1, count + 1):
        await KeptBoard(rooms, TERM).propose(ROOM, Proposal(title=f"task number {number}"))
    await rooms.aclose()


async def connected(rooms: LocalRooms, number: int) -> Connection:
    """Return the connection of a worker whose earlier processes are gone, if it had any."""
    ours = attrs.evolve(arrival(number, 1), token=SystemIds().token(), insists=True)
    return await persisting(lambda: rooms.connect(ROOM, ours))


async def persisting(call: Callable[[], Awaitable[T]]) -> T:
    """Return what `call` returns, calling again while it is told that nothing was changed.

    Where the machine is busy with other things, so many wait in vain for their turn to write.
    """
    until = now() + PATIENCE
    while True:
        try:
            return await call()
        except RoomsUnavailable:
            if now() > until:
                raise


def process(target: Callable[..., None], *arguments: object) -> BaseProcess:
    """Start a process that does `target`."""
    made: BaseProcess = _CONTEXT.Process(  # type: ignore[attr-defined]  # every context has it
        target=target, args=arguments, daemon=True
    )
    made.start()
    return made


def barrier_for(count: int) -> Any:
    """Return what lets so many processes go on once all are there."""
    return _CONTEXT.Barrier(count)


def queue() -> Any:
    """Return what takes what processes tell."""
    return _CONTEXT.Queue()


def now() -> float:
    """Return the seconds of the machine's steady clock, which all processes read alike."""
    return SystemClock().tick().seconds


@attrs.define
class Dice:
    """Dice of which each throw follows from the one before."""

    _last: int

    def below(self, count: int) -> int:
        """Return a number from 0 up to, but without, `count`."""
        self._last = (self._last * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % 2**64
        return (self._last >> 33) % count


# --- all at once ----------------------------------------------------------------------------------


def claim_when_told(place: Path, number: int, barrier: Any, told: Any) -> None:
    """Connect, wait for the others, claim the first task, and tell what came of it."""
    if sys.platform != "win32":
        os.nice(10)  # a hundred of these would starve whoever is tested beside

    async def claim() -> None:
        rooms = rooms_at(place)
        try:
            ours = await connected(rooms, number)
            barrier.wait(PATIENCE)
            board = KeptBoard(rooms, timedelta(minutes=15))
            await persisting(lambda: board.change(ROOM, "task_1", CLAIM, ours.fence))
            told.put((ours.session.actor_label, "has it"))
        except LeaseHeld as refused:
            told.put((ours.session.actor_label, refused.happened))
        except (LetAgentsError, BrokenBarrierError) as error:
            told.put((number, f"could not ask: {error!r}"))
        await rooms.aclose()

    asyncio.run(claim())
