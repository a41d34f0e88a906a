"""Process connections of every kind keep the promises of the port."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import anyio
import attrs
import httpx
import pytest
from tests.contract.kept_rooms import place_for
from tests.contract.served import TOKEN, KeptRooms, hosting
from tests.integration.listening import listening

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.hosted.attendance import HostedAttendance
from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.rooms import HostedRooms
from letagents.adapters.rooms.kept.attendance import KeptAttendance
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.testing.contracts.attendance import AttendanceContract
from letagents.testing.determinism import CountingIds, ManualClock

pytestmark = pytest.mark.anyio


class Kept:
    """Rooms that keep books, in each way in which they do."""

    @pytest.fixture(params=["memory", "local", "postgres"])
    async def kept(
        self, request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock
    ) -> AsyncIterator[KeptRooms]:
        if request.param == "memory":
            yield MemoryRooms(CountingIds(), clock, pause=never)
            return
        place = place_for(request.param, tmp_path)
        rooms = LocalRooms(place, CountingIds(), clock, NoNudges(), pause=never)
        yield rooms
        await rooms.aclose()


async def never(seconds: float) -> None:
    raise AssertionError(f"nobody is to wait for {seconds} s here")


class TestKeptAttendance(Kept, AttendanceContract):
    @pytest.fixture
    def rooms(self, kept: KeptRooms) -> KeptRooms:
        return kept

    @pytest.fixture
    def attendance(self, kept: KeptRooms) -> KeptAttendance:
        # Nobody but the room itself tells it of what other server processes do.
        return KeptAttendance(kept, CountingIds(first=9000), every=timedelta(milliseconds=50))


class TestHostedAttendance(Kept, AttendanceContract):
    @pytest.fixture
    def roll(self, kept: KeptRooms) -> KeptAttendance:
        self.open = KeptAttendance(kept, CountingIds(first=9000))
        return self.open

    @pytest.fixture
    async def http(
        self, kept: KeptRooms, clock: ManualClock, roll: KeptAttendance
    ) -> AsyncIterator[httpx.AsyncClient]:
        served = attrs.evolve(hosting(kept, clock), roll=roll)
        async with (
            listening(served) as address,
            httpx.AsyncClient(base_url=address, trust_env=False) as client,
        ):
            yield client

    @pytest.fixture
    def calls(self, http: httpx.AsyncClient) -> Calls:
        return Calls(http, lambda: TOKEN)

    @pytest.fixture
    def rooms(self, calls: Calls) -> HostedRooms:
        return HostedRooms(calls)

    @pytest.fixture
    def attendance(self, calls: Calls) -> HostedAttendance:
        return HostedAttendance(calls, calls)

    async def settle(self) -> None:
        with anyio.fail_after(5):
            while self.open.count:  # noqa: ASYNC110  # the server's side has no event for it
                await anyio.sleep(0.005)
