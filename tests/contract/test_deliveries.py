"""Who waits to be told of messages can be reached, in every adapter of rooms that keep books."""

from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import anyio
import attrs
import pytest
from tests.contract.kept_rooms import place_for
from tests.contract.served import KeptRooms

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.book import Book
from letagents.adapters.rooms.kept import doing, links
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.kept.deliveries import KeptDeliveries
from letagents.adapters.rooms.kept.governance import KeptGovernance
from letagents.adapters.rooms.kept.whereabouts import KeptRoster
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain.absences import LOOK_AGAIN
from letagents.domain.deliveries import Transport
from letagents.domain.errors import ConnectionLost
from letagents.domain.fencing import Fence
from letagents.domain.governance import SILENCE
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.messages import Latest
from letagents.domain.presence import FRESH, SILENT
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Assignee, Patch, Proposal, Status
from letagents.testing.contracts.attendance import coming
from letagents.testing.contracts.room_callers import ADA, BOB, ROOM
from letagents.testing.determinism import CountingIds, ManualClock

pytestmark = pytest.mark.anyio

T = TypeVar("T")
AT_ONCE = timedelta(0)


@attrs.define
class Counted:
    """Rooms that count how often something is noted in them."""

    kept: KeptRooms
    noted: int = 0

    async def change(
        self, room_id: RoomId, work: Callable[[Book], T], fence: Fence | None = None
    ) -> T:
        return await self.kept.change(room_id, work, fence)

    async def note(
        self, room_id: RoomId, work: Callable[[Book], T], fence: Fence | None = None
    ) -> T:
        self.noted += 1
        return await self.kept.note(room_id, work, fence)

    async def look(
        self, room_id: RoomId, work: Callable[[Book], T], viewer: Fence | None = None
    ) -> T:
        return await self.kept.look(room_id, work, viewer)

    def listen_for(self, room_id: RoomId, fence: Fence) -> None:
        self.kept.listen_for(room_id, fence)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=["memory", "local", pytest.param("postgres", marks=pytest.mark.long)])
async def kept(
    request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock
) -> AsyncIterator[KeptRooms]:
    if request.param == "memory":
        yield MemoryRooms(CountingIds(), clock)
        return
    place = place_for(request.param, tmp_path)
    rooms = LocalRooms(place, CountingIds(), clock, NoNudges())
    yield rooms
    await rooms.aclose()


@pytest.fixture
def rooms(kept: KeptRooms) -> Counted:
    return Counted(kept)


@pytest.fixture
async def ada(kept: KeptRooms) -> Connection:
    """A worker that came through a server."""
    await kept.join(ROOM)
    return await kept.connect(ROOM, coming(ADA, 1))


def held(
    rooms: Counted, clock: ManualClock, *, first: int = 9000, lingers: timedelta = AT_ONCE
) -> KeptDeliveries:
    """Return the requests of a server process."""
    return KeptDeliveries(rooms, CountingIds(first=first), clock, lingers=lingers)


async def alive(kept: KeptRooms, who: Connection) -> bool | None:
    """Whether the process of a session is taken to be there."""
    return await kept.look(ROOM, lambda book: links.is_alive(book, who.session))


async def until_told(deliveries: KeptDeliveries, who: Connection) -> None:
    """Return once the room knows that the last request of a session is over."""
    with anyio.fail_after(30):
        while True:
            found = await deliveries.of(ROOM, who.session.session_id)
            if found is not None and found.closed is not None:
                return
            await anyio.sleep(0.002)


@pytest.mark.rule("E52", "E55", "E26")
async def test_who_waits_is_there_however_silent_and_is_told_so_again(
    kept: KeptRooms, rooms: Counted, ada: Connection, clock: ManualClock
) -> None:
    deliveries, roster = held(rooms, clock), KeptRoster(kept)
    async with deliveries.open(ROOM, ada.fence, Transport.SSE):
        for _ in range(20):
            clock.pass_by(FRESH / 2)
            await deliveries.refresh()
        waiting = await deliveries.of(ROOM, ada.session.session_id)
        there, [seen] = await alive(kept, ada), await roster.present(ROOM)
    await until_told(deliveries, ada)
    clock.pass_by(SILENT)
    [later] = await roster.present(ROOM)

    assert waiting is not None
    assert (waiting.transport, waiting.closed) == (Transport.SSE, None)
    assert there is True
    assert (seen.is_fresh, seen.has_delivery) == (True, True)
    assert (later.is_fresh, later.has_delivery) == (False, False)


@pytest.mark.rule("E50")
async def test_one_poll_after_another_is_told_once(
    rooms: Counted, ada: Connection, clock: ManualClock
) -> None:
    deliveries = held(rooms, clock, lingers=timedelta(minutes=1))
    for _ in range(5):
        async with deliveries.open(ROOM, ada.fence), deliveries.open(ROOM, ada.fence):
            pass

    assert rooms.noted == 1
    assert deliveries.count == 1


