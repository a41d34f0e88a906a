"""What becomes of the tasks of those who come into rooms through a server, and leave.

(Source of the cases: hosted-api section 8, 48 to 55.)
"""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import attrs
import pytest
from tests.contract.kept_rooms import place_for

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.kept.attendance import KeptAttendance
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain.board import ReviewClaim
from letagents.domain.errors import ConnectionLost
from letagents.domain.leases import Lease, LeaseHeld, LeaseKind
from letagents.domain.moves import NotYours
from letagents.domain.sessions import Arrival, Connection
from letagents.domain.tasks import Patch, Proposal, Status
from letagents.testing.contracts.attendance import HERE, THERE, coming
from letagents.testing.contracts.room_callers import ROOM, passing_chat
from letagents.testing.contracts.task_holders import CLAIM, TERM, lease_of
from letagents.testing.determinism import CountingIds, ManualClock

pytestmark = pytest.mark.anyio

Rooms = MemoryRooms | LocalRooms

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=["memory", "local", "postgres"])
async def rooms(
    request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock
) -> AsyncIterator[Rooms]:
    if request.param == "memory":
        memory = MemoryRooms(CountingIds(), clock)
        await memory.join(ROOM)
        yield memory
        return
    place = place_for(request.param, tmp_path)
    local = LocalRooms(place, CountingIds(), clock, NoNudges(), term=TERM)
    await local.join(ROOM)
    yield local
    await local.aclose()


@pytest.fixture
def board(rooms: Rooms) -> KeptBoard:
    return KeptBoard(rooms, TERM)


@pytest.fixture
def attendance(rooms: Rooms) -> KeptAttendance:
    return KeptAttendance(rooms, CountingIds(first=9000))


def chat(token: int, instance: str, *, key: str = "guest/chat", account: str = "a") -> Arrival:
    """Return how a process without a lasting handle comes, called Guest."""
    return attrs.evolve(
        passing_chat(token),
        agent_key=key,
        instance_id=instance,
        account=account,
        process_host=HERE,
    )


async def claimed(board: KeptBoard, by: Connection, title: str = "mend the roof") -> str:
    """Return the id of a new task that `by` has claimed."""
    made = await board.propose(ROOM, Proposal(title=title))
    await board.change(ROOM, made.view.task.task_id, CLAIM, by.fence)
    return made.view.task.task_id


async def lease(board: KeptBoard, task_id: str, kind: LeaseKind = LeaseKind.WORK) -> Lease:
    """Return the active lease of a task."""
    found = lease_of(await board.task(ROOM, task_id), kind)
    assert found is not None
    return found


async def exited(attendance: KeptAttendance, connection: Connection) -> None:
    """Let the process of a session say that it exits."""
    async with attendance.attend(ROOM, connection.fence) as attended:
        assert await attendance.exited(ROOM, connection.fence, attended.connection_id)


@pytest.mark.rule("L11")
async def test_the_next_process_of_an_agent_takes_on_what_one_left_that_exited(
    rooms: Rooms, board: KeptBoard, attendance: KeptAttendance
) -> None:
    first = await rooms.connect(ROOM, chat(1, "one"))
    task_id = await claimed(board, first)
    await exited(attendance, first)
    second = await rooms.connect(ROOM, chat(2, "two"))

    work = await lease(board, task_id)
    assert (work.session_id, work.epoch) == (second.session.session_id, 2)
    assert [(one.lease_id, one.about, one.kind) for one in second.resumed] == [
        (work.lease_id, task_id, "work")
    ]
    with pytest.raises(ConnectionLost):
        await board.change(ROOM, task_id, Patch(status=Status.IN_PROGRESS), first.fence)
    await board.change(ROOM, task_id, Patch(status=Status.IN_PROGRESS), second.fence)


@pytest.mark.rule("L10")
async def test_what_a_process_left_that_only_disconnected_waits_for_itself(
    rooms: Rooms, board: KeptBoard, attendance: KeptAttendance
) -> None:
    first = await rooms.connect(ROOM, chat(1, "one"))
    task_id = await claimed(board, first)
    async with attendance.attend(ROOM, first.fence):
        await rooms.disconnect(ROOM, first.fence)
        attendance.ended(ROOM, [first.session.session_id])
    sibling = await rooms.connect(ROOM, chat(2, "two"))
    assert (await lease(board, task_id)).session_id == first.session.session_id
    back = await rooms.connect(ROOM, chat(3, "one"))

    assert sibling.resumed == ()
    work = await lease(board, task_id)
    assert (work.session_id, work.epoch) == (back.session.session_id, 2)


