"""Approvals and managers of rooms on a server, whatever the server keeps them in."""

import pytest
from tests.contract.served import ADA, KeptRooms, Served

from letagents.adapters.rooms.evidence import UnknownProcesses
from letagents.adapters.rooms.hosted.board import HostedBoard
from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.governance import HostedGovernance
from letagents.adapters.rooms.kept import doing
from letagents.ports.board import Board
from letagents.ports.governance import Governance
from letagents.ports.processes import Processes
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.board_callers import BoardCallers
from letagents.testing.contracts.governance import ApprovalsContract, GovernanceContract
from letagents.testing.contracts.room_callers import ROOM


class _Hosted(Served, BoardCallers):
    owner = ADA.label

    @pytest.fixture
    def processes(self) -> Processes:
        return UnknownProcesses()

    @pytest.fixture
    def board(self, calls: Calls) -> Board:
        return HostedBoard(calls)

    @pytest.fixture
    def governance(self, calls: Calls, kept: KeptRooms) -> Governance:
        self.kept_rooms = kept
        return HostedGovernance(calls)

    async def let_time_be(self, rooms: RoomTransport) -> None:
        await doing.done(self.kept_rooms, ROOM)


class TestHostedManagers(_Hosted, GovernanceContract):
    pass


class TestHostedIntents(_Hosted, ApprovalsContract):
    pass
