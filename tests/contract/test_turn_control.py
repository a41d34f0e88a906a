"""A person stops or corrects the turn that an agent is in, wherever its supervisor is killed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta

import attrs
import pytest
from tests.contract.edges import Killed
from tests.contract.keeping import World

from letagents.application.agents.household import Household
from letagents.application.agents.turn_control import SETTLED_WITHIN, Stop, TurnControls
from letagents.domain import turns
from letagents.domain.inbox import Item, Stage
from letagents.domain.manifest import TurnControl, TurnControlStatus
from letagents.domain.turn_controls import Named, Resolution, TurnControlRefused
from letagents.testing.scripted_provider import Play, ScriptedConversation

pytestmark = pytest.mark.anyio
DONE = TurnControlStatus.COMPLETED


@attrs.define(eq=False)
class Stopping:
    """An agent in a turn that does not end by itself, and who stops it."""

    world: World
    controls: TurnControls | None = None
    settled_within: timedelta = SETTLED_WITHIN

    async def supervise(self) -> None:
        """Be the next supervisor."""
        keeper = await self.world.keeper()
        generation = keeper.sessions.hold.generation
        household = Household(keeper.sessions.journal, lambda _: keeper, generation)
        self.world.running.append(asyncio.create_task(household.run()))
        self.controls = TurnControls(household, keeper.sessions, self.settled_within)

    async def open(self, *plays: Play) -> None:
        """Let the agent be in its first turn."""
        await self.supervise()
        await self.world.is_there()
        self.world.provider.plays.extend(plays or [Play("late", hangs=True)])
        await self.world.ask()
        await self.world.until(lambda: self.is_in_turn)

    @property
    def items(self) -> list[Item]:
        return sorted(self.world.place.journal._items.values(), key=lambda one: one.sequence)

    @property
    def is_in_turn(self) -> bool:
        return any(one.stage is Stage.AWAITING_RESULT for one in self.items)

    @property
    def control(self) -> TurnControl | None:
        return self.world.entry.control

    @property
    def is_known(self) -> bool:
        return self.control is not None and self.control.status is DONE

    def named(self) -> Named:
        entry, item = self.world.entry, next(one for one in self.items if not one.is_over)
        assert entry.execution is not None
        assert item.turn is not None
        return Named(
            room_id=entry.room_id,
            work_attempt_id=entry.execution.work_attempt_id,
            execution_id=entry.execution.execution_id,
            continuation_id=entry.continuation_id or "",
            turn_id=item.turn.turn_id,
            item_id=item.item_id,
            message_id=item.message_id,
        )

    async def stop(
        self, named: Named, correction: str | None = None, action_id: str = "a1"
    ) -> TurnControl:
        assert self.controls is not None
        own = self.controls.sessions.hold.generation
        asked = Stop(
            entry_id="e1",
            generation=own,
            named=named,
            action_id=action_id,
            correction=correction,
        )
        async with asyncio.timeout(30):
            return await self.controls.stop(asked)


@pytest.fixture
async def stopping(anyio_backend: str) -> AsyncIterator[Stopping]:
    world = World()
    await world.open()
    yield Stopping(world)
    await world.end()


@pytest.mark.rule("J141", "J144")
async def test_a_turn_is_stopped_nothing_of_it_is_posted_and_the_next_one_runs(
    stopping: Stopping,
) -> None:
    await stopping.open()
    await stopping.world.ask()
    told = await stopping.stop(stopping.named())

    assert (told.status, told.interrupted, told.error) == (DONE, True, None)
    assert await stopping.world.answers(1) == ["ok"]
    assert [one.stage for one in stopping.items] == [Stage.CANCELLED_BY_USER, Stage.ACKNOWLEDGED]


@pytest.mark.rule("J146")
async def test_a_corrected_turn_is_followed_by_one_about_the_same_message(
    stopping: Stopping,
) -> None:
    await stopping.open(Play("late", hangs=True), Play("short"))
    told = await stopping.stop(stopping.named(), "Shorter.")

    assert (told.status, told.interrupted, told.correction) == (DONE, True, "Shorter.")
    assert await stopping.world.answers(1) == ["short"]
    first, second = stopping.world.provider.transcript.turns_run()
    assert second == f"{first}:correction:1"


@pytest.mark.rule("J141", "J143", "J147")
async def test_what_was_stopped_before_stops_nothing_that_runs_now(stopping: Stopping) -> None:
    await stopping.open(Play("late", hangs=True), Play("later", hangs=True))
    named = stopping.named()
    first = await stopping.stop(named)
    await stopping.world.ask()
    await stopping.world.until(lambda: stopping.is_in_turn)

    assert await stopping.stop(named) == first
    with pytest.raises(TurnControlRefused, match="not in exactly that turn"):
        await stopping.stop(named, action_id="a2")
    assert stopping.is_in_turn
    assert (await stopping.stop(stopping.named(), action_id="a3")).interrupted


async def says_nothing(_conversation: ScriptedConversation, _turn_id: str) -> bool:
    """Do not say whether the turn is over, as a program that hangs."""
    return False


@pytest.mark.rule("J141", "J146")
async def test_a_turn_that_ends_just_then_is_followed_by_none_until_the_stop_is_over(
    stopping: Stopping, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stops_whatever_runs(conversation: ScriptedConversation, _turn_id: str) -> bool:
        """Let the turn end by itself first, and break off what runs then, as some programs do."""
        running = conversation._running
        assert running is not None
        conversation._settle(running, running.play.outcome)
        await stopping.world.answers(1)
        for _ in range(100):  # the next one could begin now
            await asyncio.sleep(0)
        if conversation._running is not None:
            conversation._settle(conversation._running, turns.Interrupted())
        return True

    await stopping.open(Play("late", hangs=True), Play("next", hangs=True))
    await stopping.world.ask()
    await stopping.world.until(lambda: len(stopping.items) == 2)
    monkeypatch.setattr(ScriptedConversation, "interrupt", stops_whatever_runs)
    told = await stopping.stop(stopping.named(), "Shorter.")
    for _ in range(100):  # what was broken off would be over now
        await asyncio.sleep(0)
    await stopping.world.until(lambda: stopping.is_in_turn or stopping.items[-1].is_over)

    assert (told.status, told.interrupted) == (DONE, False)
    assert told.error == "The turn had ended by itself."
    assert [one.stage for one in stopping.items] == [Stage.ACKNOWLEDGED, Stage.AWAITING_RESULT]


@pytest.mark.rule("J144", "J145")
async def test_a_stop_of_which_the_program_says_nothing_is_known_once_the_turn_ends(
    stopping: Stopping, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stopping.open()
    monkeypatch.setattr(ScriptedConversation, "interrupt", says_nothing)
    named = stopping.named()
    told = await stopping.stop(named)
    assert (told.status, told.interrupted) == (TurnControlStatus.UNCERTAIN, None)
    with pytest.raises(TurnControlRefused, match="already in flight"):
        await stopping.stop(named, action_id="a2")

    (conversation,) = stopping.world.provider.started
    running = conversation._running
    assert running is not None
    conversation._settle(running, running.play.outcome)
    assert await stopping.world.answers(1) == ["late"]
    assert stopping.control is not None
    assert (stopping.control.status, stopping.control.interrupted) == (DONE, False)


@pytest.mark.rule("J142", "J145")
@pytest.mark.parametrize("correction", [None, "Shorter."])
@pytest.mark.parametrize("edge", [1, 2, 3, 4])
async def test_wherever_a_supervisor_is_killed_one_turn_is_stopped_and_none_doubled(
    stopping: Stopping, edge: int, correction: str | None
) -> None:
    """The edges are before and after the stop is written down, and the end of its turn."""
    world, stopping.settled_within = stopping.world, timedelta()
    await stopping.open(Play("late", hangs=True), Play("short"), Play("next"))
    named = stopping.named()
    world.edge.reached, world.edge.at = 0, edge
    with suppress(Killed):
        await stopping.stop(named, correction)
    await world.until(lambda: world.edge.reached >= edge)
    await world.end()
    world.edge.at = 0
    await stopping.supervise()
    await world.until(lambda: stopping.is_known or stopping.is_in_turn)
    if stopping.control is None:
        await stopping.stop(named, correction)
    elif not stopping.is_known:
        (conversation,) = world.provider.started
        await conversation.interrupt(named.turn_id)  # as a person would, who sees that it runs
    await world.ask()
    answers = await world.answers(2 if correction else 1)

    assert answers == (["short", "next"] if correction else ["short"])
    assert stopping.control is not None
    assert (stopping.control.status, stopping.control.interrupted) == (DONE, True)
    runs = world.provider.transcript.turns_run()
    assert len(runs) == len(set(runs)) == (3 if correction else 2)


@pytest.mark.rule("J22")
async def test_a_turn_that_nobody_wanted_stopped_is_not_passed_over(stopping: Stopping) -> None:
    world = stopping.world
    await stopping.supervise()
    await world.is_there()
    world.edge.reached, world.edge.at = 0, 5  # as the id of the turn is to be written down
    await world.ask()
    await world.until(lambda: world.edge.reached >= 5)
    await world.end()
    world.edge.at = 0
    await stopping.supervise()
    await world.until(lambda: stopping.items[-1].stage in (Stage.BLOCKED, Stage.CANCELLED_BY_USER))

    assert stopping.items[-1].stage is Stage.BLOCKED
    assert stopping.items[-1].trouble == "Its turn was broken off as it began."


@pytest.mark.rule("J145")
async def test_a_stop_whose_supervisor_was_killed_is_uncertain_and_settled_by_its_own_name(
    stopping: Stopping,
) -> None:
    await stopping.open()
    named = stopping.named()
    assert stopping.controls is not None
    begun = stopping.controls._begin
    asked = Stop(entry_id="e1", generation=1, named=named, action_id="a1")
    await stopping.controls.sessions.journal.change(lambda journal: begun(journal, asked))
    await stopping.world.end()
    await stopping.supervise()

    assert stopping.control is not None
    assert stopping.control.status is TurnControlStatus.UNCERTAIN
    resolve, not_applied = stopping.controls.resolve, Resolution.NOT_APPLIED
    with pytest.raises(TurnControlRefused, match="no turn-control action"):
        await resolve("e1", (named.work_attempt_id, "another process"), "a1", not_applied)
    told = await resolve("e1", (named.work_attempt_id, named.execution_id), "a1", not_applied)
    assert told.status is TurnControlStatus.RETRYABLE
