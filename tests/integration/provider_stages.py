"""Where the contract of providers is tried: scripted, and with programs that play the real ones."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from letagents.adapters.providers.claude import ClaudeProvider
from letagents.adapters.providers.codex import CodexProvider
from letagents.adapters.providers.cursor import CursorProvider
from letagents.adapters.providers.open_model import OpenModelProvider
from letagents.adapters.system import SystemClock, SystemIds
from letagents.domain.open_models import Endpoint
from letagents.domain.turns import NO_REPLY, Answered, Silent
from letagents.ports.providers import Launch, Provider
from letagents.testing.scripted_provider import Play, ScriptedProvider

ROOT = Path(__file__).parents[2]
API_KEY = "sk-model-0123456789abcdef"
TOOLS = (sys.executable, "-m", "letagents", "mcp")


def install(program: Path, fake: str, **environ: str) -> None:
    """Put a program where another maker's would be, that plays it."""
    told = " ".join(f"{name}={value}" for name, value in environ.items())
    found = f"PYTHONPATH={ROOT}${{PYTHONPATH:+:$PYTHONPATH}}"
    runs = f'{told} {found} exec {sys.executable} -m tests.integration.{fake} "$@"'
    program.write_text(f"#!/bin/sh\n{runs}\n")
    program.chmod(0o700)


@attrs.define
class ScriptedStage:
    """Nothing is started."""

    provider: ScriptedProvider = attrs.field(factory=ScriptedProvider)
    launch: Launch = attrs.field(factory=lambda: Launch(workspace="/nowhere"))

    def play(self, *plays: Play) -> None:
        self.provider.plays.extend(plays)

    def turns_run(self) -> list[str]:
        return self.provider.transcript.turns_run()

    def programs_begun(self) -> int:
        return len(self.provider.started)

    def uninstall(self) -> None:
        self.provider.is_installed = False

    def reopened(self) -> Provider:
        return self.provider


@attrs.define
class FakedStage:
    """A program in Python that speaks as the real one does."""

    folder: Path
    patch: pytest.MonkeyPatch
    variable: str
    fake: str
    make: Callable[[], Provider]
    secret: str | None = None
    provider: Provider = attrs.field()
    launch: Launch = attrs.field()

    @provider.default
    def _made(self) -> Provider:
        program = self.folder / "program"
        install(program, self.fake, FAKE_STAGE=str(self.folder))
        self.patch.setenv(self.variable, str(program))
        self.patch.setenv("CLAUDE_CONFIG_DIR", str(self.folder / "config"))
        return self.make()

    @launch.default
    def _how(self) -> Launch:
        workspace = self.folder / "workspace"
        workspace.mkdir()
        coordinates = {"LETAGENTS_SUPERVISOR_ENTRY_ID": "entry-1", "LETAGENTS_TOKEN": "owner's"}
        return Launch(workspace=str(workspace), tools=TOOLS, coordinates=coordinates)

    def play(self, *plays: Play) -> None:
        with (self.folder / "plays").open("a") as file:
            for play in plays:
                crash = play.crash.value if play.crash else None
                told = {"text": play.text, "hangs": play.hangs, "quota": play.quota}
                file.write(json.dumps({**told, "crash": crash}) + "\n")

    def turns_run(self) -> list[str]:
        run = self.folder / "turns"
        return run.read_text().split() if run.exists() else []

    def programs_begun(self) -> int:
        begun = self.folder / "begun"
        return len(begun.read_text()) if begun.exists() else 0

    def uninstall(self) -> None:
        self.patch.setenv(self.variable, str(self.folder / "nothing"))

    def reopened(self) -> Provider:
        return self.make()

    def argv(self) -> list[str]:
        found: list[str] = json.loads((self.folder / "argv").read_text())
        return found

    def environ(self) -> dict[str, str]:
        found: dict[str, str] = json.loads((self.folder / "environ").read_text())
        return found


def codex(folder: Path, patch: pytest.MonkeyPatch) -> FakedStage:
    """Return a stage on which Codex is played."""
    return FakedStage(folder, patch, "LETAGENTS_CODEX_BIN", "fake_codex", CodexProvider)


def claude(folder: Path, patch: pytest.MonkeyPatch) -> FakedStage:
    """Return a stage on which Claude Code is played."""

    def make() -> Provider:
        return ClaudeProvider(SystemIds())

    return FakedStage(folder, patch, "LETAGENTS_CLAUDE_BIN", "fake_claude", make)


def open_model(folder: Path, patch: pytest.MonkeyPatch) -> FakedStage:
    """Return a stage on which OpenCode is played."""
    ids, clock, endpoint = SystemIds(), SystemClock(), Endpoint("http://model/v1", "m", API_KEY)

    def make() -> Provider:
        return OpenModelProvider(lambda: endpoint, folder / "run", clock, ids)

    return FakedStage(folder, patch, "LETAGENTS_OPENCODE_BIN", "fake_opencode", make)


def cursor(folder: Path, patch: pytest.MonkeyPatch) -> FakedStage:
    """Return a stage on which Cursor is played, and a supervisor that writes down what it says."""

    async def said(item_id: str) -> Answered | Silent | None:
        file = folder / "said"
        lines = file.read_text().splitlines() if file.exists() else []
        texts = [one["text"] for one in map(json.loads, lines) if one["item"] == item_id]
        if not texts:
            return None
        return Silent() if texts[-1] == NO_REPLY else Answered(texts[-1])

    def make() -> Provider:
        return CursorProvider(said)

    return FakedStage(folder, patch, "LETAGENTS_CURSOR_BIN", "fake_cursor", make)
