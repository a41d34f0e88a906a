"""Whom of those who wait what is done in a room wakes, counted by how often they look."""

import functools
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path

import anyio
import attrs
import pytest
from tests.contract.test_arrivals import again, exited, worker

from letagents.adapters.rooms import stirred
from letagents.adapters.rooms.book import Where
from letagents.adapters.rooms.evidence import ToldProcesses
from letagents.adapters.rooms.kept import absences, doing
from letagents.adapters.rooms.kept.administration import KeptAdministration
from letagents.adapters.rooms.kept.artifacts import CHANGES
from letagents.adapters.rooms.kept.attendance import KeptAttendance
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.kept.board_records import EVENTS
from letagents.adapters.rooms.kept.deliveries import KeptDeliveries
from letagents.adapters.rooms.kept.dues import DUES
from letagents.adapters.rooms.kept.reasoning import UPDATES
from letagents.adapters.rooms.kept.wakes import KeptWakes
from letagents.adapters.rooms.local import LocalRooms
from letagents.domain.absences import GRACE
from letagents.domain.errors import ConnectionLost
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.messages import After
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Patch, Proposal, Status
from letagents.testing.contracts.room_callers import (
    ADA,
    BOB,
    ROOM,
    arrival,
    draft,
    passing_chat,
)
from letagents.testing.contracts.wakes import timer
from letagents.testing.determinism import CountingIds, ManualClock

pytestmark = pytest.mark.anyio

SOON, LONG = 30, timedelta(minutes=3)
TERM = timedelta(minutes=15)


@attrs.define
class Nudged:
    """Counts what other processes are told, and looks by itself never."""

    many: int = 0

    def nudge(self, room_id: RoomId) -> None:
        self.many += 1

    @contextmanager
    def listening(self, room_id: RoomId, ring: Callable[[], None]) -> Iterator[float]:
        yield LONG.total_seconds()


@attrs.define(eq=False)
class Waiter:
    """Somebody who waits for what never comes, and counts its looks."""

    rooms: LocalRooms
    viewer: Fence | None = None
    looks: int = 0
    is_lost: bool = False

    async def wait(self, *, of_receipts: bool) -> None:
        async def look() -> bool:
            self.looks += 1
            await self.rooms.peek(ROOM, After(), self.viewer)
            return False

        try:
            await self.rooms.watch(
                ROOM, look, bool, timeout=LONG, viewer=self.viewer, of_receipts=of_receipts
            )
        except ConnectionLost:
            self.is_lost = True


@attrs.define
class House:
    """Rooms with those who wait in them."""

    rooms: LocalRooms
    clock: ManualClock
    nudges: Nudged
    processes: ToldProcesses

    @asynccontextmanager
    async def waiting(
        self, *viewers: Connection | None, of_receipts: bool = False
    ) -> AsyncIterator[list[Waiter]]:
        """Let each wait; only what is done within the context is counted."""
        waiters = [Waiter(self.rooms, one.fence if one else None) for one in viewers]
        with anyio.fail_after(SOON):
            async with anyio.create_task_group() as running:
                for one in waiters:
                    running.start_soon(functools.partial(one.wait, of_receipts=of_receipts))
                await self.settled()
                self.nudges.many = 0
                for one in waiters:
                    assert one.looks == 1
                    one.looks = 0
                yield waiters
                await self.settled()
                running.cancel_scope.cancel()

    async def settled(self) -> None:
        """Return when each who was woken has begun to look, and has looked."""
        for _ in range(5):
            await anyio.wait_all_tasks_blocked()
            done = [self.rooms._readers.submit(int) for _ in range(8)]
            for one in done:
                await anyio.to_thread.run_sync(one.result)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    clock, nudges, processes = ManualClock(), Nudged(), ToldProcesses("one")
    rooms = LocalRooms(tmp_path / "rooms.db", CountingIds(), clock, nudges, processes)
    await rooms.join(ROOM)
    yield House(rooms, clock, nudges, processes)
    await rooms.aclose()