@pytest.mark.rule("E51")
async def test_what_a_server_process_left_behind_is_over_by_itself(
    kept: KeptRooms, rooms: Counted, ada: Connection, clock: ManualClock
) -> None:
    gone = held(rooms, clock, lingers=timedelta(hours=1))
    async with gone.open(ROOM, ada.fence):
        pass  # it is killed before it tells of the end
    clock.pass_by(FRESH - timedelta(seconds=1))
    before = await KeptRoster(kept).present(ROOM)
    clock.pass_by(timedelta(seconds=1))

    assert [one.has_delivery for one in before] == [True]
    assert [one.has_delivery for one in await KeptRoster(kept).present(ROOM)] == [False]


@pytest.mark.rule("E53")
async def test_one_server_process_does_not_end_what_waits_in_another(
    kept: KeptRooms, rooms: Counted, ada: Connection, clock: ManualClock
) -> None:
    here, there = held(rooms, clock), held(rooms, clock, first=7000)
    async with here.open(ROOM, ada.fence):
        async with there.open(ROOM, ada.fence):
            pass
        await until_told(there, ada)
        await here.refresh()
        clock.pass_by(timedelta(seconds=30))

        assert await alive(kept, ada) is True


@pytest.mark.rule("E54")
async def test_a_process_that_takes_a_session_over_waits_anew(
    kept: KeptRooms, rooms: Counted, ada: Connection, clock: ManualClock
) -> None:
    deliveries = held(rooms, clock, lingers=timedelta(minutes=1))
    async with deliveries.open(ROOM, ada.fence):
        again = await kept.connect(ROOM, coming(ADA, 2, after=ada))
        [before] = await KeptRoster(kept).present(ROOM)
        async with deliveries.open(ROOM, again.fence):
            [after] = await KeptRoster(kept).present(ROOM)

    assert (before.has_delivery, after.has_delivery) == (False, True)


@pytest.mark.rule("E54", "E55")
async def test_who_has_left_or_was_replaced_is_not_let_wait(
    kept: KeptRooms, rooms: Counted, ada: Connection, clock: ManualClock
) -> None:
    deliveries = held(rooms, clock)
    again = await kept.connect(ROOM, coming(ADA, 2, after=ada))
    with pytest.raises(ConnectionLost):
        async with deliveries.open(ROOM, ada.fence):
            pass
    await kept.disconnect(ROOM, again.fence)
    with pytest.raises(ConnectionLost):
        async with deliveries.open(ROOM, again.fence):
            pass

    assert deliveries.count == 0


@pytest.mark.rule("P3", "P5")
async def test_a_manager_that_waits_is_not_succeeded_and_who_waits_succeeds_first(
    kept: KeptRooms, rooms: Counted, ada: Connection, clock: ManualClock
) -> None:
    deliveries, governance = held(rooms, clock), KeptGovernance(kept)
    bob = await kept.connect(ROOM, coming(BOB, 2))
    carl = await kept.connect(ROOM, coming(3, 3))
    await governance.assign_manager(ROOM, ada.session.session_id)

    async def manager_after_silence() -> SessionId | None:
        clock.pass_by(SILENCE)
        await kept.read(ROOM, Latest(), carl.fence)  # a later sign than Bob's
        await deliveries.refresh()
        await doing.done(kept, ROOM)
        found = (await governance.governed(ROOM)).manager
        return found.session_id if found else None

    async with deliveries.open(ROOM, bob.fence):
        async with deliveries.open(ROOM, ada.fence):
            first = await manager_after_silence()
        await until_told(deliveries, ada)
        second = await manager_after_silence()

    assert first == ada.session.session_id
    assert second == bob.session.session_id


@pytest.mark.rule("D31", "D32", "D33", "E52")
async def test_who_waits_is_not_told_to_be_gone_and_who_waits_again_is_told_to_be_back(
    kept: KeptRooms, rooms: Counted, ada: Connection, clock: ManualClock
) -> None:
    deliveries, board = held(rooms, clock), KeptBoard(kept)
    made = await board.propose(ROOM, Proposal(title="roof"), fence=ada.fence)
    task_id = made.view.task.task_id
    await board.change(ROOM, task_id, Patch(status=Status.ACCEPTED))
    mine = Patch(status=Status.ASSIGNED, assignee=Assignee.of(ada.session))
    await board.change(ROOM, task_id, mine, ada.fence)

    async def told() -> list[str]:
        await doing.done(kept, ROOM)
        said = (await kept.read(ROOM, Latest(100))).messages
        return [one.text for one in said if one.source == "agent_liveness"]

    async with deliveries.open(ROOM, ada.fence):
        for _ in range(40):
            clock.pass_by(LOOK_AGAIN)
            await deliveries.refresh()
            while_it_waits = await told()
    await until_told(deliveries, ada)
    for _ in range(20):
        clock.pass_by(LOOK_AGAIN)
        gone = await told()
    async with deliveries.open(ROOM, ada.fence):
        back = await told()
        again = await told()

    assert while_it_waits == []
    assert len(gone) == 1
    assert f"while holding {task_id}" in gone[0]
    assert back == [*gone, "[status] Worker1 is connected to the room again."]
    assert again == back
