"""Approvals and managers, in memory and on this machine."""

import pytest
from tests.contract.kept_rooms import InMemory, KeptRooms, OnThisMachine

from letagents.adapters.rooms import dues
from letagents.adapters.rooms.evidence import ToldProcesses, UnknownProcesses
from letagents.adapters.rooms.kept_board import KeptBoard
from letagents.adapters.rooms.kept_governance import KeptGovernance
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain.sessions import Connection
from letagents.ports.board import Board
from letagents.ports.governance import Governance
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.board_callers import MINUTE, BoardCallers
from letagents.testing.contracts.governance import BoardIntentsContract, BoardManagersContract
from letagents.testing.contracts.room_callers import BOB, ROOM, arrival
from letagents.testing.determinism import CountingIds, ManualClock


class _Kept(BoardCallers):
    @pytest.fixture
    def board(self, rooms: KeptRooms) -> Board:
        self.kept_rooms = rooms
        return KeptBoard(rooms)

    @pytest.fixture
    def board_elsewhere(self, elsewhere: KeptRooms) -> Board:
        return KeptBoard(elsewhere)

    @pytest.fixture
    def governance(self, rooms: KeptRooms) -> Governance:
        self.kept_rooms = rooms
        return KeptGovernance(rooms)

    @pytest.fixture
    def governance_elsewhere(self, elsewhere: KeptRooms) -> Governance:
        return KeptGovernance(elsewhere)

    async def let_time_be(self, rooms: RoomTransport) -> None:
        await dues.done(self.kept_rooms, ROOM)


class _InMemory(InMemory):
    """Where nothing is known of processes, as on the machine of the other suite."""

    @pytest.fixture
    def rooms(self, clock: ManualClock) -> KeptRooms:
        return MemoryRooms(CountingIds(), clock, UnknownProcesses())


class TestManagersInMemory(_InMemory, _Kept, BoardManagersContract):
    pass


class TestManagersOnThisMachine(OnThisMachine, _Kept, BoardManagersContract):
    pass


class TestIntentsInMemory(_InMemory, _Kept, BoardIntentsContract):
    pass


class TestIntentsOnThisMachine(OnThisMachine, _Kept, BoardIntentsContract):
    pass


@pytest.mark.anyio
class TestManagersWithProcesses(_Kept):
    """What is known of a manager's process counts for more than its silence."""

    @pytest.fixture
    def processes(self) -> ToldProcesses:
        return ToldProcesses()

    @pytest.fixture
    def rooms(self, clock: ManualClock, processes: ToldProcesses) -> KeptRooms:
        return MemoryRooms(CountingIds(), clock, processes)

    @pytest.mark.rule("P3")
    async def test_a_manager_whose_process_is_there_may_be_silent_for_long(
        self,
        governance: Governance,
        rooms: RoomTransport,
        clock: ManualClock,
        ada: Connection,
        bob: Connection,
    ) -> None:
        await governance.assign_manager(ROOM, bob.session.session_id)
        await self.after(rooms, clock, 60 * MINUTE)

        manager = (await governance.governed(ROOM)).manager
        assert manager is not None
        assert manager.session_id == bob.session.session_id

    @pytest.mark.rule("P4", "P36")
    async def test_a_manager_whose_process_is_gone_is_waited_for_five_minutes(
        self,
        governance: Governance,
        rooms: RoomTransport,
        processes: ToldProcesses,
        clock: ManualClock,
        ada: Connection,
        bob: Connection,
    ) -> None:
        await governance.assign_manager(ROOM, bob.session.session_id)
        processes.own = "bob's"
        back = await rooms.connect(ROOM, arrival(BOB, 8, after=bob))
        processes.gone = {"bob's"}
        await self.after(rooms, clock, 4 * MINUTE)
        waited_for = (await governance.governed(ROOM)).manager
        await self.after(rooms, clock, 2 * MINUTE)

        manager = (await governance.governed(ROOM)).manager
        assert waited_for is not None
        assert waited_for.session_id == back.session.session_id
        assert manager is not None
        assert manager.session_id == ada.session.session_id