def looks(waiters: list[Waiter]) -> list[int]:
    """Return how often each has looked."""
    return [one.looks for one in waiters]


async def at_work(house: House, number: int, secret: int) -> Connection:
    """Let a worker come and claim a task."""
    came = await house.rooms.connect(ROOM, arrival(number, secret))
    board = KeptBoard(house.rooms, TERM)
    made = await board.propose(ROOM, Proposal(title="mend the roof"))
    claim = Patch(status=Status.ASSIGNED)
    await board.change(ROOM, made.view.task.task_id, claim, came.fence)
    return came


async def test_the_arrival_of_a_new_worker_wakes_nobody(house: House) -> None:
    ada = await house.rooms.connect(ROOM, arrival(ADA, 1))

    async with house.waiting(ada, None) as waiters, house.waiting(ada, of_receipts=True) as told:
        await house.rooms.connect(ROOM, arrival(BOB, 2))
        await house.rooms.connect(ROOM, worker(3))
        await house.rooms.connect(ROOM, arrival(BOB, 2))
        await house.settled()

    assert (looks(waiters), looks(told), house.nudges.many) == ([0, 0], [0], 0)


@pytest.mark.rule("R6")
async def test_what_is_said_wakes_all(house: House) -> None:
    ada = await house.rooms.connect(ROOM, arrival(ADA, 1))

    async with house.waiting(ada, None) as waiters, house.waiting(None, of_receipts=True) as told:
        await house.rooms.post(ROOM, draft("hello"), ada.fence)

    assert (looks(waiters), looks(told), house.nudges.many) == ([1, 1], [1], 1)


@pytest.mark.parametrize("is_through_server", [False, True])
async def test_who_takes_a_session_over_wakes_its_own_waiters(
    house: House, is_through_server: bool
) -> None:
    come = [worker(one) if is_through_server else arrival(one, one) for one in (ADA, BOB)]
    ada, bob = [await house.rooms.connect(ROOM, one) for one in come]

    async with house.waiting(ada, bob, ada, None) as waiters:
        follows = again(ada, ADA, 7) if is_through_server else arrival(ADA, 7, after=ada)
        await house.rooms.connect(ROOM, follows)

    assert looks(waiters) == [1, 0, 1, 0]
    assert [one.is_lost for one in waiters] == [True, False, True, False]
    assert house.nudges.many == 1, "it may wait in another process"


async def test_who_is_given_the_name_of_one_who_is_gone_wakes_the_waiters_of_that_one(
    house: House,
) -> None:
    first = await house.rooms.connect(ROOM, worker(1))
    other = await house.rooms.connect(ROOM, worker(4, name="FernHill"))
    attendance = KeptAttendance(house.rooms, CountingIds(first=9000))

    async with house.waiting(first, other) as waiters:
        await exited(attendance, first)
        house.clock.pass_by(timedelta(seconds=1))
        await house.settled()
        assert looks(waiters) == [0, 0]
        second = await house.rooms.connect(ROOM, worker(2))

    assert second.displaced == (first.session.session_id,)
    assert [(one.looks, one.is_lost) for one in waiters] == [(1, True), (0, False)]


async def test_the_next_process_of_a_chat_wakes_the_waiters_of_the_one_before(
    house: House,
) -> None:
    first = await house.rooms.connect(ROOM, passing_chat(50))
    ada = await house.rooms.connect(ROOM, arrival(ADA, 1))

    async with house.waiting(first, ada) as waiters:
        await house.rooms.connect(ROOM, passing_chat(51))

    assert [(one.looks, one.is_lost) for one in waiters] == [(1, True), (0, False)]