@pytest.mark.rule("L11", "L12")
async def test_work_follows_a_name_only_from_one_that_exited_and_is_nowhere_else(
    rooms: Rooms, board: KeptBoard, attendance: KeptAttendance
) -> None:
    first = await rooms.connect(ROOM, chat(1, "one"))
    second = await rooms.connect(ROOM, coming(2, 2))
    task_id, reviewed = await claimed(board, first), await claimed(board, second, "paint it")
    await board.change(ROOM, reviewed, Patch(status=Status.IN_REVIEW), second.fence)
    await board.review_action(ROOM, reviewed, ReviewClaim(), first.fence)
    await exited(attendance, first)
    taker = await rooms.connect(ROOM, attrs.evolve(chat(5, "five", key="other/key"), account="a"))

    assert taker.session.display_name == "Guest"
    assert (await lease(board, task_id)).session_id == taker.session.session_id
    review = await lease(board, reviewed, LeaseKind.REVIEW)
    assert review.session_id == first.session.session_id


@pytest.mark.rule("L12")
async def test_work_stays_with_an_agent_that_lost_its_name_by_silence(
    rooms: Rooms, board: KeptBoard, clock: ManualClock
) -> None:
    first = await rooms.connect(ROOM, chat(1, "one"))
    task_id = await claimed(board, first)
    clock.pass_by(61 * MINUTE)
    taker = await rooms.connect(ROOM, chat(2, "two", key="other/key"))
    back = await rooms.connect(ROOM, chat(3, "one"))

    assert taker.session.display_name == "Guest"
    assert back.session.display_name != "Guest"
    assert taker.resumed == ()
    assert (await lease(board, task_id)).session_id == back.session.session_id


@pytest.mark.rule("L12")
async def test_nothing_passes_to_another_account_or_from_a_worker_that_lasts(
    rooms: Rooms, board: KeptBoard, attendance: KeptAttendance
) -> None:
    lasting = await rooms.connect(ROOM, coming(1, 1, name="Moss"))
    passing = await rooms.connect(ROOM, chat(2, "two"))
    tasks = [await claimed(board, lasting), await claimed(board, passing, "paint it")]
    for one in (lasting, passing):
        await exited(attendance, one)
        await rooms.disconnect(ROOM, one.fence)
    named = attrs.evolve(
        chat(3, "three", key="other/key"), display_name="Moss", account="account_1"
    )
    stranger = chat(4, "four", account="another's")

    for comer in (named, stranger):
        assert (await rooms.connect(ROOM, comer)).resumed == ()
    held = [(await lease(board, one)).session_id for one in tasks]
    assert held == [lasting.session.session_id, passing.session.session_id]


@pytest.mark.rule("L14")
async def test_who_comes_back_under_another_name_holds_its_work_under_that(
    rooms: Rooms, board: KeptBoard, attendance: KeptAttendance
) -> None:
    first = await rooms.connect(ROOM, coming(1, 1, name="Moss"))
    task_id = await claimed(board, first)
    await exited(attendance, first)
    taker = await rooms.connect(ROOM, coming(2, 2, name="Moss", host=THERE))
    back = await rooms.connect(ROOM, coming(1, 3, after=first, name="Moss"))
    view = await board.task(ROOM, task_id)

    assert (taker.session.display_name, taker.resumed) == ("Moss", ())
    assert back.session.display_name != "Moss"
    assert (await lease(board, task_id)).actor_label == back.session.actor_label
    assert view.task.assignee is not None
    assert view.task.assignee.label == back.session.actor_label
    with pytest.raises(NotYours):
        await board.change(ROOM, task_id, Patch(status=Status.IN_PROGRESS), taker.fence)


@pytest.mark.rule("L1")
async def test_who_is_connected_keeps_its_task_however_long_it_is_silent(
    rooms: Rooms, board: KeptBoard, attendance: KeptAttendance, clock: ManualClock
) -> None:
    busy = await rooms.connect(ROOM, coming(1, 1))
    task_id = await claimed(board, busy)
    async with attendance.attend(ROOM, busy.fence):
        clock.pass_by(10 * TERM)
        await attendance.refresh(ROOM)
        other = await rooms.connect(ROOM, coming(2, 2))

        with pytest.raises(LeaseHeld):
            await board.change(ROOM, task_id, CLAIM, other.fence)
    clock.pass_by(TERM)
    await board.change(ROOM, task_id, CLAIM, other.fence)
