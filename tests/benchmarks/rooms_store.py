"""Rooms in SQLite, beside a bare `sqlite3` that inserts the same row with the same pragmas.

What is compared is measured in turns, a few calls of each, so that what else the machine does and
what the disk is busy with falls on all of them alike.
"""

import asyncio
import multiprocessing
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from multiprocessing.connection import Connection as Pipe
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import attrs
from tests.benchmarks.reporting import Row, percentile

from letagents.adapters.nudges.datagram import DatagramNudges
from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms import local_reading
from letagents.adapters.rooms.bells import Nudges
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.local_store import LocalStore
from letagents.adapters.sql.engine import open_engine
from letagents.adapters.system import SystemClock, SystemIds
from letagents.domain.ids import MessageId, RoomId, WorkerId
from letagents.domain.messages import After, Before, Draft, Latest
from letagents.domain.sessions import Arrival, Connection

TEXT = "All tests pass; I take the next task on the board unless somebody objects."
IDS = SystemIds()
ROOM = RoomId("workshop")
Columns = tuple[object, ...]


@attrs.define
class Bare:
    """A connection that inserts rows like ours, each in a transaction of its own."""

    connection: Any
    room: str
    number: int = 0

    def next_row(self) -> Columns:
        """Return a message as the table holds it, in the order of its columns."""
        self.number += 1
        return row(self.room, self.number)

    def insert(self, message: Columns) -> None:
        """Insert one message's row, synced to the disk."""
        self.connection.execute("BEGIN IMMEDIATE")
        self.connection.execute(INSERT, message)
        self.connection.execute("COMMIT")


INSERT = f"INSERT INTO messages VALUES ({', '.join('?' * 12)})"  # noqa: S608  # only marks


def row(room: str, number: int) -> Columns:
    """Return a message as the table holds it, in the order of its columns."""
    sender, key = "Worker1 | Ada's agent | Claude Code", IDS.client_key().value
    session, agent = f"local_{'a' * 64}", f"ada/worker-{'1' * 32}"
    return (
        room, number, session, agent, sender, TEXT, "agent", None, 1_893_456_000_000_000,
        None, None, key,
    )  # fmt: skip


@contextmanager
def bare(place: Path, room: str = "bare") -> Iterator[Bare]:
    """Open the database bare: the driver's own connection, set up as ours are."""
    engine = open_engine(place)
    held = engine.raw_connection()
    held.dbapi_connection.execute(  # type: ignore[union-attr]  # it has one while it is held
        "INSERT OR IGNORE INTO rooms (room_id, display_name, created_at, active_at, last_number) "
        "VALUES (?, ?, 0, 0, 0)",
        (room, room),
    )
    yield Bare(held.dbapi_connection, room)
    held.close()
    engine.dispose()


def rooms_at(place: Path, nudges: Nudges | None = None) -> LocalRooms:
    """Return rooms as a process has them."""
    nudges = nudges or DatagramNudges(place.parent / "run", IDS)
    return LocalRooms(place, IDS, SystemClock(), nudges)


def draft() -> Draft:
    """Return something new to say."""
    return Draft(TEXT, IDS.client_key())


def arrival(number: int) -> Arrival:
    """Return how a worker arrives for the first time."""
    worker = WorkerId(f"worker_{number:032x}")
    return Arrival(
        token=IDS.token(),
        agent_key=f"ada/worker-{number:032x}",
        instance_id=str(worker),
        display_name=f"Worker{number}",
        owner_label="Ada",
        ide_label="Claude Code",
        runtime="claude-code",
        worker_id=worker,
    )


async def entered(rooms: LocalRooms, worker: int = 1) -> Connection:
    """Return a worker's connection in the room."""
    await rooms.join(ROOM)
    return await rooms.connect(ROOM, arrival(worker))


# --- one process ----------------------------------------------------------------------------------


def one_after_another(home: Path, rounds: int = 60, each: int = 50) -> list[Row]:
    """One caller after another."""

    async def speak(rooms: LocalRooms, ours: Connection, drafts: Sequence[Draft]) -> None:
        for one in drafts:
            await rooms.post(ROOM, one, ours.fence)

    spans = asyncio.run(in_turns(home / "rooms.db", speak, rounds, each))
    return [beside_bare("posts, one caller after another / bare rate (aim: 0.4)", spans, 0.25)]


