"""A server, a worker in one of its rooms, and what calls with its bearer alone."""

from typing import Any

import attrs
import httpx
from tests.contract.served import TOKEN, client, hosting

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.rooms import HostedRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain.ids import RoomId
from letagents.domain.sessions import Connection
from letagents.testing.contracts.room_callers import ADA, ROOM, arrival
from letagents.testing.determinism import CountingIds, ManualClock


@attrs.define(eq=False)
class World:
    """A server, a worker in one of its rooms, and what calls with its bearer alone."""

    http: httpx.AsyncClient
    rooms: HostedRooms
    worker: Connection

    async def calls(self, method: str, path: str, **more: Any) -> tuple[int, Any]:
        bearer = self.worker.bearer.value if self.worker.bearer is not None else "lasb_none"
        shown = {"Authorization": f"Bearer {bearer}", **more.pop("headers", {})}
        answer = await self.http.request(method, path, headers=shown, **more)
        return answer.status_code, answer.json()


async def opened(*, takes_bearers: bool) -> World:
    clock = ManualClock()
    kept = MemoryRooms(CountingIds(), clock)
    served = attrs.evolve(hosting(kept, clock), takes_bearers=takes_bearers)
    http = client(served)
    rooms = HostedRooms(Calls(http, lambda: TOKEN))
    for room in (ROOM, RoomId("elsewhere")):
        await rooms.join(room)
    return World(http, rooms, await rooms.connect(ROOM, arrival(ADA, 1)))
