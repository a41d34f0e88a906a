"""A person's whole way with the real programs of agents; a stub of a model answers."""

import os
import shutil
from pathlib import Path

import pytest
from tests.e2e.test_agents import Home as PlayedHome
from tests.e2e.test_agents import heard, until_stopped
from tests.integration.stub_model import WORDS, stub_model

pytestmark = pytest.mark.long


class Home(PlayedHome):
    """A home whose programs are the real ones, set up for a model at `model`."""

    model: str = ""
    program: tuple[str, str] = ("", "")

    @property
    def settings(self) -> dict[str, str]:
        name, path = self.program
        kinds = ("DATA", "STATE", "CACHE", "CONFIG")
        folders = {f"XDG_{kind}_HOME": str(self.folder / "user" / kind) for kind in kinds}
        return {
            **folders,
            name: path,
            "CODEX_HOME": str(self.folder / "codex"),
            "CLAUDE_CONFIG_DIR": str(self.folder / "config"),
            "ANTHROPIC_BASE_URL": self.model,
            "ANTHROPIC_API_KEY": "sk-ant-none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "HOME": str(self.folder / "user"),
            "MODEL_KEY": "sk-none",
        }

    def endpoint(self, provider: str) -> tuple[str, ...]:
        """Return what says where an open model is."""
        if provider != "open-model":
            return ()
        return ("--base-url", f"{self.model}/v1", "--model", "stub", "--key-env", "MODEL_KEY")


@pytest.mark.parametrize(
    ("provider", "command", "variable"),
    [
        ("codex", "codex", "LETAGENTS_CODEX_BIN"),
        ("claude-code", "claude", "LETAGENTS_CLAUDE_BIN"),
        ("open-model", "opencode", "LETAGENTS_OPENCODE_BIN"),
    ],
)
def test_a_real_agent_answers_in_a_folder_of_its_own_and_is_found_again(
    provider: str,
    command: str,
    variable: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = shutil.which(os.environ.get(variable, command))
    if found is None:
        pytest.skip(f"{command} is not installed here; it comes from npm, or {variable} names it")
    for name in [name for name in os.environ if name.startswith(("CLAUDE_CODE_", "ANTHROPIC_"))]:
        monkeypatch.delenv(name)
    home = Home(tmp_path)
    home.program = (variable, found)
    home.set_up()
    (tmp_path / "opencode").unlink()  # the real one has a folder of that name there
    home.done("send", "workshop", "Hello.", "--create")
    with stub_model() as home.model, home.tail() as tail:
        (tmp_path / "codex").mkdir()
        (tmp_path / "codex" / "config.toml").write_text(
            'model = "stub"\nmodel_provider = "stub"\n[model_providers.stub]\nname = "stub"\n'
            f'base_url = "{home.model}/v1"\nwire_api = "responses"\n'
        )
        with home.supervised() as supervisor:
            home.done(
                "agents", "add", "ada", "--room", "workshop", "--provider", provider,
                "--repo", str(tmp_path / "work"), "--name", "Ada", *home.endpoint(provider),
            )  # fmt: skip
            home.done("send", "workshop", "@Ada one?")
            assert heard(tail, WORDS).startswith("Ada")
            supervisor.process.kill()
            supervisor.ended()
        home.done("send", "workshop", "@Ada two?")
        with home.supervised():
            assert heard(tail, WORDS).startswith("Ada")
            home.done("agents", "stop", "ada")
            until_stopped(home)
            assert "is kept" not in home.done("agents", "remove", "ada")
