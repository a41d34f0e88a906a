"""Boards on a server keep the promises of the port, whatever the server keeps them in."""

from collections.abc import AsyncIterator

import pytest
from tests.contract.lives import Lives
from tests.contract.served import TOKEN, KeptRooms, Served, client, hosting

from letagents.adapters.rooms.hosted.board import HostedBoard
from letagents.adapters.rooms.hosted.calls import Calls
from letagents.ports.board import Board
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.board import BoardContract
from letagents.testing.determinism import ManualClock


class TestHostedBoard(Served, BoardContract):
    @pytest.fixture
    async def calls(self, kept: KeptRooms, clock: ManualClock) -> AsyncIterator[Calls]:
        self.lives = Lives(kept)
        async with client(hosting(kept, clock)) as http:
            http.event_hooks["request"].append(self.lives.before)
            yield Calls(http, lambda: TOKEN)

    @pytest.fixture
    def board(self, calls: Calls) -> Board:
        return HostedBoard(calls)

    def lives_in(self, rooms: RoomTransport, process: str) -> None:
        """Whoever arrives from now on does so in a process of its own, as all do."""

    def kill(self, rooms: RoomTransport) -> None:
        self.lives.kill()
