"""Boards on a server keep the promises of the port, whatever the server keeps them in."""

import pytest
from tests.contract.served import Served

from letagents.adapters.rooms.evidence import ToldProcesses
from letagents.adapters.rooms.hosted.board import HostedBoard
from letagents.adapters.rooms.hosted.calls import Calls
from letagents.ports.board import Board
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.board import BoardContract


class TestHostedBoard(Served, BoardContract):
    @pytest.fixture
    def processes(self) -> ToldProcesses:
        self.told = ToldProcesses()
        return self.told

    @pytest.fixture
    def board(self, calls: Calls) -> Board:
        return HostedBoard(calls)

    def lives_in(self, rooms: RoomTransport, process: str) -> None:
        self.told.own = process

    def kill(self, rooms: RoomTransport) -> None:
        assert self.told.own is not None
        self.told.gone.add(self.told.own)
