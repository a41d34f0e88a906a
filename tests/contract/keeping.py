"""A room and an agent that is wanted in it, with one supervisor after another that keeps it."""

import asyncio
from collections.abc import Callable, Collection

import attrs
from tests.contract.edges import Edge, Killed, MortalJournal

from letagents.adapters.rooms.memory import MemoryRooms
from letagents.adapters.supervision.memory import MemoryPlace, MemorySupervision
from letagents.application.agents.keeping import Keeper
from letagents.application.agents.recovering import recover
from letagents.application.agents.servers import Lodging
from letagents.application.agents.supervising import Supervising
from letagents.domain.fencing import Fence
from letagents.domain.ids import ClientKey, RoomId
from letagents.domain.manifest import Entry, Execution
from letagents.domain.messages import Draft, Latest
from letagents.domain.recovery import Desired
from letagents.domain.workplaces import (
    Context,
    Kept,
    Wish,
    WorkplaceRefused,
    Worktree,
    branch_of,
)
from letagents.entrypoints.daemon.words import WordsForAgents
from letagents.ports.providers import Launch
from letagents.testing.contracts.room_callers import BOB, arrival
from letagents.testing.determinism import CountingIds, ManualClock
from letagents.testing.scripted_provider import ScriptedProvider

ROOM = RoomId("workshop")


@attrs.frozen
class Held:
    """One of many supervisors."""

    generation: int

    def check(self) -> None:
        """Do nothing."""


def launch(entry: Entry, execution: Execution, session_id: str) -> Launch:
    return Launch(workspace=entry.workspace or ".")


@attrs.define
class Folders:
    """Makes no folders, and notes which were asked for."""

    done: list[str] = attrs.field(factory=list)
    has_work: bool = False
    is_refused: bool = False

    async def plan(
        self, wish: Wish, entry_id: str, attempt_id: str, taken: Collection[str]
    ) -> Worktree:
        return Worktree(wish.repository, f"/trees/{entry_id}", branch_of(entry_id, taken), "c0ffee")

    async def provide(self, worktree: Worktree, attempt_id: str) -> None:
        if self.is_refused:
            raise WorkplaceRefused("The repository has gone.", remedy="Put it back.")
        self.done.append(f"provide {worktree.branch}")

    async def introduce(self, worktree: Worktree, context: Context) -> None:
        self.done.append(f"introduce {context.entry_id} {context.execution_id}")

    async def remove(self, worktree: Worktree, attempt_id: str) -> Kept | None:
        self.done.append(f"remove {worktree.branch}")
        return Kept(worktree.folder, "there is work") if self.has_work else None


@attrs.define(eq=False)
class World:
    """A room, an agent that is wanted in it, and one supervisor after another."""

    clock: ManualClock = attrs.field(factory=ManualClock)
    ids: CountingIds = attrs.field(factory=CountingIds)
    place: MemoryPlace = attrs.field(factory=MemoryPlace)
    provider: ScriptedProvider = attrs.field(factory=ScriptedProvider)
    folders: Folders = attrs.field(factory=Folders)
    rooms: MemoryRooms = attrs.field(init=False)
    asker: Fence | None = None
    asked: int = 0
    edge: Edge = attrs.field(factory=Edge)
    running: "list[asyncio.Task[None]]" = attrs.field(factory=list)

    async def open(self) -> None:
        self.rooms = MemoryRooms(self.ids, self.clock)
        await self.rooms.join(ROOM)
        self.asker = (await self.rooms.connect(ROOM, arrival(BOB, 2))).fence
        await self.want(Desired.RUNNING)

    async def want(self, desired: Desired) -> None:
        journal = MemorySupervision(self.place, self.place.generation)
        fresh = self.fresh()
        known = self.place.journal.entry("e1") or fresh
        await journal.change(lambda one: one.put_entry(attrs.evolve(known, desired=desired)))

    def fresh(self) -> Entry:
        """Return an agent that has done nothing yet."""
        return Entry("e1", str(ROOM), "Ada", "codex", self.clock.now())

    async def keeper(self) -> Keeper:
        """Begin as a supervisor begins that finds what the last one left."""
        generation = self.place.generation + 1
        journal = MortalJournal(MemorySupervision(self.place, generation), self.edge)
        await recover(journal, self.clock)
        sessions = Supervising(journal, Held(generation), self.clock)
        return Keeper(
            "e1",
            sessions,
            self.provider,
            self.lodging,
            WordsForAgents(),
            self.ids,
            launch,
            workplaces=self.folders,
            wait=self._never,
        )

    async def lodging(self, _api_url: str) -> Lodging:
        return Lodging(self.rooms)

    async def _never(self, _seconds: float) -> None:
        await asyncio.Event().wait()

    async def run(self) -> Keeper:
        keeper = await self.keeper()
        self.running.append(asyncio.create_task(keeper.run()))
        return keeper

    async def ask(self, text: str = "@Ada one?") -> None:
        assert self.asker is not None
        self.asked += 1
        await self.rooms.post(ROOM, Draft(text, ClientKey(f"ask-{self.asked}")), self.asker)

    async def answers(self, count: int) -> list[str]:
        """Return what was answered, once there are so many."""

        async def said() -> list[str]:
            page = await self.rooms.read(ROOM, Latest())
            return [one.text for one in page.messages if one.reply_to is not None]

        await self.until(lambda: len(self._said()) >= count)
        return await said()

    def _said(self) -> list[object]:
        items = self.place.journal._items.values()
        return [one for one in items if one.published_as is not None]

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not is_so():  # noqa: ASYNC110  what it waits for has no event
                await asyncio.sleep(0.001)

    @property
    def entry(self) -> Entry:
        entry = self.place.journal.entry("e1")
        assert entry is not None
        return entry

    def alive(self) -> int:
        return sum(not one.is_over for one in self.provider.started)

    async def is_there(self) -> None:
        await self.until(
            lambda: (
                self.entry.execution is not None
                and self.entry.execution.process is not None
                and not self.entry.execution.is_over
                and self.place.journal.ingress("e1") is not None
            )
        )

    async def end(self) -> None:
        for task in self.running:
            task.cancel()
        await asyncio.gather(*self.running, return_exceptions=True)
        self.running.clear()


async def killed_at(edge: int, world: World) -> bool:
    """Let a supervisor be killed at an edge, and another come; return whether it was."""
    world.edge = Edge(at=edge)
    await world.open()

    def is_done() -> bool:
        begun = world.place.journal.ingress("e1") is not None
        return begun or world.edge.reached >= edge

    try:
        await world.run()
        await world.until(is_done)
    except Killed:
        pass
    was_killed = world.edge.reached >= edge
    await world.end()
    world.edge = Edge()
    await world.run()
    await world.is_there()
    await world.ask()

    assert await world.answers(1) == ["ok"], edge
    assert len(world.provider.transcript.turns_run()) == 1, edge
    assert world.alive() == 1, edge
    await world.end()
    return was_killed
