"""Whose work a follow-up means, and who is told of the board: what rooms make of the leases."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.contract.kept_rooms import InMemory, InPostgres, KeptRooms, OnThisMachine

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.local import LocalRooms
from letagents.domain.activation import Decision, Reason
from letagents.domain.board import Handoff, Release, Target
from letagents.domain.messages import Latest
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Assignee, Patch, Proposal, Status
from letagents.testing.contracts.room_callers import ROOM, RoomCallers, arrival, draft, person
from letagents.testing.determinism import CountingIds, ManualClock


async def claimed(board: KeptBoard, by: Connection, title: str) -> str:
    """Put a task on the board and let `by` claim it."""
    admitted = await board.propose(ROOM, Proposal(title=title))
    task_id = admitted.view.task.task_id
    if admitted.view.task.status is Status.PROPOSED:
        await board.change(ROOM, task_id, Patch(status=Status.ACCEPTED))
    await board.change(
        ROOM, task_id, Patch(status=Status.ASSIGNED, assignee=Assignee.of(by.session)), by.fence
    )
    return task_id


async def label(rooms: KeptRooms, viewer: Connection) -> tuple[Decision, Reason]:
    """Return what the newest message is to `viewer`."""
    (newest,) = (await rooms.read(ROOM, Latest(1), viewer.fence)).messages
    assert newest.activation is not None
    return newest.activation.decision, newest.activation.reason


MINE = (Decision.ACTIVATE, Reason.TASK_OWNER)
NOT_MINE = (Decision.SILENT, Reason.UNADDRESSED)
OFFERED = (Decision.UNCLEAR, Reason.UNADDRESSED)
NAMED = (Decision.ACTIVATE, Reason.EXPLICIT_MENTION)
OWN = (Decision.SILENT, Reason.SELF_MESSAGE)


@pytest.mark.anyio
class WhoActs(RoomCallers):
    @pytest.fixture
    async def carl(self, rooms: KeptRooms) -> Connection:
        return await rooms.connect(ROOM, arrival(3, 3))

    @pytest.mark.rule("A5", "A31")
    async def test_a_follow_up_means_who_owns_the_work(
        self, rooms: KeptRooms, ada: Connection, bob: Connection, carl: Connection
    ) -> None:
        board = KeptBoard(rooms)
        task_id = await claimed(board, ada, "Mend the door")
        tess = await rooms.connect(ROOM, person())
        await rooms.post(ROOM, draft("okay, continue"), tess.fence)

        assert await label(rooms, ada) == MINE
        assert await label(rooms, bob) == await label(rooms, carl) == NOT_MINE
        to = Handoff(target=Target(agent_key=bob.session.agent_key))
        await board.lease_action(ROOM, task_id, to, ada.fence)
        await rooms.post(ROOM, draft("run the tests"), tess.fence)
        assert await label(rooms, bob) == MINE
        assert await label(rooms, ada) == await label(rooms, carl) == NOT_MINE

    @pytest.mark.rule("A45")
    async def test_a_person_goes_on_with_whose_work_they_asked_to_go_on(
        self, rooms: KeptRooms, ada: Connection, bob: Connection, carl: Connection
    ) -> None:
        await claimed(KeptBoard(rooms), ada, "Mend the door")
        tess = await rooms.connect(ROOM, person())
        await rooms.post(ROOM, draft("okay, continue"), tess.fence)
        await rooms.post(ROOM, draft("the fence is painted"), bob.fence)
        await rooms.post(ROOM, draft("hello"), tess.fence)

        assert await label(rooms, ada) == (Decision.ACTIVATE, Reason.RECENT_CONVERSATION)
        assert await label(rooms, bob) == await label(rooms, carl) == NOT_MINE

    @pytest.mark.rule("A31")
    async def test_of_two_owners_a_follow_up_means_neither(
        self, rooms: KeptRooms, ada: Connection, bob: Connection, carl: Connection
    ) -> None:
        board = KeptBoard(rooms)
        await claimed(board, ada, "Mend the door")
        second = await claimed(board, bob, "Paint the door")
        await rooms.post(ROOM, draft("push it"), carl.fence)

        assert await label(rooms, ada) == await label(rooms, bob) == NOT_MINE
        await board.lease_action(ROOM, second, Release(), bob.fence)
        await rooms.post(ROOM, draft("push that"), carl.fence)
        assert await label(rooms, ada) == MINE
        assert await label(rooms, bob) == NOT_MINE

    @pytest.mark.rule("A48", "A49")
    async def test_a_waiter_learns_of_work_that_is_free_and_of_what_is_handed_to_it(
        self, rooms: KeptRooms, ada: Connection, bob: Connection, carl: Connection
    ) -> None:
        board = KeptBoard(rooms)
        admitted = await board.propose(ROOM, Proposal(title="Tell everyone"), ada.fence)
        task_id = admitted.view.task.task_id
        await board.change(ROOM, task_id, Patch(status=Status.ACCEPTED), ada.fence)

        assert await label(rooms, bob) == await label(rooms, carl) == OFFERED
        assert await label(rooms, ada) == OWN
        mine = Patch(status=Status.ASSIGNED, assignee=Assignee.of(ada.session))
        await board.change(ROOM, task_id, mine, ada.fence)
        assert await label(rooms, bob) == NOT_MINE
        to = Handoff(target=Target(agent_key=bob.session.agent_key))
        await board.lease_action(ROOM, task_id, to, ada.fence)
        assert await label(rooms, bob) == NAMED
        assert await label(rooms, carl) == (Decision.SILENT, Reason.UNADDRESSED)


class TestWhoActsInMemory(InMemory, WhoActs):
    pass


class TestWhoActsOnThisMachine(OnThisMachine, WhoActs):
    pass


class TestWhoActsInPostgres(InPostgres, WhoActs):
    pass


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def opened(tmp_path: Path, clock: ManualClock) -> AsyncIterator[LocalRooms]:
    rooms = LocalRooms(tmp_path / "rooms.db", CountingIds(), clock, NoNudges())
    yield rooms
    await rooms.aclose()


@pytest.mark.anyio
@pytest.mark.rule("A5")
async def test_who_takes_part_in_a_thread_and_who_owns_work_outlasts_every_process(
    opened: LocalRooms, tmp_path: Path, clock: ManualClock
) -> None:
    await opened.join(ROOM)
    ada = await opened.connect(ROOM, arrival(1, 1))
    bob = await opened.connect(ROOM, arrival(2, 2))
    root = await opened.post(ROOM, draft("root"), ada.fence)
    await claimed(KeptBoard(opened), ada, "Mend the door")
    await opened.aclose()

    later = LocalRooms(tmp_path / "rooms.db", CountingIds(first=500), clock, NoNudges())
    tess = await later.connect(ROOM, person())
    await later.post(ROOM, draft("and this?", thread=root), bob.fence)
    assert await label(later, ada) == (Decision.ACTIVATE, Reason.THREAD_PARTICIPANT)
    await later.post(ROOM, draft("please carry on"), tess.fence)
    await later.post(ROOM, draft("carry on"), tess.fence)
    assert await label(later, ada) == MINE
    assert await label(later, bob) == NOT_MINE
    await later.aclose()
