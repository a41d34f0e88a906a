"""Every adapter of rooms that can be searched finds the same."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.adapters.sql import sqlite_library
from letagents.adapters.sql.database import Database
from letagents.testing.contracts.room_search import RoomSearchContract, Searchable
from letagents.testing.determinism import CountingIds, ManualClock


class TestMemoryRooms(RoomSearchContract):
    @pytest.fixture
    def rooms(self, clock: ManualClock) -> Searchable:
        return MemoryRooms(CountingIds(), clock)


class TestLocalRooms(RoomSearchContract):
    @pytest.fixture
    async def rooms(self, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Searchable]:
        rooms = LocalRooms(tmp_path / "rooms.db", CountingIds(), clock, NoNudges())
        yield rooms
        await rooms.aclose()

    @pytest.fixture
    async def elsewhere(
        self, rooms: Searchable, tmp_path: Path, clock: ManualClock
    ) -> AsyncIterator[Searchable]:
        rooms = LocalRooms(tmp_path / "rooms.db", CountingIds(first=1000), clock, NoNudges())
        yield rooms
        await rooms.aclose()


class TestLocalRoomsWithTheStandardLibrarysSqlite(RoomSearchContract):
    @pytest.fixture
    def database(self, tmp_path: Path) -> Iterator[Database]:
        database = Database.at(tmp_path / "rooms.db", sqlite_library.library(["sqlite3"]))
        yield database
        database.close()

    @pytest.fixture
    async def rooms(self, database: Database, clock: ManualClock) -> AsyncIterator[Searchable]:
        rooms = LocalRooms(database, CountingIds(), clock, NoNudges())
        yield rooms
        await rooms.aclose()


class TestRoomsInPostgres(RoomSearchContract):
    @pytest.fixture
    async def rooms(self, postgres: str, clock: ManualClock) -> AsyncIterator[Searchable]:
        rooms = LocalRooms(postgres, CountingIds(), clock, NoNudges())
        yield rooms
        await rooms.aclose()

    @pytest.fixture
    async def elsewhere(
        self, rooms: Searchable, postgres: str, clock: ManualClock
    ) -> AsyncIterator[Searchable]:
        rooms = LocalRooms(postgres, CountingIds(first=1000), clock, NoNudges())
        yield rooms
        await rooms.aclose()
