"""What other processes do with an approval, in the test of what only processes can show."""

import asyncio
import multiprocessing
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Barrier
from pathlib import Path

from tests.integration.rooms_processes import rooms_at

from letagents.adapters.rooms import ledger
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.domain.errors import LetAgentsError
from letagents.domain.fencing import Fence
from letagents.domain.intents import Approval
from letagents.domain.tasks import Patch, Status
from letagents.testing.contracts.room_callers import ROOM

LOADED = ledger
"""What processes that are forked from one which has loaded this need not load again."""

PATIENCE = 60

_FORKS = "forkserver" in multiprocessing.get_all_start_methods()
CONTEXT = multiprocessing.get_context("forkserver" if _FORKS else "spawn")
if _FORKS:
    CONTEXT.set_forkserver_preload([__name__])


def use(
    place: Path,
    number: int,
    fence: Fence,
    approval: Approval,
    start: Barrier,
    told: "SimpleQueue[str]",
) -> None:
    """Cancel the first task with `approval` as soon as all are there; tell what came of it."""
    told.put(asyncio.run(_used(place, number, fence, approval, start)))


async def _used(place: Path, number: int, fence: Fence, approval: Approval, start: Barrier) -> str:
    rooms = rooms_at(place, process=number)
    board = KeptBoard(rooms)
    await board.task(ROOM, "task_1")  # so that nothing has to be opened any more
    await asyncio.to_thread(start.wait, PATIENCE)
    try:
        patch = Patch(status=Status.CANCELLED)
        view = await board.change(ROOM, "task_1", patch, fence, approval=approval)
    except LetAgentsError as refused:
        return refused.code
    finally:
        await rooms.aclose()
    return view.task.status.value
