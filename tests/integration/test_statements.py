"""How often the board asks the database: each question is a round trip where that is a server."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import event
from tests.integration.rooms_processes import rooms_at

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.evidence import ToldProcesses
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.sql.database import Database
from letagents.domain.messages import Latest
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Patch, Proposal, Status
from letagents.testing.contracts.room_callers import ADA, BOB, ROOM, arrival, draft
from letagents.testing.determinism import CountingIds, ManualClock

pytestmark = pytest.mark.anyio

_FRAME = ("BEGIN", "COMMIT", "ROLLBACK", "PRAGMA")


def listen(database: Database) -> Callable[[], list[str]]:
    """Return what returns the statements that were run since it was asked last."""
    heard: list[str] = []

    @event.listens_for(database.engine, "connect")
    def trace(connection: object, _record: object) -> None:
        connection.set_trace_callback(heard.append)  # type: ignore[attr-defined]  # the driver's

    def taken() -> list[str]:
        said = [one for one in heard if not one.startswith(_FRAME)]
        heard.clear()
        return said

    return taken


async def test_a_claim_asks_for_all_that_it_needs_at_once_and_writes_each_thing_once(
    tmp_path: Path,
) -> None:
    database = Database.at(tmp_path / "rooms.db")
    statements = listen(database)
    rooms = LocalRooms(database, CountingIds(), ManualClock(), NoNudges(), ToldProcesses())
    await rooms.join(ROOM)
    ada = await rooms.connect(ROOM, arrival(ADA, 1))
    board = KeptBoard(rooms, timedelta(minutes=15))
    for title in ("the first", "the second"):
        task = (await board.propose(ROOM, Proposal(title=title))).view.task
        statements()
        await board.change(ROOM, task.task_id, Patch(status=Status.ASSIGNED), ada.fence)

    run = statements()
    assert len(run) <= 7, "who claims, what a claim rests on, and what it writes"
    writes = [one for one in run if not one.startswith("SELECT")]
    assert len(writes) == 5, "a lease, an event, a task, a message, and the room's last number"
    await rooms.aclose()
    database.close()


async def test_whom_a_message_is_for_asks_for_the_roster_once(tmp_path: Path) -> None:
    database = Database.at(tmp_path / "rooms.db")
    statements = listen(database)
    rooms = rooms_at(database)
    await rooms.join(ROOM)
    several: list[Connection] = [
        await rooms.connect(ROOM, arrival(one, one)) for one in (ADA, BOB, 3)
    ]
    await rooms.post(ROOM, draft("hello"), several[0].fence)
    await rooms.read(ROOM, Latest(1), several[1].fence)
    statements()

    page = await rooms.read(ROOM, Latest(1), several[2].fence)

    assert page.messages[0].activation is not None
    assert len(statements()) == 3, "who reads, what is read, and whom that woke"
    await rooms.aclose()
    database.close()
