"""What it costs to say of a message whom it is for, in a room with many agents."""

import asyncio
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.benchmarks.reporting import Row
from tests.benchmarks.rooms_store import ROOM, arrival, draft, entered, rooms_at

from letagents.adapters.rooms.local import LocalRooms
from letagents.domain.fencing import Fence
from letagents.domain.messages import Latest

AGENTS = 200
TIMES = 300


def activation(home: Path) -> list[Row]:
    """Read one message as one of many agents, beside reading it as nobody."""
    return asyncio.run(_measured(home))


async def _measured(home: Path) -> list[Row]:
    rooms = rooms_at(home / "rooms.db")
    ours = await entered(rooms)
    for number in range(2, AGENTS + 1):
        await rooms.connect(ROOM, arrival(number))
    await rooms.post(ROOM, draft(), ours.fence)
    as_nobody = await _milliseconds(rooms, None)
    as_one = await _milliseconds(rooms, ours.fence)
    await rooms.aclose()
    label = f"activation of one message, {AGENTS} agents in the room, median ms"
    details = f"reading it as nobody {as_nobody:.2f}"
    return [Row(label, as_one - as_nobody, 1.0, details)]


async def _milliseconds(rooms: LocalRooms, viewer: Fence | None) -> float:
    taken = []
    for _ in range(TIMES):
        began = time.perf_counter()
        await rooms.read(ROOM, Latest(1), viewer)
        taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken)


MEASURED: Sequence[Callable[[Path], list[Row]]] = (activation,)
