"""A rival claims a task at each boundary of the transactions of who held it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import anyio
import attrs
import pytest
from tests.integration.rooms_processes import Boundaries

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.kept.board import TERM, KeptBoard
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.sql.database import Database
from letagents.adapters.sql.engine import open_engine
from letagents.application.board import Boards
from letagents.application.connections import Connections
from letagents.domain.board import Handoff, Release, Target
from letagents.domain.leases import LeaseFenceStale, LeaseHeld
from letagents.domain.moves import NotYours
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Patch, Proposal, Status
from letagents.testing.contracts.room_callers import ADA, BOB, ROOM, arrival
from letagents.testing.determinism import CountingIds, ManualClock

pytestmark = pytest.mark.anyio

CLAIM = Patch(status=Status.ASSIGNED)
SOON = 10

Act = Callable[[KeptBoard, Connection], Coroutine[Any, Any, object]]


async def attach(board: KeptBoard, ada: Connection) -> object:
    return await board.change(ROOM, "task_1", Patch(pr_url="https://x/1"), ada.fence)


async def attach_under_an_epoch(board: KeptBoard, ada: Connection) -> object:
    patch = Patch(pr_url="https://x/1")
    return await board.change(ROOM, "task_1", patch, ada.fence, epoch=1)


async def go_on(board: KeptBoard, ada: Connection) -> object:
    return await board.change(ROOM, "task_1", Patch(status=Status.IN_PROGRESS), ada.fence)


async def claim_again(board: KeptBoard, ada: Connection) -> object:
    return await board.change(ROOM, "task_1", CLAIM, ada.fence)


async def let_go(board: KeptBoard, ada: Connection) -> object:
    return await board.lease_action(ROOM, "task_1", Release(epoch=1), ada.fence)


async def hand_over(board: KeptBoard, ada: Connection) -> object:
    action = Handoff(target=Target(agent_key=ada.session.agent_key), epoch=1)
    return await board.lease_action(ROOM, "task_1", action, ada.fence)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(open_engine(tmp_path / "rooms.db"))
    yield database
    database.close()


@pytest.fixture
def boundaries(database: Database) -> Boundaries:
    return Boundaries.of(database)


@pytest.fixture
async def ours(
    database: Database, boundaries: Boundaries, clock: ManualClock
) -> AsyncIterator[LocalRooms]:
    rooms = LocalRooms(database, CountingIds(), clock, NoNudges())
    yield rooms
    await rooms.aclose()


@pytest.fixture
async def rivals(ours: LocalRooms, tmp_path: Path, clock: ManualClock) -> AsyncIterator[LocalRooms]:
    """Another process's rooms, which do not wait for a turn: ours has it when they are let in."""
    database = Database(open_engine(tmp_path / "rooms.db"))
    rooms = LocalRooms(database, CountingIds(first=1_000), clock, NoNudges())
    yield rooms
    await rooms.aclose()
    database.close()


@attrs.define
class Rival:
    """Claims the task just before the transaction with that number begins, if nobody has it."""

    board: KeptBoard
    bob: Connection
    boundary: int
    begun: int = 0
    has_it: bool = False

    def let_in(self) -> None:
        self.begun += 1
        if self.begun == self.boundary:
            self.has_it = asyncio.run(self._claimed())

    async def _claimed(self) -> bool:
        try:
            await self.board.change(ROOM, "task_1", CLAIM, self.bob.fence)
        except LeaseHeld:
            return False
        return True


@pytest.mark.rule("B1", "L8")
@pytest.mark.parametrize("boundary", [1, 2, 3])
@pytest.mark.parametrize(
    "act", [attach, attach_under_an_epoch, go_on, claim_again, let_go, hand_over]
)
async def test_a_rival_that_claims_at_any_boundary_is_noticed(
    act: Act,
    boundary: int,
    boundaries: Boundaries,
    ours: LocalRooms,
    rivals: LocalRooms,
    clock: ManualClock,
) -> None:
    await ours.join(ROOM)
    board = KeptBoard(ours, TERM)
    ada, bob = await ours.connect(ROOM, arrival(ADA, 1)), await ours.connect(ROOM, arrival(BOB, 2))
    await board.propose(ROOM, Proposal(title="mend the roof"))
    await board.change(ROOM, "task_1", CLAIM, ada.fence)
    clock.pass_by(TERM)
    rival = Rival(KeptBoard(rivals, TERM), bob, boundary)
    boundaries.at = rival.let_in

    try:
        with anyio.fail_after(SOON):
            await act(board, ada)
    except (LeaseHeld, LeaseFenceStale, NotYours):
        assert rival.has_it
    else:
        assert not rival.has_it or act is let_go, "only what was let go before can be claimed"
    finally:
        boundaries.at = None
    keys = {view.lease.agent_key for view in (await board.task(ROOM, "task_1")).leases}
    assert keys == ({bob.session.agent_key} if rival.has_it else keys)


@attrs.define
class Return:
    """Has the task between, and lets its first holder claim it anew, just before a transaction."""

    board: KeptBoard
    client: Boards
    ada: Connection
    bob: Connection
    boundary: int
    begun: int = 0
    is_over: bool = False

    def let_in(self) -> None:
        self.begun += 1
        if self.begun == self.boundary:
            self.is_over = asyncio.run(self._lost_and_claimed_anew())

    async def _lost_and_claimed_anew(self) -> bool:
        try:
            await self.board.change(ROOM, "task_1", CLAIM, self.bob.fence)
        except LeaseHeld:
            return False
        await self.board.lease_action(ROOM, "task_1", Release(), self.bob.fence)
        await self.client.change(self.ada, "task_1", CLAIM)
        return True


@pytest.mark.rule("B1", "L8")
@pytest.mark.parametrize("boundary", [1, 2, 3])
async def test_a_call_that_is_late_at_any_boundary_does_nothing_under_the_next_lease(
    boundary: int,
    boundaries: Boundaries,
    ours: LocalRooms,
    rivals: LocalRooms,
    clock: ManualClock,
) -> None:
    await ours.join(ROOM)
    held, ids = Connections(), CountingIds()
    board, elsewhere = KeptBoard(ours, TERM), KeptBoard(rivals, TERM)
    client = Boards(lambda: board, held, ids)
    ada, bob = await ours.connect(ROOM, arrival(ADA, 1)), await ours.connect(ROOM, arrival(BOB, 2))
    await client.propose(ada, Proposal(title="mend the roof"))
    await board.change(ROOM, "task_1", Patch(status=Status.ACCEPTED))
    await client.change(ada, "task_1", CLAIM)
    clock.pass_by(TERM)
    between = Return(elsewhere, Boards(lambda: elsewhere, held, ids), ada, bob, boundary)
    boundaries.at = between.let_in

    try:
        with anyio.fail_after(SOON):
            await client.change(ada, "task_1", Patch(pr_url="https://x/1"))
    except LeaseFenceStale:
        assert between.is_over
    else:
        assert not between.is_over
    finally:
        boundaries.at = None
    attached = (await board.task(ROOM, "task_1")).task.pr_url
    assert attached == (None if between.is_over else "https://x/1")
