"""The server's socket, and what it says of its health."""

import socket
from collections.abc import AsyncIterator

import attrs
import httpx
import pytest
from tests.contract.served import hosting

from letagents.adapters.accounts.memory import MemoryAccounts
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain.errors import RoomsUnavailable
from letagents.domain.serving import NotServed
from letagents.entrypoints.server.app import application
from letagents.entrypoints.server.process import address_of, listen
from letagents.testing.determinism import CountingIds, ManualClock


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_it_listens_and_says_where(host: str) -> None:
    with listen(host, 0) as listening:
        port = listening.getsockname()[1]

        assert address_of(listening, host) == f"http://{host}:{port}"
        # Else the event loop leaves Nagle's delay on, which costs each answer 40 ms.
        assert listening.proto == socket.IPPROTO_TCP
        with pytest.raises(NotServed):
            listen(host, port)


@pytest.mark.parametrize("host", ["nowhere.invalid", "not a host"])
def test_where_nobody_can_listen_is_told(host: str) -> None:
    with pytest.raises(NotServed):
        listen(host, 0)


@attrs.define
class Full(MemoryAccounts):
    """Accounts on a disk that is full, or not."""

    is_full: bool = True
    asked: int = 0

    async def prove(self) -> None:
        self.asked += 1
        if self.is_full:
            raise RoomsUnavailable("The disk is full.", remedy="Make room.")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def http(clock: ManualClock) -> AsyncIterator[tuple[httpx.AsyncClient, Full]]:
    disk = Full(clock)
    served = attrs.evolve(hosting(MemoryRooms(CountingIds(), clock), clock), accounts=disk)
    transport = httpx.ASGITransport(application(served))
    async with httpx.AsyncClient(transport=transport, base_url="http://rooms.test") as client:
        yield client, disk


@pytest.mark.anyio
async def test_its_health_is_whether_it_can_write(
    http: tuple[httpx.AsyncClient, Full], clock: ManualClock
) -> None:
    client, disk = http
    full = [await client.get(path) for path in ("/healthz", "/readyz", "/api/health")]
    disk.is_full = False
    well = [await client.get(path) for path in ("/healthz", "/readyz")]
    asked = disk.asked

    assert [answer.status_code for answer in full] == [503, 503, 200]
    assert full[0].json() == {"status": "unhealthy", "error": "rooms_unavailable"}
    assert [answer.status_code for answer in well] == [200, 200]
    assert asked == 3  # what was well a moment ago is not written again
