"""Claimed paths of rooms on a server, whatever the server keeps them in."""

import pytest
from tests.contract.served import Served

from letagents.adapters.rooms.evidence import UnknownProcesses
from letagents.adapters.rooms.hosted.board import HostedBoard
from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.paths import HostedPaths
from letagents.ports.board import Board
from letagents.ports.path_claims import PathClaims
from letagents.ports.processes import Processes
from letagents.testing.contracts.path_claims import PathClaimsContract


class TestHostedPaths(Served, PathClaimsContract):
    @pytest.fixture
    def processes(self) -> Processes:
        return UnknownProcesses()

    @pytest.fixture
    def board(self, calls: Calls) -> Board:
        return HostedBoard(calls)

    @pytest.fixture
    def paths(self, calls: Calls) -> PathClaims:
        return HostedPaths(calls)
