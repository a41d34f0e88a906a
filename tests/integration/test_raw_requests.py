"""Requests as no library sends them, over a real connection: refused, and the server goes on."""

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import anyio
import attrs
import pytest
from tests.contract.served import ADA, TOKEN, hosting
from tests.integration.listening import listening

from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain.ids import RoomId
from letagents.testing.determinism import CountingIds, ManualClock

pytestmark = pytest.mark.anyio

SIGNED_IN = f"Authorization: Bearer {TOKEN}\r\n"


@attrs.frozen
class Server:
    """A server that listens, with one room."""

    host: str
    port: int
    rooms: MemoryRooms

    async def told(self, request: str | bytes) -> str:
        """Return all that is answered to the bytes of a request."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        sent = request.encode("latin-1") if isinstance(request, str) else request
        with anyio.fail_after(10):
            writer.write(sent)
            answer = b""
            try:
                await writer.drain()
                answer = await reader.read()
            except ConnectionError:
                pass
        writer.close()
        return answer.decode("latin-1")

    async def status(self, target: str, more: str = "") -> int:
        """Return with which status a path is answered that is sent as it is."""
        answer = await self.told(
            f"GET {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{SIGNED_IN}{more}\r\n"
        )
        return int(answer.split(" ", 2)[1])


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    clock = ManualClock()
    rooms = MemoryRooms(CountingIds(), clock)
    await rooms.join(RoomId("shed"))
    served = hosting(rooms, clock)
    await served.accounts.enter(ADA, RoomId("shed"))
    async with listening(served, idle=1) as address:
        at = urlsplit(address)
        yield Server(str(at.hostname), at.port or 0, rooms)
        assert [str(one.room_id) for one in await rooms.known()] == ["shed"]


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/rooms/shed/messages", 200),
        ("/rooms/%73hed/messages", 200),
        ("/rooms/shed%2fmessages", 200),
        ("/rooms/../messages", 400),
        ("/rooms/../../etc/passwd", 404),
        ("/rooms/a/../shed/messages", 400),
        ("/rooms/shed/../shed/messages", 400),
        ("/rooms/./shed/messages", 400),
        ("/rooms/%2e%2e/messages", 400),
        ("/rooms/..%2fshed/messages", 400),
        ("/rooms//messages", 400),
        ("/rooms//shed/messages", 404),
        ("//rooms/shed/messages", 404),
        ("/rooms/shed//messages", 200),
        ("/rooms/shed/messages/", 404),
        ("/rooms/shed%00/messages", 400),
        ("/rooms/shed/messages%00", 404),
        ("/rooms/%ff/messages", 400),
        ("/rooms/shed;x=1/messages", 404),
        ("/rooms/shed/messages#x", 404),
        ("/rooms/shed/messages?after=%0d%0aX-Evil:1", 400),
        ("/rooms/%0d%0aX-Evil:1/messages", 404),
        ("/rooms/" + "x/" * 5000 + "messages", 400),
    ],
)
async def test_a_path_names_one_room_or_none(server: Server, target: str, status: int) -> None:
    assert await server.status(target) == status


@pytest.mark.parametrize(
    "request_",
    [
        "GET /rooms/shed/messages\r\n\r\n",
        "GET /rooms/shed/messages HTTP/9.9\r\n\r\n",
        "\x00\x01\x02\r\n\r\n",
        "GET /rooms/\xff\xfe/messages HTTP/1.1\r\nHost: x\r\n\r\n",
        f"GET /rooms HTTP/1.1\r\nHost: x\r\n{SIGNED_IN}X-Long: {'x' * 200_000}\r\n\r\n",
        f"GET /{'x' * 200_000} HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /rooms/shed/join HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        (
            "POST /rooms/shed/join HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
            "Content-Length: 6\r\n\r\nabcdef"
        ),
        "POST /rooms/shed/join HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "GET /rooms HTTP/1.1\r\nHost: x\r\nAuthorization : Bearer x\r\n\r\n",
    ],
    ids=range(10),
)
async def test_what_is_no_request_does_no_harm(server: Server, request_: str) -> None:
    answer = await server.told(request_)

    assert not answer or answer.split(" ", 2)[1] in {"400", "401", "404", "431"}, answer
    assert await server.status("/rooms/shed/messages") == 200


async def test_a_body_that_does_not_end_is_cut_at_its_bound(server: Server) -> None:
    piece = f"{65536:x}\r\n{'x' * 65536}\r\n"
    head = (
        f"POST /rooms/shed/messages HTTP/1.1\r\nHost: x\r\n{SIGNED_IN}"
        "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    answer = await server.told(head + piece * 20)

    assert not answer or answer.split(" ", 2)[1] == "413"
    assert await server.status("/rooms/shed/messages") == 200


async def test_who_is_refused_by_a_server_that_stops_is_heard_to_the_end() -> None:
    """Hung up on while they send, they would lose the answer."""
    served = hosting(MemoryRooms(CountingIds(), ManualClock()), ManualClock())
    served.stopping.set()
    async with listening(served) as address:
        at = urlsplit(address)
        reader, writer = await asyncio.open_connection(at.hostname, at.port)
        writer.write(b"POST /agents HTTP/1.1\r\nHost: x\r\nContent-Length: 40000\r\n\r\n")
        for _ in range(4):
            writer.write(b"x" * 10_000)
            await writer.drain()
            await asyncio.sleep(0.02)  # so that it comes in pieces
        with anyio.fail_after(30):
            answer = await reader.read()
        writer.close()

    assert answer.startswith(b"HTTP/1.1 401 ")
    assert answer.endswith(b"}")