def sixteen_at_once(home: Path, rounds: int = 60, each: int = 160) -> list[Row]:
    """Sixteen callers of one process at once."""

    async def speak(rooms: LocalRooms, ours: Connection, drafts: Sequence[Draft]) -> None:
        async def one(share: Sequence[Draft]) -> None:
            for some in share:
                await rooms.post(ROOM, some, ours.fence)

        await asyncio.gather(*(one(drafts[caller::16]) for caller in range(16)))

    spans = asyncio.run(in_turns(home / "rooms.db", speak, rounds, each))
    return [beside_bare("posts, 16 callers at once / bare rate", spans, 0.8)]


@attrs.define
class Spans:
    """Seconds per row, bare and ours, of each round."""

    bare: list[float] = attrs.field(factory=list)
    ours: list[float] = attrs.field(factory=list)


async def in_turns(place: Path, speak: Any, rounds: int, each: int) -> Spans:
    """Measure rounds of `each` rows, bare and ours in turns."""
    spans = Spans()
    rooms = rooms_at(place)
    ours = await entered(rooms)
    with bare(place) as other:
        for _ in range(rounds):
            drafts = [draft() for _ in range(each)]
            rows = [other.next_row() for _ in range(each)]
            begin = time.perf_counter()
            for one in rows:
                other.insert(one)
            middle = time.perf_counter()
            await speak(rooms, ours, drafts)
            end = time.perf_counter()
            spans.bare.append((middle - begin) / each)
            spans.ours.append((end - middle) / each)
    await rooms.aclose()
    return spans


def beside_bare(what: str, spans: Spans, reach: float) -> Row:
    """Return the ratio of the rates in the middle round."""
    plain, ours = statistics.median(spans.bare), statistics.median(spans.ours)
    details = f"bare {plain * 1e6:.0f} us, ours {ours * 1e6:.0f} us a row"
    return Row(what, plain / ours, reach, details, at_least=True)


# --- eight processes ------------------------------------------------------------------------------

FORKED = multiprocessing.get_context(
    "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
)


def started(target: Callable[..., None], *arguments: object) -> tuple[BaseProcess, Pipe]:
    """Start a process that runs `target` with a pipe to us before its other arguments."""
    ours, theirs = FORKED.Pipe()
    process: BaseProcess = FORKED.Process(  # type: ignore[attr-defined]  # both contexts have it
        target=target, args=(theirs, *arguments), daemon=True
    )
    process.start()
    return process, ours


def eight_processes(home: Path, each: int = 400) -> list[Row]:
    """Eight processes, each with one caller after another, all at once."""
    place = home / "rooms.db"
    asyncio.run(_make(place))
    plain = plain_spans(place)
    others = [started(_speak_when_told, place, worker, each) for worker in range(1, 9)]
    for _, pipe in others:
        pipe.recv()
    for _, pipe in others:
        pipe.send("go")
    spans = [span for _, pipe in others for span in pipe.recv()]
    for process, _ in others:
        process.join()
    plain += plain_spans(place)
    kept, last = asyncio.run(_count(place))
    middle = statistics.median(plain)
    details = (
        f"bare median {middle * 1e3:.2f} ms; ours median {statistics.median(spans) * 1e3:.2f}, "
        f"p99 {percentile(spans, 99) * 1e3:.2f}, slowest {max(spans) * 1e3:.1f} ms"
    )
    return [
        Row("posts from 8 processes at once, p99 / bare median",
            percentile(spans, 99) / middle, 20, details),
        Row("the same, messages lost or doubled", abs(kept - 8 * each) + abs(last - kept), 0),
    ]  # fmt: skip


async def _make(place: Path) -> None:
    rooms = rooms_at(place)
    await entered(rooms, worker=99)
    await rooms.aclose()


async def _count(place: Path) -> tuple[int, int]:
    """Return how many different messages there are, and the last number."""
    rooms, numbers = rooms_at(place), list[int]()
    while True:
        after = After(MessageId(numbers[-1]) if numbers else None, limit=500)
        page = await rooms.read(ROOM, after)
        numbers += [message.id.number for message in page.messages]
        if not page.more:
            await rooms.aclose()
            return len(set(numbers)), numbers[-1]


def plain_spans(place: Path, times: int = 1_000) -> list[float]:
    """Return how long a bare insert takes, each time."""
    spans = []
    with bare(place, room=f"bare {IDS.uuid()}") as other:
        for _ in range(times):
            message = other.next_row()
            begin = time.perf_counter()
            other.insert(message)
            spans.append(time.perf_counter() - begin)
    return spans


def _speak_when_told(pipe: Pipe, place: Path, worker: int, times: int) -> None:
    async def speak() -> list[float]:
        rooms = rooms_at(place)
        ours = await entered(rooms, worker)
        spans = []
        pipe.send("ready")
        pipe.recv()
        for _ in range(times):
            said = draft()
            begin = time.perf_counter()
            await rooms.post(ROOM, said, ours.fence)
            spans.append(time.perf_counter() - begin)
        await rooms.aclose()
        return spans

    pipe.send(asyncio.run(speak()))


