"""An agent is kept as a person wants it, whatever happens to its process or its supervisor."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from datetime import timedelta

import attrs
import pytest
from tests.contract.test_delivery import Edge, Killed, MortalJournal

from letagents.adapters.rooms.memory import MemoryRooms
from letagents.adapters.supervision.memory import MemoryPlace, MemorySupervision
from letagents.application.household import Household
from letagents.application.keeping import Keeper
from letagents.application.recovering import recover
from letagents.application.servers import Lodging
from letagents.application.supervising import Supervising
from letagents.domain.errors import NotAvailable
from letagents.domain.fencing import Fence
from letagents.domain.ids import ClientKey, RoomId
from letagents.domain.manifest import Ending, Entry, Execution, FenceLost, ManifestRefused
from letagents.domain.messages import Draft, Latest
from letagents.domain.recovery import LOOP, Action, Desired, History
from letagents.domain.workplaces import (
    Context,
    Kept,
    Wish,
    WorkplaceRefused,
    Worktree,
    branch_of,
)
from letagents.entrypoints.daemon.words import WordsForAgents
from letagents.ports.providers import Born, Launch, unrecorded
from letagents.testing.contracts.room_callers import BOB, arrival
from letagents.testing.determinism import CountingIds, ManualClock
from letagents.testing.scripted_provider import Crash, Play, ScriptedConversation, ScriptedProvider

pytestmark = pytest.mark.anyio
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


@pytest.fixture
async def world(anyio_backend: str) -> AsyncIterator[World]:
    world = World()
    await world.open()
    yield world
    await world.end()


@attrs.define(eq=False)
class Awaited(ScriptedProvider):
    """Programs that somebody speaks to before they have started."""

    speak: Callable[[], Awaitable[None]] | None = None

    async def start(self, launch: Launch, born: Born = unrecorded) -> ScriptedConversation:
        assert self.speak is not None
        await self.speak()
        return await super().start(launch, born)


async def test_what_is_said_to_an_agent_that_is_just_starting_is_answered(world: World) -> None:
    world.provider = Awaited(speak=world.ask)
    await world.run()

    assert await world.answers(1) == ["ok"]


async def test_an_agent_that_is_wanted_is_started_and_answers(world: World) -> None:
    await world.run()
    await world.is_there()
    await world.ask()

    assert await world.answers(1) == ["ok"]
    assert world.entry.continuation_id == "conversation-1"
    assert world.entry.last_error is None
    assert world.alive() == 1


@pytest.mark.rule("J42")
async def test_a_process_that_dies_is_resumed_and_its_turn_looked_up(world: World) -> None:
    world.provider.plays.append(Play("late", crash=Crash.AFTER_ITS_ANSWER))
    await world.run()
    await world.is_there()
    await world.ask()

    assert await world.answers(1) == ["late"]
    assert len(world.provider.transcript.turns_run()) == 1
    await world.is_there()
    assert [one.reference.conversation_id for one in world.provider.started] == [
        "conversation-1",
        "conversation-1",
    ]
    assert world.alive() == 1


@pytest.mark.rule("J41")
async def test_one_that_dies_again_and_again_is_left_alone(world: World) -> None:
    await world.run()
    for _ in range(LOOP):
        await world.until(lambda: world.alive() == 1)
        await world.is_there()
        world.provider.started[-1].crash()
    await world.until(lambda: world.entry.history.is_quarantined)

    assert len(world.provider.started) == LOOP
    assert world.entry.last_error is not None
    assert world.alive() == 0


@pytest.mark.rule("J42")
async def test_a_conversation_that_its_program_lost_is_begun_anew(world: World) -> None:
    keeper = await world.keeper()
    await world.provider.start(Launch(workspace="."))
    world.provider.started.clear()
    lost = attrs.evolve(world.entry, continuation_id="lost")
    await keeper.sessions.journal.change(lambda journal: journal.put_entry(lost))
    await keeper.step()
    told = world.entry.last_error or ""
    world.clock.pass_by(timedelta(seconds=1))
    await keeper.step()

    assert "lost" in told
    assert world.entry.continuation_id == "conversation-2"
    assert world.entry.last_error is None
    await keeper.leave()


@pytest.mark.rule("J40", "J45")
async def test_who_is_to_stop_and_cannot_be_told_to_be_there_is_waited_for(world: World) -> None:
    keeper = await world.run()
    await world.is_there()
    await world.end()
    await world.want(Desired.STOPPED)
    world.provider.cannot_tell = True
    keeper = await world.run()
    await world.until(lambda: world.entry.last_error is not None)
    reached = world.edge.reached
    await asyncio.sleep(0.05)

    assert world.edge.reached == reached
    world.provider.cannot_tell = False
    keeper.look_again()
    await world.until(lambda: world.entry.place.has_ended)


@pytest.mark.rule("J43")
async def test_a_program_that_is_not_installed_is_told_and_tried_again_later(
    world: World,
) -> None:
    world.provider.is_installed = False
    keeper = await world.keeper()
    await keeper.step()

    assert world.entry.last_error is not None
    assert "pip install scripted" in world.entry.last_error
    assert world.entry.history.not_before == world.clock.now() + timedelta(seconds=1)
    world.provider.is_installed = True
    world.clock.pass_by(timedelta(seconds=1))
    assert await keeper.step() is Action.START
    assert world.alive() == 1
    await keeper.leave()


@pytest.mark.rule("J40")
@pytest.mark.parametrize("desired", [Desired.STOPPED, Desired.PAUSED])
async def test_who_is_to_stop_is_stopped_and_goes_on_where_it_was(
    world: World, desired: Desired
) -> None:
    keeper = await world.run()
    await world.is_there()
    await world.want(desired)
    keeper.look_again()
    await world.until(lambda: world.alive() == 0)
    await world.until(lambda: world.entry.place.has_ended)
    assert world.entry.execution is not None
    assert world.entry.execution.ending is Ending.STOPPED
    await world.ask()

    await world.want(Desired.RUNNING)
    keeper.look_again()
    assert await world.answers(1) == ["ok"]
    assert world.provider.started[-1].reference.conversation_id == "conversation-1"


async def test_a_process_outlives_its_supervisor_and_is_found_again(world: World) -> None:
    await world.run()
    await world.is_there()
    await world.end()
    assert world.alive() == 1
    await world.ask()
    await world.run()

    assert await world.answers(1) == ["ok"]
    assert len(world.provider.started) == 1


async def test_one_that_went_with_its_supervisor_is_resumed(world: World) -> None:
    await world.run()
    await world.is_there()
    await world.end()
    world.provider.started[0].crash()
    await world.ask()
    await world.run()

    assert await world.answers(1) == ["ok"]
    assert len(world.provider.started) == 2


@pytest.mark.rule("J45")
async def test_nothing_is_started_while_nobody_can_tell(world: World) -> None:
    await world.run()
    await world.is_there()
    await world.end()
    world.provider.cannot_tell = True
    await world.run()
    await world.until(lambda: world.entry.last_error is not None)

    assert "cannot be told" in (world.entry.last_error or "")
    assert len(world.provider.started) == 1


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


@pytest.mark.rule("J44", "J45", "J47", "J48", "J52")
async def test_wherever_a_supervisor_is_killed_one_process_answers_once() -> None:
    edge = 1
    while await killed_at(edge, World()):
        edge += 1

    assert edge > 8


@pytest.mark.rule("J46")
async def test_a_household_keeps_whom_a_person_adds_and_forgets_whom_they_stop(
    world: World,
) -> None:
    keeper = await world.keeper()
    household = Household(keeper.sessions.journal, lambda _: keeper, 1)
    await keeper.sessions.journal.change(lambda journal: journal.drop_entry("e1"))
    running = asyncio.create_task(household.run())
    world.running.append(running)
    fresh = Entry("e1", str(ROOM), "Ada", "codex", world.clock.now(), desired=Desired.RUNNING)
    await household.add(fresh)
    await world.is_there()
    with pytest.raises(ManifestRefused, match="already"):
        await household.add(fresh)
    with pytest.raises(ManifestRefused, match="is not stopped"):
        await household.remove("e1")

    await household.want("e1", Desired.STOPPED)
    await world.until(lambda: world.entry.place.has_ended)
    await household.remove("e1")
    assert await household.entries() == []
    for asking in (household.want("e1", Desired.RUNNING), household.remove("e1")):
        with pytest.raises(ManifestRefused, match="Unknown daemon manifest entry: e1"):
            await asking


@pytest.mark.rule("J70", "J74")
async def test_an_agent_has_its_folder_before_it_runs_until_it_is_forgotten(world: World) -> None:
    keeper = await world.keeper()
    household = Household(keeper.sessions.journal, lambda _: keeper, 1, world.folders, world.ids)
    await keeper.sessions.journal.change(lambda journal: journal.drop_entry("e1"))
    world.running.append(asyncio.create_task(household.run()))
    fresh = Entry("e1", str(ROOM), "Ada", "codex", world.clock.now(), desired=Desired.RUNNING)
    added = await household.add(fresh, Wish("/engine"))
    await world.is_there()
    execution = world.entry.execution
    await household.want("e1", Desired.STOPPED)
    await world.until(lambda: world.entry.place.has_ended)
    world.folders.has_work = True
    kept = await household.remove("e1")

    assert added.workspace == "/trees/e1"
    assert execution is not None
    assert execution.work_attempt_id == added.work_attempt_id
    assert kept == Kept("/trees/e1", "there is work")
    assert world.folders.done == [
        "provide letagents/e1",
        f"introduce e1 {execution.execution_id}",
        "remove letagents/e1",
    ]
    with pytest.raises(NotAvailable, match="makes no folders"):
        await Household(keeper.sessions.journal, lambda _: keeper, 1).add(fresh, Wish("/engine"))


@pytest.mark.rule("J43", "J74")
async def test_an_agent_whose_folder_cannot_be_had_is_not_started(world: World) -> None:
    world.folders.is_refused = True
    own = Worktree("/engine", "/trees/e1", "letagents/e1", "c0ffee")
    keeper = await world.keeper()
    without = attrs.evolve(world.entry, worktree=own)
    await keeper.sessions.journal.change(lambda journal: journal.put_entry(without))
    await keeper.step()

    assert "The repository has gone." in (world.entry.last_error or "")
    assert world.entry.history.not_before is not None
    assert world.alive() == 0


@pytest.mark.rule("J41")
async def test_one_that_was_left_alone_is_tried_again_when_a_person_says_so(
    world: World,
) -> None:
    keeper = await world.keeper()
    household = Household(keeper.sessions.journal, lambda _: keeper, 1)
    ends = History(ends=(world.clock.now(),) * LOOP, is_quarantined=True)
    left = attrs.evolve(world.entry, history=ends)
    await keeper.sessions.journal.change(lambda journal: journal.put_entry(left))
    world.running.append(asyncio.create_task(household.run()))
    await household.want("e1", Desired.RUNNING)
    await world.is_there()

    assert not world.entry.history.is_quarantined


@pytest.mark.rule("J51")
async def test_a_household_that_another_supervisor_took_over_says_so(world: World) -> None:
    keeper = await world.keeper()
    household = Household(keeper.sessions.journal, lambda _: keeper, 1)
    running = asyncio.create_task(household.run())
    await world.is_there()
    world.place.generation += 1
    world.provider.started[0].crash()

    async with asyncio.timeout(30):
        with pytest.raises(FenceLost):
            await running
