"""Rooms and boards on a server that listens on a socket, as its clients really reach it."""

from collections.abc import AsyncIterator

import pytest
from tests.contract.lives import Lives
from tests.contract.served import TOKEN, KeptRooms, Served, hosting
from tests.integration.listening import listening

from letagents.adapters.rooms.hosted.board import HostedBoard
from letagents.adapters.rooms.hosted.calls import Calls, client_of
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.ports.board import Board
from letagents.ports.processes import Processes
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.board import BoardContract
from letagents.testing.contracts.rooms import RoomTransportContract
from letagents.testing.determinism import CountingIds, ManualClock


class _OverASocket(Served):
    @pytest.fixture
    def kept(self, clock: ManualClock, processes: Processes) -> KeptRooms:
        return MemoryRooms(CountingIds(), clock, processes)

    @pytest.fixture
    async def calls(self, kept: KeptRooms, clock: ManualClock) -> AsyncIterator[Calls]:
        async with listening(hosting(kept, clock)) as url, client_of(url) as http:
            yield Calls(http, lambda: TOKEN)


@pytest.mark.long
class TestRoomsOverASocket(_OverASocket, RoomTransportContract):
    pass


@pytest.mark.long
class TestBoardOverASocket(_OverASocket, BoardContract):
    @pytest.fixture
    async def calls(self, kept: KeptRooms, clock: ManualClock) -> AsyncIterator[Calls]:
        self.lives = Lives(kept)
        async with listening(hosting(kept, clock)) as url, client_of(url) as http:
            http.event_hooks["request"].append(self.lives.before)
            yield Calls(http, lambda: TOKEN)

    @pytest.fixture
    def board(self, calls: Calls) -> Board:
        return HostedBoard(calls)

    def lives_in(self, rooms: RoomTransport, process: str) -> None:
        """Whoever arrives from now on does so in a process of its own, as all do."""

    def kill(self, rooms: RoomTransport) -> None:
        self.lives.kill()
