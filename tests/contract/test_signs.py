"""Every adapter of rooms knows of each session when it last gave a sign of life, and from where."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path

import anyio
import pytest
from tests.contract.kept_rooms import KINDS, KeptRooms, opened

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.evidence import ToldProcesses
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.signs import LONGEST, interval
from letagents.domain.errors import ConnectionReplaced, RoomsUnavailable
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.messages import After, Latest
from letagents.domain.sessions import Session
from letagents.domain.ticks import elapsed
from letagents.testing.contracts.room_callers import (
    ADA,
    AT_ONCE,
    BOB,
    ROOM,
    arrival,
    cursor,
    draft,
    passing_chat,
    person,
)
from letagents.testing.determinism import CountingIds, ManualClock

pytestmark = pytest.mark.anyio

Call = Callable[[KeptRooms, Fence], Awaitable[object]]
Ring = Callable[[], None]

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


async def session_of(rooms: KeptRooms, fence: Fence) -> Session:
    """Return the session as the room knows it once all that was handed to it has been done."""
    await rooms.change(ROOM, lambda _book: None)
    session = await rooms.look(ROOM, lambda book: book.session(fence.session_id))
    assert session is not None
    return session


async def post(rooms: KeptRooms, fence: Fence) -> object:
    return await rooms.post(ROOM, draft("here"), fence)


async def read(rooms: KeptRooms, fence: Fence) -> object:
    return await rooms.read(ROOM, Latest(), fence)


async def wait(rooms: KeptRooms, fence: Fence) -> object:
    return await rooms.wait(ROOM, After(), timeout=AT_ONCE, viewer=fence)


async def change(rooms: KeptRooms, fence: Fence) -> object:
    return await rooms.change(ROOM, lambda book: book.now, fence)


async def look(rooms: KeptRooms, fence: Fence) -> object:
    return await rooms.look(ROOM, lambda book: book.now, fence)


@pytest.mark.rule("E7")
@pytest.mark.parametrize("call", [post, read, wait, change, look])
async def test_each_call_of_a_session_is_a_sign_of_it(
    call: Call, rooms: KeptRooms, clock: ManualClock
) -> None:
    ada = await rooms.connect(ROOM, arrival(ADA, 1))
    bob = await rooms.connect(ROOM, arrival(BOB, 2))
    clock.pass_by(timedelta(hours=1))
    await call(rooms, ada.fence)
    heard, silent = await session_of(rooms, ada.fence), await session_of(rooms, bob.fence)

    assert heard.seen == clock.tick()
    assert heard.last_seen_at == clock.now()
    assert heard.updated_at == ada.session.updated_at
    assert silent == bob.session


@pytest.mark.rule("E7")
async def test_signs_come_from_the_process_that_calls(
    rooms: KeptRooms, clock: ManualClock, processes: ToldProcesses
) -> None:
    """A chat without a handle is found again by its secret, and connects no more."""
    chat = await rooms.connect(ROOM, passing_chat(1))
    processes.own = "two"
    clock.pass_by(timedelta(hours=1))
    await post(rooms, chat.fence)

    assert chat.session.process == "one"
    assert (await session_of(rooms, chat.fence)).process == "two"


@pytest.mark.rule("E7")
async def test_who_connects_again_is_told_of_by_its_new_process(
    rooms: KeptRooms, clock: ManualClock, processes: ToldProcesses
) -> None:
    before = await rooms.connect(ROOM, arrival(ADA, 1))
    processes.gone.add("one")
    processes.own = "two"
    clock.pass_by(timedelta(hours=1))
    after = await rooms.connect(ROOM, arrival(ADA, 2, after=before))
    there = await rooms.look(ROOM, lambda book: [book.is_alive(one) for one in ("one", "two")])

    assert (after.session.process, after.session.seen) == ("two", clock.tick())
    assert there == [False, True]


@pytest.mark.rule("E7", "R1")
async def test_who_was_replaced_gives_no_sign_for_its_successor(
    rooms: KeptRooms, clock: ManualClock
) -> None:
    before = await rooms.connect(ROOM, arrival(ADA, 1))
    after = await rooms.connect(ROOM, arrival(ADA, 2, after=before))
    clock.pass_by(timedelta(hours=1))
    for call in (post, read, wait, change, look):
        with pytest.raises(ConnectionReplaced):
            await call(rooms, before.fence)

    assert await session_of(rooms, after.fence) == after.session


@pytest.mark.rule("E7")
async def test_people_are_seen_and_have_no_process(rooms: KeptRooms, clock: ManualClock) -> None:
    ada = await rooms.connect(ROOM, person())
    clock.pass_by(timedelta(hours=1))
    await post(rooms, ada.fence)
    seen = await session_of(rooms, ada.fence)

    assert (ada.session.process, seen.process) == (None, None)
    assert seen.last_seen_at == clock.now()


@pytest.mark.rule("E7")
async def test_waiting_is_no_sign_after_it_has_begun(rooms: KeptRooms, clock: ManualClock) -> None:
    ada = await rooms.connect(ROOM, arrival(ADA, 1))
    bob = await rooms.connect(ROOM, arrival(BOB, 2))
    await post(rooms, bob.fence)
    begun = clock.tick()

    async def wait_long() -> None:
        await rooms.wait(ROOM, After(cursor(1)), timeout=timedelta(minutes=1), viewer=ada.fence)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait_long)
            await anyio.wait_all_tasks_blocked()
            await session_of(rooms, ada.fence)
            clock.pass_by(timedelta(hours=1))
            await rooms.post(ROOM, draft("over"), bob.fence)

    assert (await session_of(rooms, ada.fence)).seen == begun


@pytest.mark.rule("E7")
@pytest.mark.parametrize(
    ("term", "apart"), [(TERM, LONGEST), (timedelta(seconds=2), timedelta(seconds=0.5))]
)
async def test_signs_are_written_down_often_enough_for_the_term(
    term: timedelta, apart: timedelta, tmp_path: Path, clock: ManualClock
) -> None:
    rooms = LocalRooms(tmp_path / "rooms.db", CountingIds(), clock, NoNudges(), term=term)
    await rooms.join(ROOM)
    ada = await rooms.connect(ROOM, arrival(ADA, 1))
    late = set[bool]()
    for _ in range(20):
        clock.pass_by(apart / 3)
        await post(rooms, ada.fence)
        seen = (await session_of(rooms, ada.fence)).seen
        assert seen is not None
        late.add(elapsed(seen, clock.tick()) > timedelta(0))
        assert elapsed(seen, clock.tick()) < apart
    await rooms.aclose()

    assert interval(term) == apart
    assert late == {True, False}, "not every call is written down"


class Unplugging:
    """Takes a database away as soon as the next thing has been written to it."""

    place: Path | None = None

    def nudge(self, _room_id: RoomId) -> None:
        if self.place is not None:
            self.place.rename(self.place.with_name("away.db"))
            self.place = None

    def listening(self, room_id: RoomId, ring: Ring) -> AbstractContextManager[float]:
        return NoNudges().listening(room_id, ring)


@pytest.mark.rule("E7")
async def test_a_sign_that_could_not_be_written_down_is_made_up_for_by_the_next(
    tmp_path: Path, clock: ManualClock
) -> None:
    place, nudges = tmp_path / "rooms.db", Unplugging()
    rooms = LocalRooms(place, CountingIds(), clock, nudges, term=TERM)
    await rooms.join(ROOM)
    ada = await rooms.connect(ROOM, arrival(ADA, 1))
    clock.pass_by(timedelta(hours=1))
    nudges.place = place
    await post(rooms, ada.fence)
    with pytest.raises(RoomsUnavailable):
        await session_of(rooms, ada.fence)
    place.with_name("away.db").rename(place)
    lost = await session_of(rooms, ada.fence)
    await read(rooms, ada.fence)
    found = await session_of(rooms, ada.fence)
    await rooms.aclose()

    assert lost.seen == ada.session.seen
    assert found.seen == clock.tick()
