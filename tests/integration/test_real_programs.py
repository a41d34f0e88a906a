"""Codex, Claude Code and OpenCode themselves, without any account: a stub of a model answers.

They come from npm (`@openai/codex`, `@anthropic-ai/claude-code`, `opencode-ai`), and are found on
PATH or where LETAGENTS_CODEX_BIN, LETAGENTS_CLAUDE_BIN and LETAGENTS_OPENCODE_BIN say.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import anyio
import attrs
import pytest
from tests.integration.stub_model import WORDS, stub_model

from letagents.adapters.providers.claude import ClaudeProvider
from letagents.adapters.providers.codex import CodexProvider
from letagents.adapters.providers.codex_link import linked
from letagents.adapters.providers.live_codex import AppServers
from letagents.adapters.providers.open_model import OpenModelProvider
from letagents.adapters.system import SystemClock, SystemIds
from letagents.application.agents.launching import launcher
from letagents.domain.manifest import Delivery, Entry, Execution
from letagents.domain.open_models import Endpoint
from letagents.domain.turns import Answered, ConversationMissing, NeverStarted
from letagents.ports.live_codex import Seen
from letagents.ports.providers import Gone, Launch
from letagents.testing.contracts.providers import Notes, turn

pytestmark = pytest.mark.long

TOOLS = (sys.executable, "-m", "letagents", "mcp")
PATIENCE = 120.0


def _needs(variable: str, command: str) -> str:
    found = shutil.which(os.environ.get(variable, command))
    if found is None:
        pytest.skip(f"{command} is not installed here; it comes from npm, or {variable} names it")
    return found


@pytest.fixture
def model() -> Iterator[str]:
    with stub_model() as address:
        yield address


@pytest.fixture
def launch(tmp_path: Path) -> Launch:
    """Return how an agent is run in a folder of its own."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    source = str(Path(__file__).parents[2] / "src")
    coordinates = {"LETAGENTS_HOME": str(tmp_path / "letagents"), "PYTHONPATH": source}
    return Launch(workspace=str(workspace), tools=TOOLS, coordinates=coordinates)


@pytest.fixture
def codex(tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch) -> CodexProvider:
    _needs("LETAGENTS_CODEX_BIN", "codex")
    home = tmp_path / "codex"
    home.mkdir()
    (home / "config.toml").write_text(
        'model = "stub"\nmodel_provider = "stub"\n[model_providers.stub]\nname = "stub"\n'
        f'base_url = "{model}/v1"\nwire_api = "responses"\n'
    )
    monkeypatch.setenv("CODEX_HOME", str(home))
    return CodexProvider()


