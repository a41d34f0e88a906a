"""What the programs of agents are given, and what is taken from them: no secret either way."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import anyio
import attrs
import pytest
from tests.integration import provider_stages
from tests.integration.provider_stages import FakedStage

from letagents.adapters.processes import births
from letagents.adapters.processes.births import Presence
from letagents.adapters.providers import claude_transcript, codex
from letagents.adapters.providers.live_codex import AppServers
from letagents.domain.errors import Malformed
from letagents.domain.turns import (
    Answered,
    Failed,
    ProcessAmbiguous,
    ProviderMissing,
    ProviderUnusable,
    Running,
    TurnUnsettled,
    Unknowable,
    WorkspaceMissing,
)
from letagents.ports.providers import Gone, Launch, Reference
from letagents.settings import Settings
from letagents.testing.contracts.providers import PATIENCE, Notes, turn
from letagents.testing.scripted_provider import Crash, Play
from letagents.wiring.providers import agent_provider

SECRETS = ("owner's", "sk-ant-very-secret-0123456789", "bearer's", "server's")


@pytest.fixture(
    params=["codex", "claude", "open_model", pytest.param("cursor", marks=pytest.mark.long)]
)
def stage(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> FakedStage:
    monkeypatch.setenv("LETAGENTS_AGENT_SESSION_BEARER", "bearer's")
    monkeypatch.setenv("LETAGENTS_ROOMS_DB", "postgresql://ada:server's@db/rooms")
    monkeypatch.setenv("CLAUDECODE", "1")
    made: FakedStage = getattr(provider_stages, request.param)(tmp_path, monkeypatch)
    return made


def test_codex_gives_our_tools_no_token_of_its_owner_and_only_those_that_are_named() -> None:
    launch = Launch(workspace="/w", tools=("letagents", "mcp"), enabled=("wait_for_messages",))
    made = codex.overrides(launch, "/w")

    (env,) = [one for one in made if one.startswith("mcp_servers.letagents.env=")]
    assert 'LETAGENTS_TOKEN = ""' in env
    assert 'LETAGENTS_AGENT_SESSION_BEARER = ""' in env
    assert 'mcp_servers.letagents.enabled_tools=["wait_for_messages"]' in made
    everything = codex.overrides(attrs.evolve(launch, enabled=()), "/w")
    assert not any("enabled_tools" in one for one in everything)


@pytest.mark.rule("Y30")
async def test_a_program_is_given_no_credential_and_its_last_words_show_none(
    stage: FakedStage,
) -> None:
    stage.play(Play(crash=Crash.AFTER_ITS_ID))
    await stage.provider.version()
    asked = stage.environ()
    with anyio.fail_after(PATIENCE):
        conversation = await stage.provider.start(stage.launch)
        with pytest.raises(TurnUnsettled):
            await conversation.run(turn(), Notes().write)
        ending = await conversation.ended()
    given = stage.environ()

    assert given["LETAGENTS_SUPERVISOR_ENTRY_ID"] == "entry-1"
    assert "CLAUDECODE" not in given
    assert not any(name.endswith(("TOKEN", "BEARER", "ROOMS_DB")) for name in given)
    assert "it failed" in ending.tail
    words = (" ".join(stage.argv()), " ".join(given.values()), " ".join(asked.values()))
    for shown in (*words, ending.tail, repr(ending)):
        assert not any(secret in shown for secret in SECRETS)


async def test_codex_is_found_again_by_its_address_and_birth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = provider_stages.codex(tmp_path, monkeypatch)
    stage.play(Play("one"), Play("two"))
    notes = Notes()
    with anyio.fail_after(PATIENCE):
        first = await stage.provider.start(stage.launch)
        one = await first.run(turn(1), notes.write)
        await first.leave()
        with pytest.raises(ProcessAmbiguous) as told:  # its launcher alone has ended
            await stage.reopened().attach(stage.launch, _of_another_birth(first.reference))
        found = await stage.reopened().attach(stage.launch, first.reference)
        assert not isinstance(found, Gone)
        two = await found.run(turn(2), notes.write)
        before = await found.fate("item-1", notes.ids[0])
        await found.end()
    at = first.reference.connection

    assert (one, before, two) == (Answered("one"), Answered("one"), Answered("two"))
    assert births.presence(at.pid, at.birth) is Presence.GONE
    assert f"answers at {at.url} still" in told.value.happened
    assert f"`kill -- -{at.pid}`" in told.value.remedy


def _of_another_birth(known: Reference) -> Reference:
    at = known.connection
    return attrs.evolve(known, connection=attrs.evolve(at, birth=f"{at.birth}0"))


async def test_codex_that_is_found_and_not_gone_on_with_is_held_by_no_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = provider_stages.codex(tmp_path, monkeypatch)
    nowhere = attrs.evolve(stage.launch, workspace=str(tmp_path / "gone"))
    with anyio.fail_after(PATIENCE):
        first = await stage.provider.start(stage.launch)
        await first.leave()
        before = asyncio.all_tasks()
        with pytest.raises(WorkspaceMissing):
            await stage.reopened().attach(nowhere, first.reference)
        left = asyncio.all_tasks() - before
        await stage.provider.abandon(first.reference.connection)

    assert left == set()


@pytest.mark.parametrize(
    ("play", "url"),
    [
        (provider_stages.codex, "ws://127.0.0.1:1"),
        pytest.param(provider_stages.open_model, "http://127.0.0.1:1", marks=pytest.mark.long),
    ],
)
async def test_a_program_that_cannot_be_spoken_to_any_more_is_ended_before_another_is_started(
    play: Callable[[Path, pytest.MonkeyPatch], FakedStage],
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = play(tmp_path, monkeypatch)
    with anyio.fail_after(PATIENCE):
        first = await stage.provider.start(stage.launch)
        await first.leave()
        at = first.reference.connection
        deaf = attrs.evolve(first.reference, connection=attrs.evolve(at, url=url))
        other = attrs.evolve(deaf, connection=attrs.evolve(deaf.connection, birth="another"))
        gone = await stage.reopened().attach(stage.launch, other)
        is_there = births.presence(at.pid, at.birth)
        found = await stage.reopened().attach(stage.launch, deaf)

    assert (gone, is_there) == (Gone(), Presence.SAME)
    assert found == Gone()
    assert births.presence(at.pid, at.birth) is Presence.GONE


@pytest.mark.long
async def test_codex_that_is_found_in_the_middle_of_a_turn_is_looked_at_and_not_disturbed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("letagents.adapters.providers.codex_conversation.LOOKED_EVERY", 0.05)
    stage = provider_stages.codex(tmp_path, monkeypatch)
    stage.play(Play(hangs=True), Play("two"))
    notes = Notes()
    with anyio.fail_after(PATIENCE):
        first = await stage.provider.start(stage.launch)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(first.run, turn(1), notes.write)
            await notes.began.wait()
            tasks.cancel_scope.cancel()
        await first.leave()
        found = await stage.reopened().attach(stage.launch, first.reference)
        assert not isinstance(found, Gone)
        during = await found.fate("item-1", notes.ids[0])
        await found.interrupt(notes.ids[0])
        two = await found.run(turn(2), notes.write)
        await found.end()

    assert (during, two) == (Running(), Answered("two"))


async def test_two_transcripts_of_one_conversation_cannot_be_told_apart(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / "projects" / folder).mkdir(parents=True)
        (tmp_path / "projects" / folder / "session-1.jsonl").write_text("{}\n")
    files = claude_transcript.files_of("session-1", {"CLAUDE_CONFIG_DIR": str(tmp_path)})

    assert isinstance(claude_transcript.fate(files, "item-1", None), Unknowable)


@pytest.mark.rule("Y40", "Y42")
async def test_a_server_is_ended_only_if_it_is_the_one_that_was_launched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = provider_stages.codex(tmp_path, monkeypatch)
    servers, later = AppServers(provider_stages.TOOLS), AppServers(provider_stages.TOOLS)
    with anyio.fail_after(PATIENCE):
        server = await servers.launch(None, stage.launch.workspace)
        await later.terminate(server.pid, f"{server.birth}0")
        is_there = await later.is_ready(server.url)
        await later.terminate(server.pid, server.birth)
        is_left = await later.is_ready(server.url)
        await servers.terminate(server.pid, server.birth)

    assert (is_there, is_left) == (True, False)


@pytest.mark.rule("Y20", "Y40")
async def test_a_server_that_ends_at_once_is_told_of_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = provider_stages.codex(tmp_path, monkeypatch)
    (tmp_path / "program").write_text("#!/bin/sh\necho no licence, key=sk-ant-REDACTED\n")
    with anyio.fail_after(PATIENCE), pytest.raises(ProviderUnusable) as told:
        await AppServers(provider_stages.TOOLS).launch(None, stage.launch.workspace)

    assert "no licence" in told.value.happened
    assert "sk-ant" not in str(told.value)


@pytest.mark.rule("Y13", "Y20")
@pytest.mark.parametrize(
    ("name", "variable", "install"),
    [
        ("codex", "LETAGENTS_CODEX_BIN", "npm install -g @openai/codex"),
        ("claude-code", "LETAGENTS_CLAUDE_BIN", "npm install -g @anthropic-ai/claude-code"),
        ("open-model", "LETAGENTS_OPENCODE_BIN", "npm install -g opencode-ai"),
        ("cursor", "LETAGENTS_CURSOR_BIN", "curl https://cursor.com/install -fsS | bash"),
    ],
)
async def test_each_provider_says_how_its_program_is_installed(
    name: str, variable: str, install: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(tmp_path / "nothing"))
    provider = agent_provider(name, Settings(home=tmp_path))
    with pytest.raises(ProviderMissing) as told:
        await provider.start(Launch(workspace=str(tmp_path)))

    assert provider.name == name
    assert install in told.value.remedy
    assert variable in told.value.remedy


async def test_an_agent_whose_folder_is_gone_is_not_started_and_told_so(stage: FakedStage) -> None:
    launch = attrs.evolve(stage.launch, workspace=str(stage.folder / "gone"))
    with anyio.fail_after(PATIENCE), pytest.raises(WorkspaceMissing, match="gone, in which"):
        await stage.provider.start(launch)

    assert stage.programs_begun() == 0


def test_a_provider_that_is_none_is_refused_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(Malformed, match="codex, claude-code, open-model or cursor"):
        agent_provider("hovercraft", Settings(home=tmp_path))


async def test_an_agent_of_an_open_model_that_nobody_set_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = provider_stages.open_model(tmp_path, monkeypatch)
    with pytest.raises(ProviderUnusable, match="missing a model"):
        await agent_provider("open-model", Settings(home=tmp_path)).start(stage.launch)

    assert not (tmp_path / "argv").exists()


async def test_the_key_of_an_open_model_goes_to_its_program_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = provider_stages.open_model(tmp_path, monkeypatch)
    with anyio.fail_after(PATIENCE):
        conversation = await stage.provider.start(stage.launch)
        at = conversation.reference.connection
        password = Path(at.auth_path or "").read_text("ascii")
        mode = Path(at.auth_path or "").stat().st_mode & 0o777
        await conversation.end()
    given = stage.environ()
    holding = [name for name, value in given.items() if provider_stages.API_KEY in value]

    assert holding == ["OPENCODE_AUTH_CONTENT"]
    assert mode == 0o600
    assert not Path(at.auth_path or "").exists()
    for shown in (" ".join(stage.argv()), repr(conversation), repr(at)):
        assert provider_stages.API_KEY not in shown
        assert password not in shown


@pytest.mark.long
async def test_what_is_too_long_for_a_command_line_is_a_failure_and_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = provider_stages.cursor(tmp_path, monkeypatch)
    with anyio.fail_after(PATIENCE):
        conversation = await stage.provider.start(stage.launch)
        long = attrs.evolve(turn(), text="long " * 30_000)
        outcome = await conversation.run(long, Notes().write)
        after = await conversation.run(turn(2), Notes().write)
        await conversation.end()

    assert isinstance(outcome, Failed)
    assert after == Answered("ok")
    assert stage.turns_run() == ["item-2"]


@pytest.mark.long
async def test_a_cursor_that_was_not_given_our_tools_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = provider_stages.cursor(tmp_path, monkeypatch)
    (tmp_path / "program").write_text("#!/bin/sh\necho 'No MCP servers configured'\n")
    with anyio.fail_after(PATIENCE), pytest.raises(ProviderUnusable) as told:
        await stage.provider.start(stage.launch)

    assert "~/.cursor/mcp.json" in told.value.remedy