# --- a large room ---------------------------------------------------------------------------------


def a_large_room(home: Path, messages: int = 100_000, times: int = 200) -> list[Row]:
    """The newest hundred of a hundred thousand messages, and a page from their middle."""
    place = home / "rooms.db"
    viewer = asyncio.run(_fill(place, messages))
    store = LocalStore.at(place)
    rows = []
    for name, window in (
        ("newest 100", Latest(100)),
        ("a page from the middle", After(MessageId(messages // 2), 100)),
        ("the page before the middle", Before(MessageId(messages // 2), 100)),
    ):
        spans = []
        for _ in range(times):
            begin = time.perf_counter()
            page = local_reading.read(store, ROOM, window, viewer.fence).page
            spans.append(time.perf_counter() - begin)
            assert len(page.messages) == 100
        details = f"p99 {percentile(spans, 99) * 1e3:.2f} ms, for a viewer"
        middle = statistics.median(spans) * 1e3
        rows.append(Row(f"{name} of {messages:,}, ms", middle, 5, details))
    store.close()
    return rows


async def _fill(place: Path, messages: int) -> Connection:
    rooms = rooms_at(place)
    viewer = await entered(rooms)
    with bare(place) as other:
        other.connection.execute("BEGIN IMMEDIATE")
        every = (row(str(ROOM), number) for number in range(1, messages + 1))
        other.connection.executemany(INSERT, every)
        other.connection.execute("UPDATE rooms SET last_number = ?", (messages,))
        other.connection.execute("COMMIT")
    await rooms.aclose()
    return viewer


# --- waiting --------------------------------------------------------------------------------------


def wake_ups(home: Path, times: int = 400) -> list[Row]:
    """How long after a post has returned another process's waiter has its page."""
    place = home / "rooms.db"
    asyncio.run(_make(place))
    process, pipe = started(_listen, place, times)
    late = asyncio.run(_speak_to(pipe, place, times))
    process.join()
    return [
        Row("another process's waiter has its page after a post returns, median ms",
            statistics.median(late) * 1e3, 3),
        Row("the same, p99 ms", percentile(late, 99) * 1e3, 25),
    ]  # fmt: skip


async def _speak_to(pipe: Pipe, place: Path, times: int) -> list[float]:
    rooms = rooms_at(place)
    ours = await entered(rooms)
    late = []
    for _ in range(times):
        pipe.recv()
        time.sleep(0.005)  # by now it rests
        await rooms.post(ROOM, draft(), ours.fence)
        said = time.perf_counter()
        late.append(pipe.recv() - said)
    await rooms.aclose()
    return late


def _listen(pipe: Pipe, place: Path, times: int) -> None:
    async def listen() -> None:
        rooms, after = rooms_at(place), None
        for _ in range(times):
            pipe.send("waiting")
            page = await rooms.wait(ROOM, After(after), timeout=timedelta(minutes=1))
            pipe.send(time.perf_counter())
            after = page.messages[-1].id
        await rooms.aclose()

    asyncio.run(listen())


def idle_waiters(home: Path, seconds: int = 30) -> list[Row]:
    """How much of a processor a waiter uses while nothing happens, with a socket and without."""
    place = home / "rooms.db"
    asyncio.run(_make(place))
    waiting = {
        name: started(_rest, place, has_socket, seconds)
        for name, has_socket in (("with a socket", True), ("without one", False))
    }
    rows = []
    for name, (process, pipe) in waiting.items():
        share = 100 * pipe.recv() / seconds
        rows.append(Row(f"an idle waiter {name}, % of a processor over {seconds} s", share, 0.1))
        process.join()
    return rows


def _rest(pipe: Pipe, place: Path, has_socket: bool, seconds: int) -> None:
    async def rest() -> float:
        rooms = rooms_at(place, None if has_socket else NoNudges())
        await rooms.wait(ROOM, After(), timeout=timedelta(seconds=1))
        begin = time.process_time()
        await rooms.wait(ROOM, After(), timeout=timedelta(seconds=seconds))
        used = time.process_time() - begin
        await rooms.aclose()
        return used

    pipe.send(asyncio.run(rest()))


MEASURED: Sequence[Callable[[Path], list[Row]]] = (
    one_after_another,
    sixteen_at_once,
    eight_processes,
    a_large_room,
    wake_ups,
    idle_waiters,
)
