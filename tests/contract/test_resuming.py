"""In every adapter of rooms, who arrives again is told of the tasks that it has."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import attrs
import pytest
from tests.contract.kept_rooms import KINDS, KeptRooms, opened

from letagents.adapters.rooms.evidence import ToldProcesses
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.domain.board import ReviewClaim
from letagents.domain.errors import LetAgentsError
from letagents.domain.moves import NotYours
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Assignee, Patch, Proposal, Status
from letagents.testing.contracts.room_callers import ADA, BOB, ROOM, arrival, passing_chat
from letagents.testing.determinism import ManualClock

pytestmark = pytest.mark.anyio

TERM = timedelta(minutes=15)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def processes() -> ToldProcesses:
    return ToldProcesses("one")


@pytest.fixture(params=KINDS)
async def rooms(
    request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock, processes: ToldProcesses
) -> AsyncIterator[KeptRooms]:
    async with opened(request.param, tmp_path, clock, processes, term=TERM) as rooms:
        yield rooms


@pytest.fixture
def board(rooms: KeptRooms) -> KeptBoard:
    return KeptBoard(rooms, TERM)


async def claimed(board: KeptBoard, by: Connection, title: str) -> str:
    """Put a task on the board, let `by` claim it, and return its name."""
    task_id = (await board.propose(ROOM, Proposal(title=title))).view.task.task_id
    await claim(board, by, task_id)
    return task_id


async def claim(board: KeptBoard, by: Connection, task_id: str) -> None:
    await board.change(ROOM, task_id, Patch(status=Status.ASSIGNED), by.fence)


def told(connection: Connection) -> list[str]:
    return list(map(str, connection.resumed))


@pytest.mark.rule("E8")
async def test_a_worker_that_comes_back_is_told_of_its_tasks(
    rooms: KeptRooms, board: KeptBoard, processes: ToldProcesses
) -> None:
    ada = await rooms.connect(ROOM, arrival(ADA, 1))
    bob = await rooms.connect(ROOM, arrival(BOB, 2))
    await claimed(board, ada, "Mend the roof")
    reviewed = await claimed(board, bob, "Paint the door")
    await board.change(ROOM, reviewed, Patch(status=Status.IN_REVIEW), bob.fence)
    await board.review_action(ROOM, reviewed, ReviewClaim(), ada.fence)
    processes.gone.add("one")
    processes.own = "two"
    back = await rooms.connect(ROOM, arrival(ADA, 3, after=ada))

    assert (told(ada), told(bob)) == ([], [])
    assert told(back) == ["task_1 (work)", "task_2 (review)"]
    assert told(await rooms.connect(ROOM, arrival(ADA, 3, after=ada))) == told(back)
    await board.change(ROOM, "task_1", Patch(status=Status.IN_PROGRESS), back.fence)


@pytest.mark.rule("E8")
async def test_who_was_away_too_long_is_told_of_its_task_unless_somebody_took_it(
    rooms: KeptRooms, board: KeptBoard, clock: ManualClock, processes: ToldProcesses
) -> None:
    ada = await rooms.connect(ROOM, arrival(ADA, 1))
    await claimed(board, ada, "Mend the roof")
    taken = await claimed(board, ada, "Paint the door")
    processes.gone.add("one")
    processes.own = "two"
    clock.pass_by(3 * TERM)
    bob = await rooms.connect(ROOM, arrival(BOB, 2))
    await claim(board, bob, taken)
    back = await rooms.connect(ROOM, arrival(ADA, 3, after=ada))

    assert told(back) == ["task_1 (work)"]
    with pytest.raises(LetAgentsError, match="Worker2"):
        await board.change(ROOM, taken, Patch(status=Status.IN_PROGRESS), back.fence)


@pytest.mark.rule("E8")
async def test_a_chat_without_a_handle_has_what_its_agent_left(
    rooms: KeptRooms, board: KeptBoard
) -> None:
    before = await rooms.connect(ROOM, passing_chat(1))
    await claimed(board, before, "Mend the roof")
    after = await rooms.connect(ROOM, passing_chat(2))
    other = await rooms.connect(
        ROOM, attrs.evolve(passing_chat(3), agent_key="guest/other", display_name="Other")
    )

    assert told(after) == ["task_1 (work)"]
    assert told(other) == []
    await board.change(ROOM, "task_1", Patch(status=Status.IN_PROGRESS), after.fence)


@pytest.mark.rule("T7", "L2")
async def test_whom_a_person_put_on_a_task_and_nobody_can_ask_after_has_it_for_a_term(
    rooms: KeptRooms, board: KeptBoard, clock: ManualClock, processes: ToldProcesses
) -> None:
    processes.own = None
    ada = await rooms.connect(ROOM, arrival(ADA, 1))
    bob = await rooms.connect(ROOM, arrival(BOB, 2))
    await board.propose(ROOM, Proposal(title="Mend the roof"))
    put_on = Patch(status=Status.ASSIGNED, assignee=Assignee.of(ada.session))
    await board.change(ROOM, "task_1", put_on, None)
    clock.pass_by(TERM - timedelta(minutes=1))
    with pytest.raises(NotYours):
        await claim(board, bob, "task_1")
    clock.pass_by(timedelta(minutes=1))
    await claim(board, bob, "task_1")

    view = await board.task(ROOM, "task_1")
    assert view.task.assignee_key == bob.session.agent_key


@pytest.mark.rule("E8")
async def test_who_arrives_in_vain_takes_over_nothing(rooms: KeptRooms, board: KeptBoard) -> None:
    ada = await rooms.connect(ROOM, arrival(ADA, 1))
    await claimed(board, ada, "Mend the roof")
    with pytest.raises(Exception, match="went first"):
        await rooms.connect(ROOM, arrival(ADA, 2))

    await board.change(ROOM, "task_1", Patch(status=Status.IN_PROGRESS), ada.fence)


@pytest.mark.rule("L2", "D25")
async def test_a_holder_that_was_busy_for_hours_and_dies_keeps_its_task_for_a_term(
    rooms: KeptRooms, board: KeptBoard, clock: ManualClock, processes: ToldProcesses
) -> None:
    ada = await rooms.connect(ROOM, arrival(ADA, 1))
    bob = await rooms.connect(ROOM, arrival(BOB, 2))
    await board.propose(ROOM, Proposal(title="Mend the roof"))
    mine = Patch(status=Status.ASSIGNED, assignee=Assignee.of(ada.session))
    await board.change(ROOM, "task_1", mine, ada.fence)
    clock.pass_by(timedelta(hours=3))
    processes.seen["one"] = clock.tick()
    processes.gone.add("one")
    his = Patch(status=Status.ASSIGNED, assignee=Assignee.of(bob.session))

    clock.pass_by(TERM - timedelta(seconds=1))
    with pytest.raises(LetAgentsError, match="Worker1"):
        await board.change(ROOM, "task_1", his, bob.fence)
    clock.pass_by(timedelta(seconds=1))
    taken = await board.change(ROOM, "task_1", his, bob.fence)
    assert taken.task.assignee_key == bob.session.agent_key
