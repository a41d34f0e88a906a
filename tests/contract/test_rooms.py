"""Every adapter of rooms keeps the promises of the port."""

import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from letagents.adapters.nudges.datagram import DatagramNudges
from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.bells import Nudges
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.rooms import RoomTransportContract
from letagents.testing.determinism import CountingIds, ManualClock


class TestMemoryRooms(RoomTransportContract):
    @pytest.fixture
    def rooms(self, clock: ManualClock) -> RoomTransport:
        return MemoryRooms(CountingIds(), clock)


def local(tmp_path: Path, clock: ManualClock, *, process: int, nudges: Nudges) -> LocalRooms:
    """Return local rooms as one process of many has them."""
    return LocalRooms(tmp_path / "rooms.db", CountingIds(first=process * 1000), clock, nudges)


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
        rooms = local(tmp_path, clock, process=1, nudges=nudges(1))
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
        rooms = local(tmp_path, clock, process=2, nudges=nudges(2))
        yield rooms
        await rooms.aclose()