@pytest.fixture
def claude(tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch) -> ClaudeProvider:
    _needs("LETAGENTS_CLAUDE_BIN", "claude")
    for name in [name for name in os.environ if name.startswith(("CLAUDE_CODE_", "ANTHROPIC_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", model)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-none")
    monkeypatch.setenv("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
    return ClaudeProvider(SystemIds())


async def test_codex_lists_our_tools_answers_and_is_found_again(
    codex: CodexProvider, launch: Launch
) -> None:
    notes = Notes()
    with anyio.fail_after(PATIENCE):
        first = await codex.start(launch)
        tools = await _tools(first.reference.connection.url)
        answer = await first.run(turn(1), notes.write)
        await first.leave()
        second = await codex.attach(launch, first.reference)
        assert not isinstance(second, Gone)
        found = await second.fate("item-1", notes.ids[0])
        never = await second.fate("item-2", None)
        await second.end()
        third = await codex.resume(launch, first.reference.conversation_id)
        again = await third.fate("item-1", None)
        next_answer = await third.run(turn(2), notes.write)
        await third.end()
        with pytest.raises(ConversationMissing):
            await codex.resume(launch, "00000000-0000-4000-8000-00000000dead")

    assert {"send_message", "join_room", "claim_task"} <= tools
    assert answer == found == again == next_answer == Answered(WORDS)
    assert never == NeverStarted()


async def test_codex_gives_who_polls_its_tools_whatever_its_owner_set(
    codex: CodexProvider, launch: Launch, tmp_path: Path
) -> None:
    file = tmp_path / "codex" / "config.toml"
    theirs = '[mcp_servers.letagents]\ncommand = "false"\ndisabled_tools = ["send_message"]\n'
    token = '[mcp_servers.letagents.env]\nLETAGENTS_TOKEN = "the-owners"\n'
    file.write_text(file.read_text() + theirs + token)
    now = datetime(2030, 1, 1, tzinfo=UTC)
    url = "https://rooms.example"
    entry = Entry("e1", "r", "Ada", "codex", now, delivery=Delivery.POLLING, api_url=url)
    execution = Execution("x1", "w1", 1, now)
    polls = launcher(str(tmp_path / "daemon.sock"), TOOLS)(entry, execution, "session_1")
    coordinates = {**polls.coordinates, **launch.coordinates}
    with anyio.fail_after(PATIENCE):
        first = await codex.start(
            attrs.evolve(polls, workspace=launch.workspace, coordinates=coordinates)
        )
        tools = await _tools(first.reference.connection.url)
        await first.end()

    assert tools == set(polls.enabled)
    assert {"wait_for_messages", "read_messages", "send_message"} <= tools


async def test_an_open_model_has_our_tools_answers_and_is_found_again(
    tmp_path: Path, model: str, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    _needs("LETAGENTS_OPENCODE_BIN", "opencode")
    monkeypatch.setenv("HOME", str(tmp_path / "opencode"))
    endpoint = Endpoint.of(f"{model}/v1/", "stub", "sk-none")
    provider = OpenModelProvider(lambda: endpoint, tmp_path / "run", SystemClock(), SystemIds())
    notes = Notes()
    with anyio.fail_after(4 * PATIENCE):
        first = await provider.start(launch)  # it raises unless our tools are connected
        answer = await first.run(turn(1), notes.write)
        next_answer = await first.run(turn(2), notes.write)
        await first.leave()
        second = await provider.attach(launch, first.reference)
        assert not isinstance(second, Gone)
        found = await second.fate("item-1", notes.ids[0])
        await second.end()
        third = await provider.resume(launch, first.reference.conversation_id)
        again = await third.fate("item-2", None)
        last = await third.run(turn(3), notes.write)
        await third.end()
        with pytest.raises(ConversationMissing):
            await provider.resume(launch, "ses_00000000000000000000000000")

    assert answer == next_answer == found == again == last == Answered(WORDS)


async def test_a_live_session_of_codex_has_our_tools_and_ends_with_its_turn(
    codex: CodexProvider, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in launch.coordinates.items():
        monkeypatch.setenv(name, value)
    servers = AppServers(TOOLS)
    seen = Seen()
    with anyio.fail_after(PATIENCE):
        server = await servers.launch(None, launch.workspace)
        tools = await _tools(server.url)
        begun = await servers.begin(server.url, launch.workspace, "Say hello.")
        while seen.turn_status not in ("completed", "failed"):
            await anyio.sleep(0.2)
            seen = await servers.look(server.url, begun.thread_id, begun.turn_id)
        await servers.terminate(server.pid, server.birth)
        is_left = await servers.is_ready(server.url)

    assert "register_agent_session" in tools
    assert seen.turn_status == "completed"
    assert seen.activity is not None
    assert seen.activity.summary == WORDS
    assert seen.items[-1]["text"] == WORDS
    assert not is_left


async def _tools(url: str | None) -> set[str]:
    async with linked(url or "", "letagents-test") as link:
        told = await link.call("mcpServerStatus/list", {})
    return next(set(one["tools"]) for one in told["data"] if one["name"] == "letagents")


async def test_claude_code_has_our_tools_answers_and_goes_on(
    claude: ClaudeProvider, launch: Launch
) -> None:
    notes = Notes()
    with anyio.fail_after(PATIENCE):
        first = await claude.start(launch)  # it raises unless our tools are connected
        answer = await first.run(turn(1), notes.write)
        await first.leave()
        gone = await claude.attach(launch, first.reference)
        second = await claude.resume(launch, first.reference.conversation_id)
        by_id = await second.fate("item-1", notes.ids[0])
        by_item = await second.fate("item-1", None)
        next_answer = await second.run(turn(2), notes.write)
        await second.end()

    assert gone == Gone()
    assert answer == by_id == by_item == next_answer == Answered(WORDS)


def test_claude_code_connects_to_our_tools_as_a_person_sets_them_up(
    claude: ClaudeProvider, launch: Launch
) -> None:
    program = _needs("LETAGENTS_CLAUDE_BIN", "claude")
    named = [word for pair in launch.coordinates.items() for word in ("--env", "=".join(pair))]

    def run(*words: str) -> str:
        done = subprocess.run(
            [program, "mcp", *words],
            cwd=launch.workspace,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
        return done.stdout

    run("add", "letagents", *named, "--", *TOOLS)

    assert "Connected" in run("list")
