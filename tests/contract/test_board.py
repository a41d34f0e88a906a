"""Boards, in memory and on this machine."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms import kept_board
from letagents.adapters.rooms.evidence import ToldProcesses
from letagents.adapters.rooms.kept_board import KeptBoard
from letagents.adapters.rooms.kept_wakes import KeptWakes
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain.board import Query
from letagents.domain.messages import Latest
from letagents.domain.sessions import Connection
from letagents.ports.board import Board
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.board import BoardContract
from letagents.testing.contracts.room_callers import ADA, ROOM, arrival
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
