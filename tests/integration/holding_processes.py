"""Processes that hold tasks, in the tests of who keeps them."""

import asyncio
import multiprocessing
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from multiprocessing.connection import Connection as Pipe
from multiprocessing.process import BaseProcess
from pathlib import Path

import attrs

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.processes.locks import ProcessLocks
from letagents.adapters.rooms import ledger
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.system import SystemClock, SystemIds
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Patch, Status
from letagents.ports.clock import Clock
from letagents.testing.contracts.room_callers import ADA, ROOM, arrival

LOADED = ledger
"""What processes that are forked from one which has loaded this need not load again."""
TERM = timedelta(minutes=15)
SOON = 30.0


@attrs.define
class Holder:
    """A process that is Ada in the room from when it was started until it is killed."""

    process: BaseProcess
    pipe: Pipe
    name: str = ""
    """Under which name it is known to be there."""

    def told(self, word: str) -> str:
        """Return its answer to `word`."""
        self.pipe.send(word)
        return self.answer()

    def answer(self) -> str:
        """Return what it says next."""
        assert self.pipe.poll(SOON)
        said: str = self.pipe.recv()
        return said

    def signal(self, number: int) -> None:
        """Send it a signal."""
        assert self.process.pid is not None
        os.kill(self.process.pid, number)

    def kill(self) -> None:
        """End it as the system does where memory is short: it does nothing more."""
        self.process.kill()
        self.process.join(SOON)


@contextmanager
def holder(home: Path) -> Iterator[Holder]:
    """Start a process that is Ada in the room of that home, whoever was before."""
    ours, theirs = multiprocessing.Pipe()
    process: BaseProcess = _process(target=run, args=(home, theirs), daemon=True)
    process.start()
    started = Holder(process, ours)
    try:
        started.name = started.answer()
        yield started
    finally:
        started.kill()


if sys.platform == "win32":
    _process = multiprocessing.get_context("spawn").Process
else:
    # Forked from a process that has loaded everything, and has no thread.
    _server = multiprocessing.get_context("forkserver")
    _server.set_forkserver_preload([__name__])
    _process = _server.Process


def run(home: Path, pipe: Pipe) -> None:
    """Be a holder, as the whole of a process."""
    asyncio.run(_hold(home, pipe))


async def _hold(home: Path, pipe: Pipe) -> None:
    processes = ProcessLocks(home / "run", SystemIds())
    rooms = rooms_of(home, processes, SystemClock())
    arriving = attrs.evolve(arrival(ADA, 1), token=SystemIds().token(), insists=True)
    ada = await rooms.connect(ROOM, arriving)
    pipe.send(processes.own)
    while (word := pipe.recv()) != "end":
        if word == "resumed":
            pipe.send(", ".join(map(str, ada.resumed)))
        else:
            await claim(rooms, word, ada)
            pipe.send(f"has {word}")


def rooms_of(home: Path, processes: ProcessLocks, clock: Clock) -> LocalRooms:
    """Return the rooms of a home as one process has them."""
    return LocalRooms(home / "rooms.db", SystemIds(), clock, NoNudges(), processes, term=TERM)


async def claim(rooms: LocalRooms, task_id: str, by: Connection) -> None:
    """Claim a task."""
    await KeptBoard(rooms, TERM).change(ROOM, task_id, Patch(status=Status.ASSIGNED), by.fence)
