"""`letagents supervise` as people have it: tools, turns, idle agents, a start after a kill.

The agents' minds are in this process, so that a turn begins here. Whatever else costs anything is
the real supervisor's, as a process of its own.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import attrs
from tests.benchmarks.reporting import Row
from tests.benchmarks.rooms_store import IDS, bare
from tests.e2e.minds import Minds
from tests.e2e.shell import environment

from letagents.adapters.state.memory import MemoryState
from letagents.adapters.supervision.sql import SqlSupervision
from letagents.adapters.supervisor.socket import SocketSupervisor
from letagents.application.client import LetAgents
from letagents.domain import effects, inbox
from letagents.domain.effects import Effect, Key, State
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.inbox import Item
from letagents.domain.manifest import Entry, Execution, Process
from letagents.domain.messages import Draft
from letagents.domain.recovery import Desired
from letagents.domain.sessions import Arrival
from letagents.domain.supervised import Call
from letagents.ports.supervision import Journal
from letagents.settings import Settings
from letagents.wire import supervisor as wire
from letagents.wiring.client import open_letagents
from letagents.wiring.supervisor import ask_supervisor

ROOM = RoomId("workshop")
ROOT = Path(__file__).parents[2]
NOW = datetime(2030, 1, 1, tzinfo=UTC)
TURNS, CALLS, IDLE_AGENTS, IDLE_SECONDS = 60, 100, 20, 20
AGENTS, ROWS, STARTS = 50, 100_000, 5


@attrs.define(eq=False)
class House:
    """A supervisor, its agents' minds, and whoever asks them."""

    home: Path
    letagents: LetAgents
    asker: Fence
    pid: int

    async def ask(self) -> None:
        """Ask the first agent something."""
        await self.letagents.rooms.post(
            ROOM, Draft("@Ada0 what now?", IDS.client_key()), self.asker
        )

    async def add(self, number: int) -> None:
        """Add an agent."""
        entry = {"id": f"ada{number}", "room_id": str(ROOM), "display_name": f"Ada{number}"}
        whole = {**entry, "provider": "codex", "workspace_path": str(self.home)}
        await self.tell(wire.PUT_AGENT, {"entry": whole})

    async def tell(self, method: str, params: Mapping[str, object]) -> Any:
        """Ask the supervisor something."""
        return await ask_supervisor(Settings(home=self.home), method, params, 60)

    async def until_there(self, count: int) -> None:
        """Wait until so many agents are in their room."""
        while True:
            found = await self.tell(wire.LIST_AGENTS, {})
            if sum(one["observed_state"] == "idle" for one in found) >= count:
                return
            await anyio.sleep(0.05)


@contextmanager
def supervisor(home: Path, minds: Minds) -> Iterator[tuple["subprocess.Popen[bytes]", float]]:
    """Start a supervisor as a shell would; yield it, and the seconds until it answered."""
    told = environment(home, {"MINDS": str(minds.socket), "LETAGENTS_LOG_LEVEL": "error"})
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "tests.e2e.mortal_supervisor"]
    began = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, env={**told, "PYTHONPATH": path}, cwd=ROOT
    )
    try:
        assert process.stdout is not None
        json.loads(process.stdout.readline())
        yield process, time.perf_counter() - began
    finally:
        process.kill()
        process.communicate()


@asynccontextmanager
async def house(folder: Path, minds: Minds) -> AsyncIterator[House]:
    """Open a home, and let it be supervised."""
    home = folder / "h"
    async with (
        minds.listening(),
        open_letagents(Settings(home=home), state=MemoryState()) as letagents,
    ):
        await letagents.rooms.join(ROOM)
        arrival = Arrival(
            token=IDS.token(),
            agent_key="grace/bob",
            instance_id=str(IDS.worker_id()),
            display_name="Bob",
            owner_label="Grace",
            ide_label="Codex",
            runtime="codex",
        )
        asker = await letagents.rooms.connect(ROOM, arrival)
        with supervisor(home, minds) as (process, _):
            yield House(home, letagents, asker.fence, process.pid)


# --- turns ----------------------------------------------------------------------------------------


@attrs.define(eq=False)
class Begun(Minds):
    """Minds that tell when a turn begins, and end it at once."""

    at: float = 0.0
    ended: anyio.Event = attrs.field(factory=anyio.Event)

    async def _run(self, *asked: Any) -> None:
        self.at = time.perf_counter()
        await super(Begun, self)._run(*asked)  # noqa: UP008  attrs makes the class anew
        self.ended.set()


async def _nothing(*_call: Any) -> Any:
    return {"structuredContent": {}}


def turns_begun(folder: Path) -> list[Row]:
    """From a message that is posted to its turn."""
    return anyio.run(_turns_begun, folder)


async def _turns_begun(folder: Path) -> list[Row]:
    minds, spans = Begun(folder / "minds", _nothing), []
    async with house(folder, minds) as ours:
        await ours.add(0)
        await ours.until_there(1)
        for _ in range(TURNS):
            minds.ended = anyio.Event()
            began = time.perf_counter()
            await ours.ask()
            await minds.ended.wait()
            spans.append((minds.at - began) * 1e3)
            await anyio.sleep(0.05)  # the answer is posted
    details = f"least {min(spans):.1f}, most {max(spans):.0f}"
    return [Row("posted to turn started, median ms", statistics.median(spans), 50, details)]


# --- tools ----------------------------------------------------------------------------------------


