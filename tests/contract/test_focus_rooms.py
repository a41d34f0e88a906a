"""Focus rooms, in memory, on this machine, in PostgreSQL, and behind a server."""

import pytest
from tests.contract.kept_rooms import InMemory, InPostgres, KeptRooms, OnThisMachine
from tests.contract.served import Served

from letagents.adapters.rooms.hosted.board import HostedBoard
from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.focus_rooms import HostedFocusRooms
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.kept.focus_rooms import KeptFocusRooms
from letagents.ports.board import Board
from letagents.ports.focus_rooms import FocusRooms
from letagents.testing.contracts.focus_rooms import FocusRoomsContract


class _Kept(FocusRoomsContract):
    @pytest.fixture
    def board(self, rooms: KeptRooms) -> Board:
        return KeptBoard(rooms)

    @pytest.fixture
    def focus(self, rooms: KeptRooms) -> FocusRooms:
        return KeptFocusRooms(rooms)

    @pytest.fixture
    def focus_elsewhere(self, elsewhere: KeptRooms) -> FocusRooms:
        return KeptFocusRooms(elsewhere)


class TestFocusRoomsInMemory(InMemory, _Kept):
    pass


class TestFocusRoomsOnThisMachine(OnThisMachine, _Kept):
    pass


@pytest.mark.long
class TestFocusRoomsInPostgres(InPostgres, _Kept):
    pass


class TestHostedFocusRooms(Served, FocusRoomsContract):
    @pytest.fixture
    def board(self, calls: Calls) -> Board:
        return HostedBoard(calls)

    @pytest.fixture
    def focus(self, calls: Calls) -> FocusRooms:
        return HostedFocusRooms(calls)
