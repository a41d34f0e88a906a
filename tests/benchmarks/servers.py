"""`letagents serve` as its clients have it: posts beside bare inserts, wake-ups, idle waiters."""

import asyncio
import os
import sqlite3
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import attrs
from tests.benchmarks.line import Line, Plain
from tests.benchmarks.reporting import Row, percentile
from tests.benchmarks.rooms_store import IDS, INSERT, TEXT, bare, row
from tests.e2e.served import QUIETLY, Server, served
from tests.own_postgres import OwnServer, plain, text_of

from letagents.wire.http.credentials import SESSION_ID, SESSION_TOKEN

ROOM = "/rooms/workshop"
CALLERS = 16


@contextmanager
def serving(home: Path, *words: str) -> Iterator[Server]:
    """Serve, and write no log."""
    with served(home, *words, settings=QUIETLY) as server:
        yield server


async def person(line: Line, room: str = ROOM) -> Plain:
    """Enter a room as its person; return what a post shows of that."""
    await line.post(f"{room}/join", {})
    who = await line.post(f"{room}/agent-sessions", {"session_kind": "person"})
    return {"agent_session_id": who["session_id"], "agent_session_token": who["session_token"]}


# --- posts ----------------------------------------------------------------------------------------


async def posts(server: Server, times: int, rounds: Callable[[], object]) -> list[float]:
    """Return how many posts a second there are in each round; `rounds` is called between them."""
    lines = [await Line.to(server.url, server.owner) for _ in range(CALLERS)]
    said = {"text": TEXT, **await person(lines[0])}

    async def speak(line: Line, many: int) -> None:
        for _ in range(many):
            await line.post(
                f"{ROOM}/messages", {**said, "client_message_id": IDS.client_key().value}
            )

    async def all_speak(many: int) -> float:
        begin = time.perf_counter()
        await asyncio.gather(*(speak(line, many // CALLERS) for line in lines))
        return many / (time.perf_counter() - begin)

    await all_speak(times)
    rates = []
    while await asyncio.to_thread(rounds) is not None:
        rates.append(await all_speak(times))
    for line in lines:
        line.close()
    return rates


def posts_on_postgresql(home: Path, rounds: int = 9, each: int = 1_600) -> list[Row]:
    """Posts on as many connections as insert bare, in turns."""
    with own_postgresql() as place, serving(home, "--database", place) as server:
        plainly: list[float] = []

        def insert() -> object:
            if len(plainly) == rounds:
                return None
            plainly.append(inserted(plain(place), each))
            return plainly

        ours = asyncio.run(posts(server, each, insert))
    middle, other = statistics.median(ours), statistics.median(plainly)
    what = f"POST message, {CALLERS} connections, PostgreSQL / bare psycopg with as many"
    details = f"{middle:.0f} a second beside {other:.0f}"
    return [Row(what, middle / other, 0.35, details, at_least=True)]


@contextmanager
def own_postgresql() -> Iterator[str]:
    """Give the URL of a server that is nobody else's."""
    server = OwnServer()
    try:
        yield text_of(server.url)
    finally:
        server.stop()


def inserted(place: str, times: int) -> float:
    """Return how many messages a second as many threads insert, each a transaction."""
    import psycopg

    names = "room_id, number, session_id, agent_key, sender, text, source, prompt_kind, said_at"
    marks = ", ".join(["%s"] * 12)
    insert = f"INSERT INTO messages ({names}, reply_to, thread_root, client_key) VALUES ({marks})"  # noqa: S608  # only our own words
    with psycopg.connect(place, autocommit=True) as first:
        first.execute(
            "INSERT INTO rooms (room_id, display_name, created_at, active_at, last_number) "
            "VALUES ('bare', 'bare', 0, 0, 0) ON CONFLICT DO NOTHING"
        )
        [last] = first.execute(
            "SELECT coalesce(max(number), 0) FROM messages WHERE room_id = 'bare'"
        ).fetchone() or (0,)

    connections = [psycopg.connect(place, autocommit=True) for _ in range(CALLERS)]

    def run(at: int) -> None:
        for number in range(last + 1 + at, last + 1 + times, CALLERS):
            connections[at].execute(insert.encode(), row("bare", number))

    for one in connections:
        one.execute("SET synchronous_commit TO on")
    threads = [threading.Thread(target=run, args=[at]) for at in range(CALLERS)]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - begin
    for one in connections:
        one.close()
    return times / took


def posts_on_sqlite(home: Path, rounds: int = 9, each: int = 1_600) -> list[Row]:
    """Posts to a server on SQLite, beside bare inserts, in turns."""
    place = home / "bare" / "server.db"
    with serving(home / "other", "--database", str(place)):
        pass  # so that there are tables
    with serving(home / "home") as server, bare(place) as other:
        plainly: list[float] = []

        def insert() -> object:
            if len(plainly) == rounds:
                return None
            rows = [other.next_row() for _ in range(each)]
            begin = time.perf_counter()
            for one in rows:
                other.insert(one)
            plainly.append(each / (time.perf_counter() - begin))
            return plainly

        ours = asyncio.run(posts(server, each, insert))
    middle, other_rate = statistics.median(ours), statistics.median(plainly)
    wanted = min(1_500, 0.3 * other_rate)
    what = f"POST message, {CALLERS} connections, SQLite, synced / what it is to reach"
    details = f"{middle:.0f} a second beside {other_rate:.0f} bare; to reach {wanted:.0f}"
    return [Row(what, middle / wanted, 1.0, details, at_least=True)]


# --- wake-ups -------------------------------------------------------------------------------------


def wakes_over_http(home: Path, times: int = 400) -> list[Row]:
    """From a send at one client to the answer of another one's poll."""
    with serving(home / "alone") as server:
        alone = asyncio.run(woken(server, server, server.owner, times))
    with own_postgresql() as place, ExitStack() as opened:
        words = ("--database", place)
        one, two = (opened.enter_context(serving(home / name, *words)) for name in ("one", "two"))
        same = asyncio.run(woken(one, one, one.owner, times))
        across = asyncio.run(woken(one, two, one.owner, times))
    return [
        *_woken("send to wake, same server on SQLite", alone, 10),
        *_woken("send to wake, same server on PostgreSQL", same, 10),
        *_woken("send to wake, across two servers on PostgreSQL", across, 15),
    ]


def _woken(what: str, spans: Sequence[float], reach: float) -> list[Row]:
    return [
        Row(f"{what}, median ms", statistics.median(spans) * 1e3, reach),
        Row(f"{what}, p99 ms", percentile(spans, 99) * 1e3, 60),
    ]


async def woken(speaking: Server, waiting: Server, token: str, times: int) -> list[float]:
    """Return how many seconds after each send had begun the waiter had its answer."""
    speaker, waiter = await Line.to(speaking.url, token), await Line.to(waiting.url, token)
    said = {"text": TEXT, **await person(speaker)}
    last = (await speaker.post(f"{ROOM}/messages", said))["id"]
    late = []
    for _ in range(times):
        answer = asyncio.create_task(waiter.get(f"{ROOM}/messages/poll?timeout=60000&after={last}"))
        await asyncio.sleep(0.02)  # by now it waits
        begin = time.perf_counter()
        sending = asyncio.create_task(speaker.post(f"{ROOM}/messages", said))
        last = (await answer)["messages"][-1]["id"]
        late.append(time.perf_counter() - begin)
        await sending
    speaker.close()
    waiter.close()
    return late[times // 10 :]


# --- those who wait -------------------------------------------------------------------------------

ROOMS = 10


@attrs.frozen
class Used:
    """What a process used: processor time so far, and memory now."""

    seconds: float
    mebibytes: float

    @classmethod
    def by(cls, server: Server) -> "Used":
        """Look it up."""
        at = Path(f"/proc/{server.running.process.pid}")
        fields = (at / "stat").read_text("utf-8").rsplit(")", 1)[1].split()
        kibibytes = int((at / "status").read_text("utf-8").split("VmRSS:")[1].split()[0])
        ticks = os.sysconf("SC_CLK_TCK")
        return cls((int(fields[11]) + int(fields[12])) / ticks, kibibytes / 1024)


def idle_clients(home: Path, many: int = 1_000, seconds: int = 60) -> list[Row]:
    """What a server uses while so many poll and hold a process connection, and nothing happens."""
    with serving(home / "alone") as server:
        rows = asyncio.run(_idle(server, many, seconds, "SQLite"))
    with own_postgresql() as place, serving(home / "other", "--database", place) as server:
        return rows + asyncio.run(_idle(server, many, seconds, "PostgreSQL"))


async def _idle(server: Server, many: int, seconds: int, on: str) -> list[Row]:
    workers = [await _worker(server, at) for at in range(many)]  # all, before the first one polls
    lines = [line for worker in workers for line in await _waiting(server, *worker)]
    await asyncio.sleep(5)
    before = Used.by(server)
    await asyncio.sleep(seconds)
    after = Used.by(server)
    for line in lines:
        line.close()
    share = 100 * (after.seconds - before.seconds) / seconds
    what = f"{many:,} idle long polls and {many:,} process connections on one server on {on}"
    return [
        Row(f"{what}, % of a processor over {seconds} s", share, 2.0),
        Row(f"{what}, MiB", after.mebibytes, 250.0),
    ]


async def _worker(server: Server, at: int) -> tuple[Line, str, Plain]:
    """Let a new worker enter a room; return its line to the server, the room, and what it got."""
    line, room = await Line.to(server.url, server.owner), f"/rooms/workshop-{at % ROOMS}"
    await line.post(f"{room}/join", {})
    agent = await line.post("/agents", {"name": f"agent-{at}"})
    arrival = {"actor_key": agent["canonical_key"], "agent_instance_id": f"process {at}"}
    return line, room, await line.post(f"{room}/agent-sessions", arrival)


async def _waiting(server: Server, poll: Line, room: str, who: Plain) -> tuple[Line, Line]:
    """Let a worker poll, and hold a process connection."""
    process = await Line.to(server.url, server.owner)
    shown = {SESSION_ID: who["session_id"], SESSION_TOKEN: who["session_token"]}
    process.ask(f"{room}/agent-sessions/{who['session_id']}/process", shown)
    await process.until(b"connection_id")
    poll.ask(f"{room}/messages/poll?timeout=180000", shown)
    return poll, process


# --- rooms that grow ------------------------------------------------------------------------------

SIZES = (1_000, 1_000_000)


def growing_rooms(home: Path, rounds: int = 30, each: int = 50) -> list[Row]:
    """Two servers, with a small room and a large one, in turns."""
    for size in SIZES:
        with serving(home / str(size)) as server:
            asyncio.run(_entered(server))
        _fill(home / str(size) / "server.db", size)
    with ExitStack() as opened:
        servers = [opened.enter_context(serving(home / str(size))) for size in SIZES]
        small, large = asyncio.run(_in_turns(servers, rounds, each))
        memory = [Used.by(server).mebibytes for server in servers]
    names = ("a post", "reading the newest 50", "a poll that is answered at once")
    what = f"of a room with {SIZES[1]:,} messages / one with {SIZES[0]:,}"
    return [
        *(
            Row(f"{name}, {what}", after / before, 1.2, f"{before * 1e3:.2f}, {after * 1e3:.2f} ms")
            for name, before, after in zip(names, small, large, strict=True)
        ),
        Row(f"a server's memory, {what}", memory[1] / memory[0], 1.2, f"{memory[0]:.0f} MiB"),
    ]


async def _entered(server: Server) -> None:
    line = await Line.to(server.url, server.owner)
    await person(line)
    line.close()


def _fill(place: Path, size: int) -> None:
    with closing(sqlite3.connect(place)) as database:
        every = (row("workshop", number) for number in range(1, size + 1))
        database.executemany(INSERT, every)
        database.execute("UPDATE rooms SET last_number = ?", (size,))
        database.commit()


async def _in_turns(servers: Sequence[Server], rounds: int, each: int) -> list[list[float]]:
    """Return the seconds of each thing that is done, for each server."""
    lines = [await Line.to(server.url, server.owner) for server in servers]
    said = [{"text": TEXT, **await person(line)} for line in lines]
    spans: list[list[list[float]]] = [[[], [], []] for _ in servers]
    for _ in range(rounds):
        for line, body, (post, newest, poll) in zip(lines, said, spans, strict=True):
            begin = time.perf_counter()
            for _ in range(each):
                last = await line.post(f"{ROOM}/messages", body)
            middle = time.perf_counter()
            for _ in range(each):
                await line.get(f"{ROOM}/messages?before=latest&limit=50")
            then = time.perf_counter()
            before = f"msg_{int(last['id'].removeprefix('msg_')) - 1}"
            for _ in range(each):
                await line.get(f"{ROOM}/messages/poll?timeout=1000&after={before}")
            end = time.perf_counter()
            post.append((middle - begin) / each)
            newest.append((then - middle) / each)
            poll.append((end - then) / each)
    for line in lines:
        line.close()
    return [[statistics.median(one) for one in some] for some in spans]


MEASURED: Sequence[Callable[[Path], list[Row]]] = (
    posts_on_postgresql,
    posts_on_sqlite,
    wakes_over_http,
    idle_clients,
    growing_rooms,
)
