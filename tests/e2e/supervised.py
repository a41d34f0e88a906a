"""`letagents supervise` as a process, with one agent in a turn, for the suite of the port."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
from tests.contract.supervised import SERVER, put_agent_in_turn
from tests.e2e.shell import Running

from letagents.adapters.supervision.sql import SqlSupervision
from letagents.adapters.supervisor.socket import SocketSupervisor
from letagents.adapters.system import SystemIds
from letagents.domain.ids import RoomId
from letagents.domain.supervised import OwnSession
from letagents.domain.surfaces import LOCAL_ROOMS
from letagents.settings import Settings
from letagents.testing.contracts.room_callers import ADA, arrival
from letagents.testing.contracts.supervisor import ROOM
from letagents.wiring.client import open_letagents

PLACE = {
    "LETAGENTS_SUPERVISOR_ENTRY_ID": "e1",
    "LETAGENTS_SUPERVISOR_WORK_ATTEMPT_ID": "w1",
    "LETAGENTS_SUPERVISOR_EXECUTION_GENERATION_ID": "x1",
}


def coordinates(home: Path) -> dict[str, str]:
    """Return by what a process of the agent finds its supervisor."""
    return {**PLACE, "LETAGENTS_SUPERVISOR_DAEMON_SOCKET": str(home / "daemon.sock")}


async def agent_in_turn(home: Path, api_url: str = SERVER) -> None:
    """Let there be an agent in the journal of that home, whose rooms are at that address."""
    journal = SqlSupervision(home / "supervisor.db", 0)
    await journal.change(lambda one: put_agent_in_turn(one, api_url))
    await journal.aclose()


async def agent_in_local_room(home: Path) -> OwnSession:
    """Let the agent have a session in a room of the machine; return it."""
    await agent_in_turn(home, LOCAL_ROOMS)
    async with open_letagents(Settings(home=home)) as letagents:
        await letagents.rooms.join(RoomId(ROOM))
        made = await letagents.rooms.connect(RoomId(ROOM), arrival(ADA, 1))
    return OwnSession(str(made.session.session_id), ROOM, made.fence.token)


@attrs.define(eq=False)
class ProcessWorld:
    """A supervisor in `home`, and the processes of its agent."""

    home: Path
    session: OwnSession
    generation: int = 0
    _running: Running | None = None
    _clients: list[SocketSupervisor] = attrs.field(factory=list)

    def supervisor(self) -> SocketSupervisor:
        socket = self.home / "daemon.sock"
        environ = {**coordinates(self.home), "LETAGENTS_API_URL": LOCAL_ROOMS}
        made = SocketSupervisor(
            environ, socket, self.home, SystemIds(), patience=30, quick=30, gap=0
        )
        self._clients.append(made)
        return made

    async def take_over(self) -> None:
        await self.end()
        words = ["supervise", "--foreground", "--json"]
        self._running = await asyncio.to_thread(Running, self.home, words)
        told = json.loads(await asyncio.to_thread(self._running.line))
        self.generation = told["generation"]

    async def end(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.process.kill()
            await asyncio.to_thread(running.ended)

    async def cursor(self) -> str | None:
        journal = SqlSupervision(self.home / "supervisor.db", self.generation)
        binding = await journal.look(lambda one: one.binding("e1"))
        await journal.aclose()
        return str(binding.cursor) if binding is not None and binding.cursor else None

    def performed(self) -> int:
        return 0

    async def aclose(self) -> None:
        for client in self._clients:
            await client.aclose()
        await self.end()


@asynccontextmanager
async def process_world(home: Path) -> AsyncIterator[ProcessWorld]:
    """Open a world whose agent is in a turn."""
    world = ProcessWorld(home, await agent_in_local_room(home))
    try:
        await world.take_over()
        yield world
    finally:
        await world.aclose()
