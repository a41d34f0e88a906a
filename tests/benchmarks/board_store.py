"""The board in SQLite: a claim beside a bare synced insert, and a board with many tasks."""

import asyncio
import statistics
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

from tests.benchmarks.reporting import Row
from tests.benchmarks.rooms_store import ROOM, bare, entered, rooms_at

from letagents.adapters.rooms.book import Book
from letagents.adapters.rooms.kept import tasks as kept_tasks
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.kept.board_sheet import Sheet
from letagents.adapters.rooms.local import LocalRooms
from letagents.domain.board import Query
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Patch, Proposal, Status
from letagents.wire import board as plain
from letagents.wire import bounds

TERM = timedelta(minutes=15)
CLAIM = Patch(status=Status.ASSIGNED)
DESCRIPTION = "What is to be done, and how somebody will see that it was. " * 8


async def _with_tasks(rooms: LocalRooms, first: int, count: int) -> None:
    """Put tasks on the board that can be claimed, all in one transaction."""

    def put(book: Book) -> None:
        sheet = Sheet(book, TERM)
        for number in range(first, first + count):
            proposal = Proposal(
                title=f"Make part {number} of the importer read what the other wrote",
                description=DESCRIPTION,
            )
            kept_tasks.put(sheet, proposal, created_by="Grace", created_by_key=None, accept=True)

    await rooms.change(ROOM, put)


def claims(home: Path, rounds: int = 40, each: int = 20) -> list[Row]:
    """Claims of one agent, and bare inserts, in turns."""

    async def measure() -> tuple[list[float], list[float]]:
        rooms = rooms_at(home / "rooms.db")
        ours, board = await entered(rooms), KeptBoard(rooms, TERM)
        plain_spans, spans = [], []
        with bare(home / "rooms.db") as other:
            for round_ in range(rounds):
                first = round_ * each + 1
                await _with_tasks(rooms, first, each)
                rows = [other.next_row() for _ in range(each)]
                begin = time.perf_counter()
                for one in rows:
                    other.insert(one)
                middle = time.perf_counter()
                for number in range(first, first + each):
                    await board.change(ROOM, f"task_{number}", CLAIM, ours.fence)
                end = time.perf_counter()
                plain_spans.append((middle - begin) / each)
                spans.append((end - middle) / each)
        await rooms.aclose()
        return plain_spans, spans

    bare_ones, ours = (statistics.median(one) for one in asyncio.run(measure()))
    details = f"bare {bare_ones * 1e6:.0f} us, claim {ours * 1e6:.0f} us"
    return [Row("a claim, synced / a bare synced insert", ours / bare_ones, 3, details)]


def a_large_board(home: Path, tasks: int = 1_000, left: int = 50, times: int = 200) -> list[Row]:
    """Reading a board on which few of many tasks are open, some of them being worked on."""

    async def measure() -> tuple[float, int]:
        rooms = rooms_at(home / "rooms.db")
        ours, board = await entered(rooms), KeptBoard(rooms, TERM)
        await _with_tasks(rooms, 1, tasks)
        await _close(rooms, board, ours, tasks, left)
        query, spans = Query(limit=100), []
        for _ in range(times):
            begin = time.perf_counter()
            page = await board.tasks(ROOM, query)
            spans.append(time.perf_counter() - begin)
        assert len(page.tasks) == left
        size = bounds.size([plain.row(view) for view in page.tasks])
        await rooms.aclose()
        return statistics.median(spans), size

    span, size = asyncio.run(measure())
    what = f"get_board with {left} open of {tasks:,} tasks"
    return [
        Row(f"{what}, in the store, ms", span * 1e3, 10),
        Row(f"{what}, KiB of its rows", size / 1024, 24),
    ]


async def _close(
    rooms: LocalRooms, board: KeptBoard, ours: Connection, tasks: int, left: int
) -> None:
    def close(book: Book) -> None:
        sheet = Sheet(book, TERM)
        for number in range(1, tasks - left + 1):
            kept_tasks.change(sheet, f"task_{number}", Patch(status=Status.CANCELLED))

    await rooms.change(ROOM, close)
    for number in range(tasks - left + 1, tasks - left + 11):
        await board.change(ROOM, f"task_{number}", CLAIM, ours.fence)


MEASURED: Sequence[Callable[[Path], list[Row]]] = (claims, a_large_board)
