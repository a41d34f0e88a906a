"""Every provider keeps the promises of the port."""

from pathlib import Path

import pytest
from tests.integration import provider_stages
from tests.integration.provider_stages import ScriptedStage

from letagents.testing.contracts.providers import ProviderContract, Stage


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
