"""Every provider keeps the promises of the port."""

from pathlib import Path

import anyio
import pytest
from tests.integration import provider_stages
from tests.integration.provider_stages import ScriptedStage

from letagents.domain.turns import Interrupted, Running, TurnUnsettled
from letagents.ports.providers import Cause, Gone
from letagents.testing.contracts.providers import PATIENCE, Notes, ProviderContract, Stage, turn
from letagents.testing.scripted_provider import Play


class TestScripted(ProviderContract):
    @pytest.fixture
    def stage(self) -> Stage:
        return ScriptedStage()


class TestClaudeCode(ProviderContract):
    @pytest.fixture
    def stage(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
        return provider_stages.claude(tmp_path, monkeypatch)


@pytest.mark.long
class TestCodex(ProviderContract):
    @pytest.fixture
    def stage(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
        return provider_stages.codex(tmp_path, monkeypatch)


@pytest.mark.long
class TestOpenModel(ProviderContract):
    @pytest.fixture
    def stage(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
        return provider_stages.open_model(tmp_path, monkeypatch)

    @pytest.mark.rule("Y23", "Y24")
    async def test_a_turn_that_was_broken_off_is_no_unknown_one_until_that_is_told(
        self, stage: Stage
    ) -> None:
        stage.play(Play(hangs=True))
        notes, fate = Notes(), None
        with anyio.fail_after(PATIENCE):
            first = await stage.provider.start(stage.launch)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(first.run, turn(), notes.write)
                await notes.began.wait()
                while not stage.turns_run():  # noqa: ASYNC110  it is another process
                    await anyio.sleep(0.01)
                tasks.cancel_scope.cancel()
            await first.leave()
            found = await stage.reopened().attach(stage.launch, first.reference)
            assert not isinstance(found, Gone)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(found.interrupt, notes.ids[0])
                while isinstance(fate, Running | None):
                    fate = await found.fate("item-1", notes.ids[0])
            await found.end()

        assert fate == Interrupted()


@pytest.mark.long
class TestCursor(ProviderContract):
    @pytest.fixture
    def stage(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
        return provider_stages.cursor(tmp_path, monkeypatch)

    async def test_a_conversation_that_is_not_known_is_missing(self, stage: Stage) -> None:
        """Cursor tells so only once something is said: then its process ends."""
        with anyio.fail_after(PATIENCE):
            conversation = await stage.provider.resume(stage.launch, "no-chat")
            with pytest.raises(TurnUnsettled):
                await conversation.run(turn(), Notes().write)
            ending = await conversation.ended()

        assert ending.cause is Cause.CRASHED
        assert "no such chat" in ending.tail
