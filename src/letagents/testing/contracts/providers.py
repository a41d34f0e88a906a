"""What every Provider does: inherit the suite and give it a stage.

    class TestMyProvider(ProviderContract):
        @pytest.fixture
        def stage(self, tmp_path: Path) -> Stage:
            return MyStage(tmp_path)

A stage sets up a program that plays what it is told, turn by turn.
"""

from collections.abc import AsyncIterator
from typing import Protocol

import anyio
import attrs
import pytest

from letagents.domain import turn_prompts
from letagents.domain.generations import FenceLost
from letagents.domain.turn_prompts import Item
from letagents.domain.turns import (
    NO_REPLY,
    Answered,
    ConversationBusy,
    ConversationMissing,
    Failed,
    Interrupted,
    NeverStarted,
    Outcome,
    ProviderMissing,
    Running,
    Silent,
    TurnUnsettled,
    Unknowable,
    Unreadable,
)
from letagents.ports.providers import (
    Cause,
    Connection,
    Conversation,
    Gone,
    Launch,
    Provider,
    Turn,
)
from letagents.testing.scripted_provider import Crash, Play

PATIENCE = 30.0
"""Seconds until a wait is given up; nothing here depends on how busy the machine is."""


class Stage(Protocol):
    """Where a provider is tried."""

    @property
    def provider(self) -> Provider:
        """The provider, whose program plays what it is told."""
        ...

    @property
    def launch(self) -> Launch:
        """How an agent is run here."""
        ...

    def play(self, *plays: Play) -> None:
        """Let the next turns be these."""
        ...

    def turns_run(self) -> list[str]:
        """Return the items whose turns the program began, in order."""
        ...

    def programs_begun(self) -> int:
        """Return how often the program began to run, but to tell its version."""
        ...

    def uninstall(self) -> None:
        """Let the program be missing from now on."""
        ...

    def reopened(self) -> Provider:
        """Return the provider as another process of ours would have it, which started nothing."""
        ...


@attrs.define
class Notes:
    """What was written down of turns that began."""

    ids: list[str] = attrs.field(factory=list)
    began: anyio.Event = attrs.field(factory=anyio.Event)

    async def write(self, turn_id: str) -> None:
        self.ids.append(turn_id)
        self.began.set()


def turn(number: int = 1) -> Turn:
    """Return the `number`-th turn."""
    text = turn_prompts.prompt(Item(item_id=f"item-{number}", message='{"text": "hello"}'))
    return Turn(f"item-{number}", text, f"00000000-0000-4000-8000-{number:012x}")


