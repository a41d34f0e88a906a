"""Boards, in memory and on this machine."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.evidence import ToldProcesses
from letagents.adapters.rooms.kept import board as kept_board
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.kept.governance import KeptGovernance
from letagents.adapters.rooms.kept.wakes import KeptWakes
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain.board import Handoff, Query, Release, ReviewAssign, Target
from letagents.domain.denials import (
    IntentNotApproved,
    IntentPayloadMismatch,
    IntentPending,
    IntentRequired,
)
from letagents.domain.governance import ManagerMode
from letagents.domain.intents import Action, change_payload
from letagents.domain.messages import Latest
from letagents.domain.sessions import Connection
from letagents.domain.tasks import AdminRequired, Patch, Proposal, Status
from letagents.ports.board import Board
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.board import BoardContract
from letagents.testing.contracts.board_callers import by_id
from letagents.testing.contracts.room_callers import ADA, BOB, ROOM, arrival
from letagents.testing.contracts.task_holders import TERM
from letagents.testing.contracts.wakes import timer
from letagents.testing.determinism import CountingIds, ManualClock


class _Kept(BoardContract):
    @pytest.fixture
    def processes(self) -> ToldProcesses:
        self.told = ToldProcesses()
        return self.told

    def lives_in(self, rooms: RoomTransport, process: str) -> None:
        self.told.own = process

    def kill(self, rooms: RoomTransport) -> None:
        assert self.told.own is not None
        self.told.gone.add(self.told.own)

    async def adopt(self, rooms: RoomTransport, connection: Connection) -> None:
        assert isinstance(rooms, MemoryRooms | LocalRooms)
        await rooms.change(ROOM, lambda book: kept_board.adopt(book, connection.session))


@pytest.mark.anyio
async def test_who_reads_a_board_lets_be_done_what_is_due() -> None:
    clock = ManualClock()
    rooms = MemoryRooms(CountingIds(), clock)
    await rooms.join(ROOM)
    ada = await rooms.connect(ROOM, arrival(ADA, 1))
    await KeptWakes(rooms).add(ROOM, timer(60_000, note="look at the roof"), ada.fence)
    clock.pass_by(timedelta(minutes=2))
    await KeptBoard(rooms, TERM).tasks(ROOM, Query())

    (said,) = (await rooms.read(ROOM, Latest())).messages
    assert "look at the roof" in said.text


@pytest.mark.anyio
@pytest.mark.rule("T2", "L9")
async def test_where_workers_are_no_admins_they_neither_accept_nor_free_what_is_anothers() -> None:
    rooms = MemoryRooms(CountingIds(), ManualClock(), admins=lambda caller: caller is None)
    await rooms.join(ROOM)
    ada = await rooms.connect(ROOM, arrival(ADA, 1))
    bob = await rooms.connect(ROOM, arrival(BOB, 2))
    board = KeptBoard(rooms, TERM)
    await board.propose(ROOM, Proposal(title="mend the roof"), ada.fence)
    with pytest.raises(AdminRequired):
        await board.change(ROOM, "task_1", Patch(status=Status.ACCEPTED), ada.fence)
    await board.change(ROOM, "task_1", Patch(status=Status.ACCEPTED))
    await board.change(ROOM, "task_1", Patch(status=Status.ASSIGNED), ada.fence)
    to_ada = ReviewAssign(target=Target(agent_key=ada.session.agent_key))

    with pytest.raises(AdminRequired):
        await board.lease_action(ROOM, "task_1", Release(), bob.fence)
    with pytest.raises(AdminRequired):
        await board.review_action(ROOM, "task_1", to_ada, bob.fence)
    with pytest.raises(AdminRequired):
        await board.lock(ROOM, "task_1", fence=bob.fence)
    to_bob = Handoff(target=Target(agent_key=bob.session.agent_key))
    with pytest.raises(IntentRequired):
        await board.lease_action(ROOM, "task_1", to_bob, bob.fence)
    moved = await board.lease_action(ROOM, "task_1", Release(), ada.fence)
    assert moved.view.task.status is Status.ACCEPTED


@pytest.mark.anyio
@pytest.mark.rule("T2", "P14")
@pytest.mark.parametrize("mode", [ManagerMode.OFF, ManagerMode.INTENT_REQUIRED])
async def test_who_is_no_admin_closes_a_task_with_an_approval_of_that(mode: ManagerMode) -> None:
    rooms = MemoryRooms(CountingIds(), ManualClock(), admins=lambda caller: caller is None)
    await rooms.join(ROOM)
    ada = await rooms.connect(ROOM, arrival(ADA, 1))
    board, governance = KeptBoard(rooms, TERM), KeptGovernance(rooms)
    for title in ("mend the roof", "oil the gate"):
        await board.propose(ROOM, Proposal(title=title))
    await governance.set_mode(ROOM, mode)
    payload = change_payload("task_1", status="cancelled")
    asked = await governance.propose(ROOM, Action.TASK_CLOSE, payload, fence=ada.fence)
    shown, closed = by_id(asked.intent), Patch(status=Status.CANCELLED)
    with pytest.raises(IntentPending):
        await board.change(ROOM, "task_1", closed, ada.fence, approval=shown)
    await governance.approve(ROOM, asked.intent.intent_id)

    assert asked.is_needed
    with pytest.raises(IntentPayloadMismatch):
        await board.change(ROOM, "task_2", closed, ada.fence, approval=shown)
    with pytest.raises(AdminRequired, match="register_board_intent"):
        await board.change(ROOM, "task_1", closed, ada.fence)
    view = await board.change(ROOM, "task_1", closed, ada.fence, approval=shown)
    assert view.task.status is Status.CANCELLED
    with pytest.raises(IntentNotApproved):
        await board.change(ROOM, "task_1", closed, ada.fence, approval=shown)


class TestBoardInMemory(_Kept):
    @pytest.fixture
    def rooms(self, clock: ManualClock, processes: ToldProcesses) -> RoomTransport:
        return MemoryRooms(CountingIds(), clock, processes)

    @pytest.fixture
    def board(self, rooms: MemoryRooms) -> Board:
        return KeptBoard(rooms, TERM)


class TestBoardOnThisMachine(_Kept):
    @pytest.fixture
    async def rooms(
        self, tmp_path: Path, clock: ManualClock, processes: ToldProcesses
    ) -> AsyncIterator[RoomTransport]:
        rooms = LocalRooms(tmp_path / "rooms.db", CountingIds(), clock, NoNudges(), processes)
        yield rooms
        await rooms.aclose()

    @pytest.fixture
    def board(self, rooms: LocalRooms) -> Board:
        return KeptBoard(rooms, TERM)

    @pytest.fixture
    async def board_elsewhere(
        self, rooms: LocalRooms, tmp_path: Path, clock: ManualClock, processes: ToldProcesses
    ) -> AsyncIterator[Board]:
        ids = CountingIds(first=1000)
        there = LocalRooms(tmp_path / "rooms.db", ids, clock, NoNudges(), processes)
        yield KeptBoard(there, TERM)
        await there.aclose()


class TestBoardInPostgres(_Kept):
    @pytest.fixture
    async def rooms(
        self, postgres: str, clock: ManualClock, processes: ToldProcesses
    ) -> AsyncIterator[RoomTransport]:
        rooms = LocalRooms(postgres, CountingIds(), clock, NoNudges(), processes)
        yield rooms
        await rooms.aclose()

    @pytest.fixture
    def board(self, rooms: LocalRooms) -> Board:
        return KeptBoard(rooms, TERM)

    @pytest.fixture
    async def board_elsewhere(
        self, rooms: LocalRooms, postgres: str, clock: ManualClock, processes: ToldProcesses
    ) -> AsyncIterator[Board]:
        ids = CountingIds(first=1000)
        there = LocalRooms(postgres, ids, clock, NoNudges(), processes)
        yield KeptBoard(there, TERM)
        await there.aclose()
