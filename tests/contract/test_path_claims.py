"""Claimed paths, in memory, on this machine and in PostgreSQL."""

import pytest
from tests.contract.kept_rooms import InMemory, InPostgres, KeptRooms, OnThisMachine

from letagents.adapters.rooms.evidence import UnknownProcesses
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.kept.paths import KeptPaths
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.ports.board import Board
from letagents.ports.path_claims import PathClaims
from letagents.testing.contracts.path_claims import TERM, PathClaimsContract
from letagents.testing.determinism import CountingIds, ManualClock


class _Kept(PathClaimsContract):
    @pytest.fixture
    def board(self, rooms: KeptRooms) -> Board:
        return KeptBoard(rooms, TERM)

    @pytest.fixture
    def paths(self, rooms: KeptRooms) -> PathClaims:
        return KeptPaths(rooms, TERM)

    @pytest.fixture
    def paths_elsewhere(self, elsewhere: KeptRooms) -> PathClaims:
        return KeptPaths(elsewhere, TERM)


class TestPathsInMemory(InMemory, _Kept):
    @pytest.fixture
    def rooms(self, clock: ManualClock) -> KeptRooms:
        return MemoryRooms(CountingIds(), clock, UnknownProcesses())


class TestPathsOnThisMachine(OnThisMachine, _Kept):
    pass


class TestPathsInPostgres(InPostgres, _Kept):
    pass