@pytest.mark.anyio
class ProviderContract:
    """Needs a fixture `stage`."""

    @pytest.fixture
    async def conversation(self, stage: Stage) -> AsyncIterator[Conversation]:
        """Yield a conversation that is over at the end of the test."""
        conversation = await stage.provider.start(stage.launch)
        yield conversation
        await conversation.end()

    @pytest.mark.rule("Y13", "Y20")
    async def test_a_program_that_is_missing_is_told_apart_and_says_how_it_is_installed(
        self, stage: Stage
    ) -> None:
        version = await stage.provider.version()
        stage.uninstall()

        for asked in (
            stage.provider.version,
            lambda: stage.provider.start(stage.launch),
            lambda: stage.provider.resume(stage.launch, "nobody"),
        ):
            with pytest.raises(ProviderMissing, match="install"):
                await asked()
        assert version

    @pytest.mark.rule("Y10", "Y11", "Y21", "Y22", "Y24", "Y26")
    async def test_each_turn_has_its_own_end_and_is_told_of_the_same_way_later(
        self, stage: Stage, conversation: Conversation
    ) -> None:
        stage.play(Play("done"), Play(NO_REPLY), Play(""), Play(quota=True))
        notes = Notes()
        ends: list[Outcome] = []
        with anyio.fail_after(PATIENCE):
            for number in (1, 2, 3, 4):
                ends.append(await conversation.run(turn(number), notes.write))
                assert len(notes.ids) == number
            fates = [
                await conversation.fate(f"item-{number}", turn_id)
                for number, turn_id in enumerate(notes.ids, start=1)
            ]

        assert ends[:2] == [Answered("done"), Silent()]
        assert isinstance(ends[2], Unreadable)
        assert isinstance(ends[3], Failed)
        assert ends[3].is_quota
        assert fates == ends
        assert len(set(notes.ids)) == 4
        assert stage.turns_run() == ["item-1", "item-2", "item-3", "item-4"]

    @pytest.mark.rule("Y21")
    async def test_a_turn_whose_id_cannot_be_written_down_has_no_outcome(
        self, stage: Stage, conversation: Conversation
    ) -> None:
        stage.play(Play(hangs=True))

        async def fail(_turn_id: str) -> None:
            raise OSError("the disk is full")

        with anyio.fail_after(PATIENCE), pytest.raises(OSError, match="the disk is full"):
            await conversation.run(turn(), fail)

        assert stage.turns_run() in ([], ["item-1"])

    @pytest.mark.rule("Y22", "Y23", "Y27")
    async def test_a_running_turn_keeps_others_out_until_it_is_broken_off(
        self, stage: Stage, conversation: Conversation
    ) -> None:
        stage.play(Play(hangs=True), Play("next"))
        notes, later = Notes(), Notes()
        ends: list[Outcome] = []

        async def run() -> None:
            ends.append(await conversation.run(turn(1), notes.write))

        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(run)
                await notes.began.wait()
                await _begun(stage)
                with pytest.raises(ConversationBusy):
                    await conversation.run(turn(2), later.write)
                during = await conversation.fate("item-1", notes.ids[0])
                broken_off = await conversation.interrupt(notes.ids[0])
            after = await conversation.fate("item-1", notes.ids[0])
            following = await conversation.run(turn(3), later.write)

        assert isinstance(during, Running)
        assert broken_off
        assert ends == [Interrupted()]
        assert after == Interrupted()
        assert following == Answered("next")
        assert stage.turns_run() == ["item-1", "item-3"]

    @pytest.mark.rule("Y22")
    async def test_a_caller_that_gives_up_leaves_a_turn_that_keeps_others_out(
        self, stage: Stage, conversation: Conversation
    ) -> None:
        stage.play(Play(hangs=True), Play("next"))
        notes = Notes()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(conversation.run, turn(1), notes.write)
            with anyio.fail_after(PATIENCE):
                await notes.began.wait()
                await _begun(stage)
            tasks.cancel_scope.cancel()
        with anyio.fail_after(PATIENCE):
            with pytest.raises(ConversationBusy):
                await conversation.run(turn(2), notes.write)
            broken_off = await conversation.interrupt(notes.ids[0])
            following = await conversation.run(turn(3), notes.write)

        assert broken_off
        assert following == Answered("next")
        assert stage.turns_run() == ["item-1", "item-3"]

    @pytest.mark.rule("Y12", "Y23", "Y25", "Y28")
    async def test_a_turn_whose_process_dies_is_unsettled_and_nobody_makes_up_its_end(
        self, stage: Stage
    ) -> None:
        stage.play(Play(crash=Crash.AFTER_ITS_ID))
        notes = Notes()
        with anyio.fail_after(PATIENCE):
            first = await stage.provider.start(stage.launch)
            with pytest.raises(TurnUnsettled):
                await first.run(turn(), notes.write)
            ending = await first.ended()
            assert await first.end() == ending
            second = await self._again(stage, first)
            fates = [await second.fate("item-1", notes.ids[0]) for _ in range(2)]
            await second.end()

        assert ending.cause in (Cause.CRASHED, Cause.KILLED)
        assert fates[0] == fates[1]
        assert isinstance(fates[0], Unknowable | Interrupted)
        assert stage.turns_run() == ["item-1"]

    @pytest.mark.rule("Y24")
    async def test_an_answer_that_died_with_its_process_is_found_in_the_transcript(
        self, stage: Stage
    ) -> None:
        stage.play(Play("it is done", crash=Crash.AFTER_ITS_ANSWER))
        notes = Notes()
        with anyio.fail_after(PATIENCE):
            first = await stage.provider.start(stage.launch)
            with pytest.raises(TurnUnsettled):
                await first.run(turn(), notes.write)
            await first.ended()
            second = await self._again(stage, first)
            by_id = await second.fate("item-1", notes.ids[0])
            by_item = await second.fate("item-1", None)
            await second.end()

        assert by_id == by_item == Answered("it is done")
        assert stage.turns_run() == ["item-1"]

    @pytest.mark.rule("Y12")
    async def test_a_turn_that_died_before_it_had_an_id_is_no_turn_or_not_known(
        self, stage: Stage
    ) -> None:
        stage.play(Play("before"), Play(crash=Crash.BEFORE_ITS_ID))
        notes = Notes()
        with anyio.fail_after(PATIENCE):
            first = await stage.provider.start(stage.launch)
            await first.run(turn(1), notes.write)
            with pytest.raises(TurnUnsettled):
                await first.run(turn(2), notes.write)
            await first.ended()
            second = await self._again(stage, first)
            fate = await second.fate("item-2", None)
            await second.end()

        assert isinstance(fate, NeverStarted | Unknowable)
        assert stage.turns_run() == ["item-1"]

    @pytest.mark.rule("Y28", "Y29")
    async def test_who_is_ended_is_gone_for_who_comes_after(self, stage: Stage) -> None:
        with anyio.fail_after(PATIENCE):
            conversation = await stage.provider.start(stage.launch)
            ending = await conversation.end()
            found = await stage.reopened().attach(stage.launch, conversation.reference)

        assert ending.cause is Cause.STOPPED
        assert found == Gone()

    @pytest.mark.rule("Y29")
    async def test_who_is_left_is_found_again_or_ended_and_never_doubled(
        self, stage: Stage
    ) -> None:
        stage.play(Play("one"), Play("two"))
        notes = Notes()
        with anyio.fail_after(PATIENCE):
            first = await stage.provider.start(stage.launch)
            await first.run(turn(1), notes.write)
            await first.leave()
            found = await stage.reopened().attach(stage.launch, first.reference)
            if isinstance(found, Gone):
                await first.ended()
                found = await self._again(stage, first)
            answer = await found.run(turn(2), notes.write)
            before = await found.fate("item-1", notes.ids[0])
            await found.end()

        assert (before, answer) == (Answered("one"), Answered("two"))
        assert found.reference.conversation_id == first.reference.conversation_id

    @pytest.mark.rule("Y44")
    async def test_a_process_that_cannot_be_written_down_never_runs_its_program(
        self, stage: Stage
    ) -> None:
        born: list[Connection] = []
        before = stage.programs_begun()

        async def fail(connection: Connection) -> None:
            born.append(connection)
            raise FenceLost

        with anyio.fail_after(PATIENCE), pytest.raises(FenceLost):
            await stage.provider.start(stage.launch, fail)
        await stage.reopened().abandon(born[0])

        assert stage.programs_begun() == before

    @pytest.mark.rule("Y44", "Y45")
    async def test_a_process_is_known_before_it_runs_and_ended_where_nothing_came_of_it(
        self, stage: Stage
    ) -> None:
        born: list[Connection] = []
        begun: list[int] = []

        async def write(connection: Connection) -> None:
            born.append(connection)
            begun.append(stage.programs_begun())

        with anyio.fail_after(PATIENCE):
            first = await stage.provider.start(stage.launch, write)
            other = attrs.evolve(born[0], birth=f"{born[0].birth}0")
            await stage.reopened().abandon(other)
            is_there = not await _has_ended(first)
            await stage.reopened().abandon(born[0])
            await first.ended()

        assert is_there
        assert born == [first.reference.connection]
        assert begun == [0]
        assert stage.programs_begun() == 1

    async def test_a_conversation_that_is_not_known_is_missing(self, stage: Stage) -> None:
        with pytest.raises(ConversationMissing):
            await stage.provider.resume(stage.launch, "00000000-0000-4000-8000-00000000dead")

    async def _again(self, stage: Stage, first: Conversation) -> Conversation:
        return await stage.reopened().resume(stage.launch, first.reference.conversation_id)


async def _has_ended(conversation: Conversation) -> bool:
    with anyio.move_on_after(0.05):
        await conversation.ended()
        return True
    return False


async def _begun(stage: Stage) -> None:
    """Wait until the program has begun a turn."""
    while not stage.turns_run():  # noqa: ASYNC110  it is another process
        await anyio.sleep(0.01)
