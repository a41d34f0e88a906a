"""Every adapter of rooms keeps the promises of the port."""

import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from letagents.adapters.nudges.datagram import DatagramNudges
from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.nudges.postgres import PostgresNudges
from letagents.adapters.rooms.bells import Nudges
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.adapters.sql import sqlite_library
from letagents.adapters.sql.database import Database
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.rooms import RoomTransportContract
from letagents.testing.determinism import CountingIds, ManualClock


class TestMemoryRooms(RoomTransportContract):
    @pytest.fixture
    def rooms(self, clock: ManualClock) -> RoomTransport:
        return MemoryRooms(CountingIds(), clock)


def local(
    place: Path | str | Database, clock: ManualClock, *, process: int, nudges: Nudges
) -> LocalRooms:
    """Return local rooms as one process of many has them."""
    return LocalRooms(place, CountingIds(first=process * 1000), clock, nudges)


class TestLocalRooms(RoomTransportContract):
    @pytest.fixture(params=["sockets", "no sockets"])
    def nudges(self, request: pytest.FixtureRequest) -> Iterator[Callable[[int], Nudges]]:
        if request.param == "no sockets":
            yield lambda _process: NoNudges()
            return
        with tempfile.TemporaryDirectory(prefix="rooms-") as run_dir:
            yield lambda process: DatagramNudges(Path(run_dir), CountingIds(first=process))

    @pytest.fixture
    async def rooms(
        self, tmp_path: Path, clock: ManualClock, nudges: Callable[[int], Nudges]
    ) -> AsyncIterator[RoomTransport]:
        rooms = local(tmp_path / "rooms.db", clock, process=1, nudges=nudges(1))
        yield rooms
        await rooms.aclose()

    @pytest.fixture
    async def elsewhere(
        self,
        rooms: RoomTransport,
        tmp_path: Path,
        clock: ManualClock,
        nudges: Callable[[int], Nudges],
    ) -> AsyncIterator[RoomTransport]:
        rooms = local(tmp_path / "rooms.db", clock, process=2, nudges=nudges(2))
        yield rooms
        await rooms.aclose()


class TestLocalRoomsWithTheStandardLibrarysSqlite(RoomTransportContract):
    """What those have for whose system there is no newer one."""

    @pytest.fixture
    def database(self, tmp_path: Path) -> Iterator[Database]:
        database = Database.at(tmp_path / "rooms.db", sqlite_library.library(["sqlite3"]))
        yield database
        database.close()

    @pytest.fixture
    async def rooms(self, database: Database, clock: ManualClock) -> AsyncIterator[RoomTransport]:
        rooms = local(database, clock, process=1, nudges=NoNudges())
        yield rooms
        await rooms.aclose()


class TestRoomsInPostgres(RoomTransportContract):
    @pytest.fixture
    async def rooms(self, postgres: str, clock: ManualClock) -> AsyncIterator[RoomTransport]:
        nudges = PostgresNudges(postgres)
        rooms = local(postgres, clock, process=1, nudges=nudges)
        yield rooms
        await rooms.aclose()
        nudges.close()

    @pytest.fixture
    async def elsewhere(
        self, rooms: RoomTransport, postgres: str, clock: ManualClock
    ) -> AsyncIterator[RoomTransport]:
        nudges = PostgresNudges(postgres)
        rooms = local(postgres, clock, process=2, nudges=nudges)
        yield rooms
        await rooms.aclose()
        nudges.close()
