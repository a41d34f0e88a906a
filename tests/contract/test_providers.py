"""Every provider keeps the promises of the port."""

from pathlib import Path

import anyio
import pytest
from tests.integration import provider_stages
from tests.integration.provider_stages import ScriptedStage

from letagents.domain.turns import TurnUnsettled
from letagents.ports.providers import Cause
from letagents.testing.contracts.providers import PATIENCE, Notes, ProviderContract, Stage, turn


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