@attrs.define(eq=False)
class Calls:
    """Calls a tool many times in one turn, and inserts bare in turns with that.

    It is one process that calls, as that of an agent: it asks once what its supervisor speaks.
    """

    insert: Callable[[], None]
    plain: list[float] = attrs.field(factory=list)
    ours: list[float] = attrs.field(factory=list)
    done: anyio.Event = attrs.field(factory=anyio.Event)

    async def act(self, at: Mapping[str, str], request_id: str, tool: str, given: Any) -> Any:
        if request_id == "1":
            socket = Path(at["LETAGENTS_SUPERVISOR_DAEMON_SOCKET"])
            ours = SocketSupervisor(at, socket, socket.parent, IDS)
            for number in range(CALLS):
                began = time.perf_counter()
                self.insert()
                middle = time.perf_counter()
                call = Call(f"call {number}", "post_status", {"status": "working"}, is_change=True)
                answered = await ours.execute(call)
                self.ours.append(time.perf_counter() - middle)
                self.plain.append(middle - began)
                assert answered is not None
            await ours.aclose()
            self.done.set()
        return {"structuredContent": {}}


def tools_through_the_socket(folder: Path) -> list[Row]:
    """A tool that changes something, journaled and synced before and after it."""
    return anyio.run(_tools_through_the_socket, folder)


async def _tools_through_the_socket(folder: Path) -> list[Row]:
    other_home = Settings(home=folder / "bare")
    async with open_letagents(other_home, state=MemoryState()) as other_rooms:
        await other_rooms.rooms.join(ROOM)
    with bare(other_home.home / "rooms.db") as other:
        calls = Calls(lambda: other.insert(other.next_row()))
        async with house(folder, Minds(folder / "minds", calls.act)) as ours:
            await ours.add(0)
            await ours.until_there(1)
            await ours.ask()
            await calls.done.wait()
    plain, median = statistics.median(calls.plain) * 1e3, statistics.median(calls.ours) * 1e3
    details = f"bare insert {plain:.2f}; least {min(calls.ours) * 1e3:.1f}"
    what = "a bounded tool through the socket, journaled and synced, median ms"
    return [Row(what, median, 3 * plain + 1, details)]


# --- idle agents ----------------------------------------------------------------------------------


def idle_agents(folder: Path) -> list[Row]:
    """What twenty agents cost who have nothing to do."""
    return anyio.run(_idle_agents, folder) if sys.platform == "linux" else []


async def _idle_agents(folder: Path) -> list[Row]:
    async with house(folder, Minds(folder / "minds", _nothing)) as ours:
        for number in range(IDLE_AGENTS):
            await ours.add(number)
        await ours.until_there(IDLE_AGENTS)
        await anyio.sleep(3)
        before = _cpu(ours.pid)
        await anyio.sleep(IDLE_SECONDS)
        share = (_cpu(ours.pid) - before) / IDLE_SECONDS * 100
        weight = _megabytes(ours.pid)
    return [
        Row(f"{IDLE_AGENTS} idle agents, CPU of the supervisor, %", share, 1),
        Row(f"{IDLE_AGENTS} idle agents, memory of the supervisor, MB", weight, 150),
    ]


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _megabytes(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (resident,) = (line.split()[1] for line in lines if line.startswith("VmRSS:"))
    return int(resident) / 1024


# --- starting after a kill ------------------------------------------------------------------------


def start_after_a_kill(folder: Path) -> list[Row]:
    """How soon a supervisor answers that has a long journal, and fifty agents who live on."""
    return anyio.run(_start_after_a_kill, folder)


async def _start_after_a_kill(folder: Path) -> list[Row]:
    minds, spans = Minds(folder / "minds", _nothing), []
    home = folder / "h"
    journal = SqlSupervision(home / "supervisor.db", 0)
    for number in range(AGENTS):
        await journal.change(lambda one, number=number: _filled(one, number))  # type: ignore[misc]
        minds._coordinates[f"c{number}"] = {}  # it lives on
    await journal.aclose()
    async with minds.listening():
        for _ in range(STARTS):
            span = await anyio.to_thread.run_sync(_started, home, minds)
            spans.append(span)
    what = f"start after kill -9, {AGENTS} agents, {ROWS:,} rows, until it answers, median s"
    details = f"least {min(spans):.2f}; a whole Python process"
    return [Row(what, statistics.median(spans), 2, details)]


def _started(home: Path, minds: Minds) -> float:
    with supervisor(home, minds) as (_, span):
        time.sleep(0.5)  # it is at its agents when it is killed
        return span


def _filled(journal: Journal, number: int) -> None:
    """Put an agent into the journal that is in a turn, and all that it ever did."""
    name = f"ada{number}"
    process = Process("minds", 1, "birth")
    execution = Execution(f"x{number}", f"w{number}", 1, NOW, process=process)
    journal.put_entry(
        Entry(
            name,
            str(ROOM),
            f"Ada{number}",
            "codex",
            NOW,
            desired=Desired.RUNNING,
            work_attempt_id=f"w{number}",
            continuation_id=f"c{number}",
            execution=execution,
        )
    )
    each = ROWS // AGENTS // 2
    for sequence in range(1, each + 1):
        message = f"msg_{sequence}"
        item = Item(inbox.item_id(name, str(ROOM), message), name, str(ROOM), message, sequence)
        over = sequence < each
        journal.put_item(inbox.skipped(item) if over else inbox.dispatched(item))
        key = Key(name, f"x{number}", f"t{sequence}", "1")
        request = effects.request(str(ROOM), "post_status", {}, '{"status":"working"}')
        effect = Effect(f"{name}-{sequence}", key, request, State.EXECUTING, NOW, NOW)
        journal.put_effect(effects.completed(effect, "{}", now=NOW) if over else effect)


MEASURED = (turns_begun, tools_through_the_socket, idle_agents, start_after_a_kill)
