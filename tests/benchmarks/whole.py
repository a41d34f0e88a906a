"""Whole processes, as an agent's client has them: a send, a wake-up, a start, an idle wait."""

import sqlite3
import statistics
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path

from tests.benchmarks.agents import BARE, OURS, agent, worker
from tests.benchmarks.reporting import Row, percentile

WITH_AN_EMPTY_TOOL = (sys.executable, "-m", "tests.benchmarks.whole")


def serve_with_an_empty_tool() -> int:
    """Serve what `letagents mcp` serves, and beside it a tool that does nothing."""
    from letagents.entrypoints.mcp.process import Service, serve
    from letagents.settings import load

    settings = load()

    def service() -> Service[object]:
        from letagents.entrypoints.mcp.tool import Progress, Tool
        from letagents.entrypoints.mcp.tools.catalogue import TOOLS
        from letagents.entrypoints.mcp.visit import Visit
        from letagents.wiring.client import open_letagents

        async def empty(_: object, __: Mapping[str, object], ___: Progress) -> dict[str, object]:
            return {}

        @asynccontextmanager
        async def visit() -> AsyncIterator[object]:
            async with open_letagents(settings) as opened, opened.client() as client:
                yield Visit(client)

        tool = Tool[object](
            name="empty",
            purpose="Do nothing.",
            result={"type": "object"},
            read_only=True,
            idempotent=True,
            open_world=False,
            run=empty,
        )
        return Service(tools=(*TOOLS, tool), open_session=visit, version="1")  # type: ignore[arg-type]  # TOOLS need a Visit, and get one

    return serve(service)


def timed(action: Callable[[], object]) -> float:
    """Return how many seconds `action` takes."""
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def sends(home: Path, times: int = 1500) -> list[Row]:
    """A send over stdio, beside an empty tool and a bare insert, in turns."""
    spans: dict[str, list[float]] = {"send": [], "empty": [], "insert": []}
    with agent(home, WITH_AN_EMPTY_TOOL) as one:
        room = one.call("create_room")["room_id"]
        handle = worker(one, room, "Ada")
        one.call("send_message", text="the first", worker_id=handle)
        with closing(sqlite3.connect(home / "bare.db", isolation_level=None)) as bare:
            insert = bare_insert(bare)
            for _ in range(times):
                spans["send"].append(
                    timed(lambda: one.call("send_message", text="hello", worker_id=handle))
                )
                spans["empty"].append(timed(lambda: one.call("empty")))
                spans["insert"].append(timed(insert))
    middle = {name: statistics.median(some) for name, some in spans.items()}
    ratio = middle["send"] / (middle["empty"] + middle["insert"])
    details = ", ".join(f"{name} {value * 1e3:.2f} ms" for name, value in middle.items())
    return [Row("send_message over stdio / (empty tool + bare insert)", ratio, 2.5, details)]


def bare_insert(database: sqlite3.Connection) -> Callable[[], None]:
    """Return what inserts one message's worth, synced to disk."""
    for pragma in ("journal_mode=WAL", "synchronous=FULL"):
        database.execute(f"PRAGMA {pragma}")
    database.execute("CREATE TABLE said (number INTEGER PRIMARY KEY, sender, text, said_at)")

    def insert() -> None:
        database.execute("BEGIN IMMEDIATE")
        database.execute(
            "INSERT INTO said (sender, text, said_at) VALUES (?, ?, ?)",
            ("Ada | Demo's agent | Agent", "hello", "2030-01-01T00:00:00.000Z"),
        )
        database.execute("COMMIT")

    return insert


def wakes(home: Path, times: int = 300) -> list[Row]:
    """How long after a send has returned another process's waiter has its answer."""
    late: list[float] = []
    with agent(home) as speaker, agent(home) as listener:
        room = speaker.call("create_room")["room_id"]
        ada, grace = worker(speaker, room, "Ada"), worker(listener, room, "Grace")
        cursor = speaker.call("send_message", text="first", worker_id=ada)["id"]
        for _ in range(times):
            waiting = {"worker_id": grace, "after_message_id": cursor, "timeout": 20_000}
            listener.begin("tools/call", name="wait_for_messages", arguments=waiting)
            time.sleep(0.02)
            cursor = speaker.call("send_message", text="@Grace", worker_id=ada)["id"]
            said = time.perf_counter()
            listener.end()
            late.append(time.perf_counter() - said)
    return [
        Row("another process's waiter answers after a send returns, median ms",
            statistics.median(late) * 1e3, 3.0),
        Row("the same, p99 ms", percentile(late, 99) * 1e3, 25.0),
    ]  # fmt: skip


def idle(home: Path, seconds: float = 30.0) -> list[Row]:
    """How much of a processor a waiting process uses while nothing happens."""
    with agent(home) as one:
        room = one.call("create_room")["room_id"]
        handle = worker(one, room, "Ada")
        said = one.call("send_message", text="first", worker_id=handle)["id"]
        arguments = {"worker_id": handle, "after_message_id": said, "timeout": 60_000}
        one.begin("tools/call", name="wait_for_messages", arguments=arguments)
        time.sleep(1.0)
        before = one.processor_seconds()
        time.sleep(seconds)
        used = one.processor_seconds() - before
    return [Row(f"an idle waiter's share of a processor over {seconds:.0f} s, %",
                100 * used / seconds, 0.1)]  # fmt: skip


def starts(home: Path, times: int = 15) -> list[Row]:
    """From start to the list of tools and to the first room tool's result, and the memory then."""
    lists: dict[str, list[float]] = {"bare": [], "ours": []}
    tools: list[float] = []
    memory: dict[str, list[float]] = {"bare": [], "ours": []}
    for _ in range(times):
        for name, command in (("bare", BARE), ("ours", OURS)):
            begin = time.perf_counter()
            with agent(home, command) as one:
                one.ask("tools/list")
                lists[name].append(time.perf_counter() - begin)
                if name == "ours":
                    one.call("join_room", name="the room of the start")
                    tools.append(time.perf_counter() - begin)
                memory[name].append(one.memory())
    bare = statistics.median(lists["bare"])
    return [
        Row("start to tools/list / bare SDK server", statistics.median(lists["ours"]) / bare, 1.15,
            f"bare {bare:.2f} s"),
        Row("start to the first room tool's result / bare", statistics.median(tools) / bare, 1.7),
        Row("memory then / bare", statistics.median(memory["ours"])
            / statistics.median(memory["bare"]), 1.4),
    ]  # fmt: skip


def shown(_home: Path) -> list[Row]:
    """What a model is shown of all tools."""
    import orjson

    from letagents.entrypoints.mcp.parameters import input_schema
    from letagents.entrypoints.mcp.tools.catalogue import TOOLS

    listed = [
        {
            "name": tool.name,
            "description": tool.purpose,
            "inputSchema": input_schema(tool.parameters),
        }
        for tool in TOOLS
    ]
    return [Row("names, descriptions and input schemas of all tools, KiB",
                len(orjson.dumps(listed)) / 1024, 36.0)]  # fmt: skip


MEASURED: Sequence[Callable[[Path], list[Row]]] = (shown, starts, sends, wakes, idle)


if __name__ == "__main__":
    sys.exit(serve_with_an_empty_tool())
