"""Rooms of both kinds that keep books, for the suites of what is kept in them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from tests.postgres_server import emptied

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.evidence import ToldProcesses
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.testing.contracts.room_callers import ROOM
from letagents.testing.determinism import CountingIds, ManualClock

KeptRooms = MemoryRooms | LocalRooms


class InMemory:
    """The rooms of one process; nobody else can have them."""

    @pytest.fixture
    def rooms(self, clock: ManualClock) -> KeptRooms:
        return MemoryRooms(CountingIds(), clock)

    @pytest.fixture
    def elsewhere(self, rooms: KeptRooms) -> KeptRooms:
        return rooms


class OnThisMachine:
    """The rooms of this machine, as two of its processes have them."""

    @pytest.fixture
    async def rooms(self, tmp_path: Path, clock: ManualClock) -> AsyncIterator[KeptRooms]:
        rooms = LocalRooms(tmp_path / "rooms.db", CountingIds(), clock, NoNudges())
        yield rooms
        await rooms.aclose()

    @pytest.fixture
    async def elsewhere(
        self, rooms: KeptRooms, tmp_path: Path, clock: ManualClock
    ) -> AsyncIterator[KeptRooms]:
        there = LocalRooms(tmp_path / "rooms.db", CountingIds(first=1000), clock, NoNudges())
        yield there
        await there.aclose()


class InPostgres:
    """Rooms that a PostgreSQL keeps, as two processes have them."""

    @pytest.fixture
    async def rooms(self, postgres: str, clock: ManualClock) -> AsyncIterator[KeptRooms]:
        rooms = LocalRooms(postgres, CountingIds(), clock, NoNudges())
        yield rooms
        await rooms.aclose()

    @pytest.fixture
    async def elsewhere(
        self, rooms: KeptRooms, postgres: str, clock: ManualClock
    ) -> AsyncIterator[KeptRooms]:
        there = LocalRooms(postgres, CountingIds(first=1000), clock, NoNudges())
        yield there
        await there.aclose()


KINDS = ("memory", "local", "postgres")


@asynccontextmanager
async def opened(
    kind: str, folder: Path, clock: ManualClock, processes: ToldProcesses, *, term: timedelta
) -> AsyncIterator[KeptRooms]:
    """Open rooms of a kind, with the one that callers call in."""
    if kind == "memory":
        memory = MemoryRooms(CountingIds(), clock, processes)
        await memory.join(ROOM)
        yield memory
        return
    place = place_for(kind, folder)
    local = LocalRooms(place, CountingIds(), clock, NoNudges(), processes, term=term)
    await local.join(ROOM)
    yield local
    await local.aclose()


def place_for(kind: str, folder: Path) -> Path | str:
    """Return where local rooms of that kind, `local` or `postgres`, can be kept."""
    return emptied() if kind == "postgres" else folder / "rooms.db"
