"""Every adapter of rooms keeps the promises of the port."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.rooms import RoomTransportContract
from letagents.testing.determinism import CountingIds, ManualClock


class TestMemoryRooms(RoomTransportContract):
    @pytest.fixture
    def rooms(self, clock: ManualClock) -> RoomTransport:
        return MemoryRooms(CountingIds(), clock)


class TestLocalRooms(RoomTransportContract):
    @pytest.fixture
    async def rooms(self, tmp_path: Path, clock: ManualClock) -> AsyncIterator[RoomTransport]:
        rooms = LocalRooms(tmp_path / "rooms.db", CountingIds(), clock, NoNudges())
        yield rooms
        await rooms.aclose()

    @pytest.fixture
    async def elsewhere(
        self, rooms: RoomTransport, tmp_path: Path, clock: ManualClock
    ) -> AsyncIterator[RoomTransport]:
        rooms = LocalRooms(tmp_path / "rooms.db", CountingIds(first=1000), clock, NoNudges())
        yield rooms
        await rooms.aclose()
