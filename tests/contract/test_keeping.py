"""An agent is kept as a person wants it, whatever happens to its process or its supervisor."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta

import attrs
import pytest
from tests.contract.keeping import ROOM, World, killed_at

from letagents.application.agents.agent_folders import AgentFolders
from letagents.application.agents.entering import Entering
from letagents.application.agents.household import Household
from letagents.domain.errors import Malformed, NotAvailable
from letagents.domain.generations import FenceLost
from letagents.domain.manifest import Ending, Entry, ManifestRefused
from letagents.domain.recovery import LOOP, Action, Desired, History
from letagents.domain.turns import Outcome, TurnUnsettled
from letagents.domain.workplaces import (
    Kept,
    Wish,
    Worktree,
)
from letagents.ports.providers import (
    Born,
    Connection,
    Launch,
    Reference,
    Started,
    Turn,
    unrecorded,
)
from letagents.testing.scripted_provider import Crash, Play, ScriptedConversation, ScriptedProvider

pytestmark = pytest.mark.anyio


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


class Refused(ScriptedConversation):
    """A conversation in which no turn begins."""

    async def run(self, turn: Turn, started: Started) -> Outcome:
        raise TurnUnsettled("Codex answered: no such model")


@attrs.define(eq=False)
class Refusing(ScriptedProvider):
    """Programs that say why they begin no turn."""

    def _conversation(self, conversation_id: str, connection: Connection) -> ScriptedConversation:
        conversation = Refused(self, Reference(conversation_id, connection))
        self.started.append(conversation)
        return conversation


async def test_why_no_turn_began_is_told(world: World) -> None:
    world.provider = Refusing()
    keeper = await world.run()
    await world.is_there()
    await world.ask()
    await world.until(lambda: len(world.provider.started) > 1)
    told = await keeper.sessions.feeds.of("e1").after(0, timedelta())

    assert ("delivery.ended", "no such model") in [
        (one.kind, one.summary.rpartition(": ")[2].rstrip(".")) for one in told
    ]


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


async def test_a_failure_that_nobody_foresaw_leaves_no_agent_to_itself(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        monkeypatch.undo()
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(ScriptedProvider, "start", fail)
    keeper = await world.run()
    await world.until(lambda: "Too many open files" in (world.entry.last_error or ""))
    keeper.look_again()
    await world.is_there()
    await world.ask()

    assert await world.answers(1) == ["ok"]
    assert world.entry.last_error is None


async def test_a_process_that_was_found_in_vain_is_let_go_of_until_it_is_found_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[str] = []

    async def leave(conversation: ScriptedConversation) -> None:
        left.append(conversation.reference.conversation_id)

    async def fail(*_: object) -> None:
        raise OSError(24, "Too many open files")

    entered = Entering.enter
    await world.run()
    await world.is_there()
    await world.end()
    monkeypatch.setattr(ScriptedConversation, "leave", leave)
    monkeypatch.setattr(Entering, "enter", fail)
    keeper = await world.run()
    await world.until(lambda: "Too many open files" in (world.entry.last_error or ""))
    assert left == ["conversation-1"]
    monkeypatch.setattr(Entering, "enter", entered)
    keeper.look_again()
    await world.ask()

    assert await world.answers(1) == ["ok"]
    assert len(world.provider.started) == 1


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


@pytest.mark.rule("J41")
async def test_one_is_not_left_alone_because_its_supervisor_was_killed_often(world: World) -> None:
    for number in range(LOOP + 1):
        await world.run()
        await world.until(lambda: world.alive() == 1)
        await world.is_there()
        await world.end()
        world.provider.started[number].crash()

    assert len(world.provider.started) == LOOP + 1
    assert not world.entry.history.is_quarantined


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


@pytest.mark.rule("J44", "J45", "J47", "J48", "J52")
async def test_wherever_a_supervisor_is_killed_one_process_answers_once() -> None:
    edge = 1
    while await killed_at(edge, World()):
        edge += 1

    assert edge > 8


@pytest.mark.rule("N9")
@pytest.mark.parametrize("name", ["A|B", "letagents", "", "A\u200bda", "A" * 65])
async def test_nobody_is_added_by_a_name_that_no_room_shows(world: World, name: str) -> None:
    keeper = await world.keeper()
    household = Household(keeper.sessions.journal, lambda _: keeper, 1)
    await keeper.sessions.journal.change(lambda journal: journal.drop_entry("e1"))

    with pytest.raises(Malformed, match="display_name"):
        await household.add(attrs.evolve(world.fresh(), display_name=name))
    assert await household.entries() == []


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
    tasks = asyncio.all_tasks()
    await household.add(fresh)
    await world.is_there()
    with pytest.raises(ManifestRefused, match="already"):
        await household.add(fresh)
    with pytest.raises(ManifestRefused, match="is not stopped"):
        await household.remove("e1")

    await household.want("e1", Desired.STOPPED)
    await world.until(lambda: world.entry.place.has_ended)
    await household.remove("e1")
    assert asyncio.all_tasks() <= tasks
    assert await household.entries() == []
    for asking in (household.want("e1", Desired.RUNNING), household.remove("e1")):
        with pytest.raises(ManifestRefused, match="Unknown daemon manifest entry: e1"):
            await asking


@pytest.mark.rule("J70", "J74")
async def test_an_agent_has_its_folder_before_it_runs_until_it_is_forgotten(world: World) -> None:
    keeper = await world.keeper()
    folders = AgentFolders(world.folders, world.ids)
    household = Household(keeper.sessions.journal, lambda _: keeper, 1, folders)
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


async def test_who_is_wanted_as_a_household_ends_is_kept_by_the_next(world: World) -> None:
    keeper = await world.keeper()
    household = Household(keeper.sessions.journal, lambda _: keeper, 1)
    running = asyncio.create_task(household.run())
    await world.is_there()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    tasks = asyncio.all_tasks()
    await household.want("e1", Desired.STOPPED)

    assert asyncio.all_tasks() <= tasks
    assert world.alive() == 1
    await world.run()
    await world.until(lambda: world.alive() == 0)


@pytest.mark.rule("J51")
async def test_who_was_replaced_leaves_the_process_to_its_successor(world: World) -> None:
    keeper = await world.keeper()
    running = asyncio.create_task(keeper.run())
    await world.is_there()
    world.place.generation += 1
    await world.ask()

    async with asyncio.timeout(30):
        with pytest.raises(FenceLost):
            await running
    assert world.alive() == 1
    await world.run()
    assert await world.answers(1) == ["ok"]
    assert len(world.provider.started) == 1