async def test_who_leaves_wakes_its_own_waiters_and_who_is_told_of_its_receipts(
    house: House,
) -> None:
    ada, bob = [await house.rooms.connect(ROOM, arrival(one, one)) for one in (ADA, BOB)]
    await house.rooms.post(ROOM, draft("@Worker2 look"), ada.fence)

    async with house.waiting(ada, bob) as waiters, house.waiting(None, of_receipts=True) as told:
        await house.rooms.disconnect(ROOM, bob.fence)

    assert (looks(waiters), looks(told)) == ([0, 1], [1])
    assert waiters[1].is_lost


async def test_who_takes_up_what_was_left_to_it_wakes_all(house: House) -> None:
    before = await house.rooms.connect(ROOM, passing_chat(50))
    board = KeptBoard(house.rooms, TERM)
    made = await board.propose(ROOM, Proposal(title="mend the roof"))
    claim = Patch(status=Status.ASSIGNED)
    await board.change(ROOM, made.view.task.task_id, claim, before.fence)
    house.processes.gone.add("one")
    house.processes.own = "two"

    async with house.waiting(None) as waiters, house.waiting(None, of_receipts=True) as told:
        next_one = attrs.evolve(passing_chat(51), instance_id="process-2")
        after = await house.rooms.connect(ROOM, next_one)

    assert [one.epoch for one in after.resumed] == [2]
    assert (looks(waiters), looks(told), house.nudges.many) == ([1], [1], 1)


async def test_that_somebody_is_back_is_said_to_all(house: House) -> None:
    ada = await at_work(house, ADA, 1)
    house.processes.gone.add("one")
    house.clock.pass_by(GRACE)
    await doing.done(house.rooms, ROOM)
    house.processes.own = "two"

    async with house.waiting(None) as waiters:
        await house.rooms.connect(ROOM, arrival(ADA, 2, after=ada))

    assert looks(waiters) == [1]


async def test_a_process_that_is_seen_again_lets_who_waits_tell_it_at_once(house: House) -> None:
    ada = await house.rooms.connect(ROOM, worker(1))
    gone = absences.Absence(1, ada.session.session_id, house.clock.now())
    await house.rooms.change(ROOM, lambda book: book.put(absences.ABSENCES, gone))
    attendance = KeptAttendance(house.rooms, CountingIds(first=9000))

    async with house.waiting(None, None) as waiters, attendance.attend(ROOM, ada.fence):
        while await house.rooms.look(ROOM, lambda book: book.find(DUES, Where(is_open=True))):
            await house.settled()  # until one of them has let the room do it

    assert all(looks(waiters))


async def test_what_processes_and_polls_come_and_go_wakes_nobody(house: House) -> None:
    ada, bob = [await house.rooms.connect(ROOM, worker(one)) for one in (ADA, BOB)]
    attendance = KeptAttendance(house.rooms, CountingIds(first=9000))
    deliveries = KeptDeliveries(house.rooms, CountingIds(first=8000), house.clock)

    async with house.waiting(ada, None) as waiters, house.waiting(None, of_receipts=True) as told:
        async with attendance.attend(ROOM, bob.fence), deliveries.open(ROOM, bob.fence):
            await attendance.refresh(ROOM)
            await deliveries.refresh()
        await house.rooms.read(ROOM, After(), bob.fence)
        await KeptAdministration(house.rooms).rename(ROOM, "The workshop")
        await house.settled()

    assert (looks(waiters), looks(told), house.nudges.many) == ([0, 0], [0], 0)


async def test_what_falls_due_sooner_shortens_the_rest_of_all(house: House) -> None:
    ada = await house.rooms.connect(ROOM, arrival(ADA, 1))

    async with house.waiting(ada, None) as waiters:
        await KeptWakes(house.rooms).add(ROOM, timer(60_000), ada.fence)

    assert looks(waiters) == [1, 1]


def test_what_a_feed_tells_goes_by_the_names_that_wake() -> None:
    assert {EVENTS.name, UPDATES.name, CHANGES.name} == stirred.TOLD
    assert DUES.name == stirred.DUE
