"""A supervisor in this process, at a real socket, with one agent in a turn."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import attrs

from letagents.adapters.supervision.hold import HomeHold
from letagents.adapters.supervision.memory import MemoryPlace, MemorySupervision
from letagents.adapters.supervisor.socket import SocketSupervisor
from letagents.adapters.system import SystemIds
from letagents.application.agents.polls import Polls
from letagents.application.agents.recovering import recover
from letagents.application.agents.supervised_effects import SupervisedEffects
from letagents.application.agents.supervising import Supervising
from letagents.domain import inbox
from letagents.domain.inbox import TurnBinding
from letagents.domain.manifest import Delivery, Entry, Execution
from letagents.domain.recovery import Desired
from letagents.domain.supervised import OwnSession
from letagents.entrypoints.daemon.methods import Identity, Methods
from letagents.entrypoints.daemon.polls import PollMethods
from letagents.entrypoints.daemon.server import Server, listening
from letagents.ports.supervision import Journal
from letagents.ports.tools import Authority
from letagents.testing.contracts.supervisor import MESSAGE, RESULT, ROOM, SESSION
from letagents.testing.determinism import ManualClock
from letagents.wire.supervisor import canonical

NOW = datetime(2030, 1, 1, tzinfo=UTC)


SERVER = "https://letagents.example/api"


def put_agent_in_turn(journal: Journal, api_url: str = SERVER) -> None:
    """Let there be an agent, whose process is alive and has begun a turn.

    It polls by itself in a program that no supervisor of ours lets poll, so none starts or ends it.
    """
    execution = Execution("x1", "w1", 1, NOW)
    entry = Entry(
        "e1", ROOM, "Ada", "claude-code", NOW, desired=Desired.RUNNING, work_attempt_id="w1"
    )
    entry = attrs.evolve(entry, execution=execution, api_url=api_url, delivery=Delivery.POLLING)
    journal.put_entry(entry)
    name = inbox.item_id("e1", ROOM, MESSAGE)
    item = inbox.dispatched(inbox.Item(name, "e1", ROOM, MESSAGE, 1))
    journal.put_item(inbox.started(item, TurnBinding("t1", "w1", "x1", "c1")))


@attrs.define(eq=False)
class CountingTools:
    """Answers always the same, and remembers for whom."""

    runs: list[tuple[str, Authority]] = attrs.field(factory=list)
    begun: asyncio.Event = attrs.field(factory=asyncio.Event)
    let: asyncio.Event = attrs.field(factory=asyncio.Event)

    def __attrs_post_init__(self) -> None:
        self.let.set()

    async def run(
        self, tool: str, arguments: Mapping[str, object], authority: Authority
    ) -> Mapping[str, object]:
        self.runs.append((tool, authority))
        self.begun.set()
        await self.let.wait()
        return RESULT


@attrs.define(eq=False)
class SocketWorld:
    """A supervisor at a socket in `home`, whose journal is in memory."""

    home: Path
    tools: CountingTools | None = None
    place: MemoryPlace = attrs.field(factory=MemoryPlace)
    ids: SystemIds = attrs.field(factory=SystemIds)
    clock: ManualClock = attrs.field(factory=ManualClock)
    patience: float = 30.0
    gap: float = 0.0
    session: OwnSession = SESSION
    server: Server | None = None
    admits_polls: bool = False
    _running: AsyncExitStack = attrs.field(factory=AsyncExitStack)
    _clients: AsyncExitStack = attrs.field(factory=AsyncExitStack)

    @property
    def socket(self) -> Path:
        return self.home / "daemon.sock"

    @property
    def environ(self) -> dict[str, str]:
        return {
            "LETAGENTS_SUPERVISOR_ENTRY_ID": "e1",
            "LETAGENTS_SUPERVISOR_DAEMON_SOCKET": str(self.socket),
            "LETAGENTS_SUPERVISOR_WORK_ATTEMPT_ID": "w1",
            "LETAGENTS_SUPERVISOR_EXECUTION_GENERATION_ID": "x1",
            "LETAGENTS_API_URL": SERVER,
        }

    def supervisor(self, **environ: str) -> SocketSupervisor:
        made = SocketSupervisor(
            {**self.environ, **environ},
            self.socket,
            self.home,
            self.ids,
            patience=self.patience,
            quick=self.patience,
            gap=self.gap,
        )
        self._clients.push_async_callback(made.aclose)
        return made

    async def start(self) -> None:
        hold = HomeHold(self.home)
        hold.take()
        self._running.callback(hold.close)
        journal = MemorySupervision(self.place, hold.generation)
        sessions = Supervising(journal, hold, self.clock)
        effects = SupervisedEffects(sessions, self.ids, canonical, self.tools)
        await recover(journal, self.clock)
        polls = PollMethods(Polls(sessions)).table() if self.admits_polls else {}
        self.server = Server(Methods(sessions, effects, Identity("py-test"), polls))
        await self._running.enter_async_context(listening(self.socket, self.server))

    async def put(self) -> None:
        await MemorySupervision(self.place, self.place.generation).change(put_agent_in_turn)

    async def take_over(self) -> None:
        await self.end()
        await self.start()

    async def end(self) -> None:
        await self._running.aclose()

    async def cursor(self) -> str | None:
        binding = self.place.journal.binding("e1")
        return str(binding.cursor) if binding is not None and binding.cursor else None

    def performed(self) -> int:
        return len(self.tools.runs) if self.tools is not None else 0

    async def aclose(self) -> None:
        await self._clients.aclose()
        await self.end()


@asynccontextmanager
async def socket_world(
    home: Path, tools: CountingTools | None = None, *, admits_polls: bool = False
) -> AsyncIterator[SocketWorld]:
    """Open a world whose agent is in a turn."""
    world = SocketWorld(home, tools, admits_polls=admits_polls)
    try:
        await world.start()
        await world.put()
        yield world
    finally:
        await world.aclose()
