"""What other processes do in a room, in the tests of what only processes can show.

Run as `python -m tests.integration.rooms_processes ROLE PLACE [ARGUMENT]`.
"""

import asyncio
import multiprocessing
import sys
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import attrs
from sqlalchemy import event

from letagents.adapters.nudges.datagram import DatagramNudges
from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms import ledger
from letagents.adapters.rooms.bells import Nudges
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.sql.database import Database
from letagents.adapters.sql.file_lock import FileLock
from letagents.domain.ids import ClientKey
from letagents.domain.messages import After, Draft, Message
from letagents.testing.contracts.room_callers import ROOM, arrival
from letagents.testing.determinism import CountingIds, ManualClock

LOADED = ledger
"""What processes that are forked from one which has loaded this need not load again."""


def rooms_of_process(place: Path, process: int) -> LocalRooms:
    """Return the rooms at `place` as the process of that number has them."""
    ids = CountingIds(first=process * 1_000_000)
    return LocalRooms(place, ids, ManualClock(), DatagramNudges(place.parent / "run", ids))


def rooms_at(
    place: Path | str | Database, *, process: int = 1, nudges: Nudges | None = None
) -> LocalRooms:
    """Return rooms whose waiters look by themselves, unless `nudges` are given."""
    ids = CountingIds(first=process * 1_000_000)
    return LocalRooms(place, ids, ManualClock(), nudges or NoNudges())


async def everything(rooms: LocalRooms) -> list[Message]:
    """Return all that was said, page by page."""
    found: list[Message] = []
    while True:
        page = await rooms.read(ROOM, After(found[-1].id if found else None, limit=500))
        found += page.messages
        if not page.more:
            return found


def run(database: Database, *statements: str) -> None:
    """Run `statements` in the database behind the back of whoever uses it."""
    with database.engine.connect() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
        connection.commit()


@attrs.define
class Boundaries:
    """Calls `at` just before each transaction of a database begins, in the thread of it."""

    at: Callable[[], object] | None = None

    @classmethod
    def of(cls, database: Database) -> "Boundaries":
        """Watch a database that nobody has used yet."""
        boundaries = cls()

        def watch(connection: Any, _record: object) -> None:
            connection.set_trace_callback(boundaries.see)

        event.listen(database.engine, "connect", watch)
        return boundaries

    def see(self, statement: str) -> None:
        if statement.startswith("BEGIN") and self.at is not None:
            self.at()


async def speak(place: Path, process: int, times: int, *, aloud: bool = False) -> None:
    """Register and say `times` messages, one after another; tell each number when it is known."""
    rooms = rooms_of_process(place, process)
    await rooms.join(ROOM)
    ours = await rooms.connect(ROOM, arrival(process, process))
    for at in range(1, times + 1):
        text = f"{at} from {process}"
        said = await rooms.post(ROOM, Draft(text, ClientKey(text)), ours.fence)
        if aloud:
            tell(f"{said.id.number} {text}")
    await rooms.aclose()


def run_speaker(place: Path, process: int, times: int) -> None:
    """Do as `speak`, as the whole of a process."""
    asyncio.run(speak(place, process, times))


def hold_a_turn(place: Path) -> None:
    """Hold the turn to write, and never write, until the process ends."""
    lock = FileLock(place.with_name(f"{place.name}-turn"))
    lock.take()
    tell("held")
    sys.stdin.read()


def speakers(place: Path, count: int, times: int) -> list[BaseProcess]:
    """Start `count` processes that speak."""
    made: list[BaseProcess] = [
        _process(target=run_speaker, args=(place, process, times))
        for process in range(1, count + 1)
    ]
    for one in made:
        one.start()
    return made


if sys.platform == "win32":
    _process = multiprocessing.get_context("spawn").Process
else:
    # Forked from a process that has loaded everything, and has no thread.
    _server = multiprocessing.get_context("forkserver")
    _server.set_forkserver_preload([__name__])
    _process = _server.Process


def tell(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def main() -> None:
    role, place, *rest = sys.argv[1:]
    if role == "speak":
        asyncio.run(speak(Path(place), 1, int(rest[0]), aloud=True))
    else:
        hold_a_turn(Path(place))


if __name__ == "__main__":
    main()
