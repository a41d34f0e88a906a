"""An agent in a turn, and the process that acts for it at a server with what it is lent."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import httpx
from tests.contract.served import TOKEN, client, hosting
from tests.contract.supervised import SERVER, SocketWorld, socket_world

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.rooms import HostedRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.adapters.supervisor.socket import SocketSupervisor
from letagents.application.borrowed import BorrowedRooms
from letagents.domain.bindings import Claim
from letagents.domain.effects import State
from letagents.domain.ids import RoomId
from letagents.domain.messages import Latest
from letagents.domain.modes import Mode
from letagents.domain.sessions import Connection
from letagents.domain.surfaces import Caller, Profile
from letagents.entrypoints.mcp import supervised
from letagents.entrypoints.mcp.supervised import Supervised
from letagents.entrypoints.mcp.surface import tools_of
from letagents.settings import Settings
from letagents.testing.contracts.room_callers import ADA, arrival
from letagents.testing.contracts.supervisor import ROOM
from letagents.testing.determinism import CountingIds, ManualClock
from letagents.wiring.borrowed import open_borrowed_rooms

CALLER = Caller(Profile.SUPERVISED_ROOM_TURN, bounded=True, provider="codex", api_url=SERVER)


@attrs.define(eq=False)
class Watched(httpx.AsyncBaseTransport):
    """Remembers what is shown to the server, and is away when it is told to."""

    http: httpx.AsyncClient
    shown: list[str] = attrs.field(factory=list)
    rooms: list[str | None] = attrs.field(factory=list)
    is_away: bool = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.shown.append(request.headers.get("authorization", ""))
        self.rooms.append(request.headers.get("x-letagents-origin-room-id"))
        if self.is_away:
            raise httpx.ConnectError("away")
        path = request.url.raw_path.decode().removeprefix("/api")
        return await self.http.request(
            request.method, path, headers=request.headers, content=await request.aread()
        )


@attrs.define(eq=False)
class World:
    """An agent in a turn, and the process that acts for it."""

    supervised: SocketWorld
    kept: MemoryRooms
    worker: Connection
    process: Supervised
    server: Watched
    environ: dict[str, str]

    async def call(self, tool: str, number: object = 1, **arguments: object) -> dict[str, Any]:
        listed = {one.name: one for one in tools_of(CALLER, Mode.SUPERVISED)}
        return await supervised.called(listed[tool], self.process, arguments, number)

    async def said(self) -> list[str]:
        return [one.text for one in (await self.kept.read(RoomId(ROOM), Latest())).messages]

    def states(self) -> list[State]:
        return [one.state for one in self.supervised.place.journal._effects.values()]

    async def bind(self) -> None:
        assert self.supervised.server is not None
        sessions = self.supervised.server.methods.sessions
        claim = Claim("e1", ROOM, "w1", "x1", str(self.worker.session.session_id), SERVER)
        await sessions.bind(claim, self.worker.fence.token, self.worker)


@asynccontextmanager
async def borrowing(home: Path, caller: Caller = CALLER) -> AsyncIterator[World]:
    """Open a server, a supervisor at a socket in `home`, and a process of its agent."""
    clock = ManualClock()
    kept = MemoryRooms(CountingIds(), clock)
    http = client(attrs.evolve(hosting(kept, clock), takes_bearers=True))
    rooms = HostedRooms(Calls(http, lambda: TOKEN))
    await rooms.join(RoomId(ROOM))
    worker = await rooms.connect(RoomId(ROOM), arrival(ADA, 1))
    settings = Settings(home=home, api_url=SERVER, caller=caller)
    polls = caller.profile is Profile.SUPERVISED_MCP_POLLING
    async with socket_world(home, admits_polls=polls) as there:
        environ = {
            **there.environ,
            "LETAGENTS_SUPERVISOR_ROOM_ID": ROOM,
            "LETAGENTS_SUPERVISOR_AGENT_SESSION_ID": str(worker.session.session_id),
        }
        supervisor: SocketSupervisor = there.supervisor(**environ)
        server = Watched(http)

        def opening() -> AbstractAsyncContextManager[BorrowedRooms]:
            return open_borrowed_rooms(
                settings, supervisor, environ, home, transport=server, patience=0.0
            )

        world = World(there, kept, worker, Supervised(supervisor, caller, opening), server, environ)
        await world.bind()
        yield world
        await world.process.aclose()
