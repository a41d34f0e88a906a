"""Agents that a supervisor runs, by a program that plays Claude Code: a person's whole way."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import pytest
from tests.e2e.chats import ERAS, Served
from tests.e2e.served import served
from tests.e2e.shell import PATIENCE, Running, run
from tests.integration.provider_stages import install

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such sockets")
MODEL_KEY = "sk-model-0123456789abcdef"


@attrs.define
class Home:
    """A home, and the program that plays Claude Code in it."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "h"

    @property
    def settings(self) -> dict[str, str]:
        return {
            "LETAGENTS_CLAUDE_BIN": str(self.folder / "claude"),
            "LETAGENTS_OPENCODE_BIN": str(self.folder / "opencode"),
            "LETAGENTS_CURSOR_BIN": str(self.folder / "cursor"),
            "LETAGENTS_CODEX_BIN": str(self.folder / "nothing"),
            "MODEL_KEY": MODEL_KEY,
            "FAKE_STAGE": str(self.folder),
            "CLAUDE_CONFIG_DIR": str(self.folder / "config"),
        }

    def set_up(self) -> None:
        for name in ("claude", "opencode", "cursor"):
            stage = str(self.folder)
            install(self.folder / name, f"fake_{name}", FAKE_TOOLS="1", FAKE_STAGE=stage)
        work = self.folder / "work"
        work.mkdir()
        author = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        for words in (("init", "-q"), (*author, "commit", "-q", "--allow-empty", "-m", "Begin")):
            subprocess.run(["git", *words], cwd=work, check=True, timeout=30)
        (work / "draft.txt").write_text("not committed")

    def plays(self, *texts: str, hangs: bool = False) -> None:
        plain = {"crash": None, "hangs": hangs, "quota": False}
        lines = (json.dumps({**plain, "text": text}) for text in texts)
        (self.folder / "plays").write_text("".join(f"{line}\n" for line in lines))

    @contextmanager
    def supervised(self) -> Iterator[Running]:
        words = ["supervise", "--foreground", "--json"]
        with Running(self.home, words, settings=self.settings) as running:
            assert json.loads(running.line())["event"] == "supervising"
            yield running

    def done(self, *words: str) -> str:
        done = run(self.home, *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @contextmanager
    def tail(self, **settings: str) -> Iterator[Running]:
        words = ["tail", "workshop", "-n", "0", "--json"]
        with Running(self.home, words, settings=settings) as running:
            yield running

    def agent(self) -> dict[str, object]:
        """Return the only agent, as it is listed."""
        listed: dict[str, object] = json.loads(self.done("agents", "list", "--json"))
        return listed

    def tools(self) -> Served:
        """Return the tools as the agent's program has them, by what it was told when it began."""
        told = json.loads((self.folder / "environ").read_text())
        given = {name: value for name, value in told.items() if name.startswith("LETAGENTS_")}
        return Served(self.home, ERAS[0], given)


def until(is_so: Callable[[], bool]) -> None:
    for _ in range(PATIENCE * 20):
        if is_so():
            return
        threading.Event().wait(0.05)
    raise AssertionError("it never was so")


def until_stopped(home: Home) -> None:
    """Wait until the supervisor has seen that the agent's process has ended."""
    for _ in range(100):
        (listed,) = home.done("agents", "list", "--json").splitlines()
        if json.loads(listed)["observed_state"] == "stopped":
            return
    raise AssertionError("it goes on")


def heard(tail: Running, text: str) -> str:
    """Return who said `text`, once it is heard."""
    for _ in range(20):
        said = json.loads(tail.line())
        if said["text"] == text:
            return str(said["sender"])
    raise AssertionError(text)


@pytest.mark.long
def test_an_agent_answers_before_and_after_its_supervisor_is_killed(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.set_up()
    home.plays("First.", "Second.")
    home.done("send", "workshop", "Hello.", "--create")
    with home.tail() as tail:
        with home.supervised() as supervisor:
            added = home.done(
                "agents", "add", "ada", "--room", "workshop", "--provider", "claude-code",
                "--repo", str(tmp_path / "work"), "--name", "Ada", "--json",
            )  # fmt: skip
            agent = json.loads(added)
            assert agent["desired_state"] == "running"
            assert agent["source_repo_had_changes"]
            folder = Path(agent["workspace_path"])
            home.done("send", "workshop", "@Ada one?")
            assert heard(tail, "First.").startswith("Ada")
            supervisor.process.kill()
            supervisor.ended()
        home.done("send", "workshop", "@Ada two?")
        with home.supervised():
            assert heard(tail, "Second.").startswith("Ada")
            (listed,) = home.done("agents", "list", "--json").splitlines()
            assert json.loads(listed)["last_error"] is None
            marker = json.loads((folder / ".letagents-work-attempt.json").read_text())
            assert marker["work_attempt_id"] == agent["work_attempt_id"]
            (folder / "result.txt").write_text("work of the agent")
            home.done("agents", "stop", "ada")
            until_stopped(home)
            told = home.done("agents", "remove", "ada")
            assert "is kept: one path is changed or new in it" in told
            assert (folder / "result.txt").exists()

    assert len((tmp_path / "turns").read_text().split()) == 2
    environ = json.loads((tmp_path / "environ").read_text())
    assert environ["PWD"] == str(folder)
    assert environ["LETAGENTS_SUPERVISOR_ENTRY_ID"] == "ada"
    assert not {"LETAGENTS_TOKEN", "LETAGENTS_AGENT_SESSION_BEARER"} & environ.keys()


@pytest.mark.long
def test_an_agent_works_in_a_room_on_a_server_and_is_lent_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.set_up()
    home.plays("never said", hangs=True)
    with served(home.home) as server:
        there = dict(server.settings)
        run(home.home, "send", "workshop", "Hi.", "--create", settings=there)

        def is_asked() -> bool:  # an agent begins at the end of its room: what came before is past
            run(home.home, "send", "workshop", "@Ada go on", settings=there)
            return (tmp_path / "turns").exists()

        with home.supervised() as supervisor, home.tail(**there) as tail:
            home.done(
                "agents", "add", "ada", "--room", "workshop", "--provider", "claude-code",
                "--workspace", str(tmp_path / "work"), "--name", "Ada", "--server", server.url,
            )  # fmt: skip
            until(is_asked)
            with home.tools() as tools:
                tools.call("send_message", text="I am at it.")
            assert heard(tail, "I am at it.").startswith("Ada | ")
            supervisor.process.kill()
            supervisor.ended()
        with home.supervised():
            listed = home.agent()
            home.done("agents", "stop", "ada")
            until(lambda: home.agent()["observed_state"] == "stopped")
        environ = (tmp_path / "environ").read_text()

    assert listed["api_url"] == server.url
    assert server.owner not in environ
    assert server.owner.encode() not in (home.home / "supervisor.db").read_bytes()


@pytest.mark.long
def test_an_agent_of_an_open_model_answers_and_its_key_is_written_nowhere(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.set_up()
    home.plays("First.")
    home.done("send", "workshop", "Hello.", "--create")
    with home.tail() as tail, home.supervised():
        home.done(
            "agents", "add", "ada", "--room", "workshop", "--provider", "open-model",
            "--base-url", "http://127.0.0.1:9/v1", "--model", "big", "--key-env", "MODEL_KEY",
            "--workspace", str(tmp_path / "work"), "--name", "Ada",
        )  # fmt: skip
        home.done("send", "workshop", "@Ada one?")
        assert heard(tail, "First.").startswith("Ada")
        agent = home.agent()
        assert agent["api_key_from"] == "the variable MODEL_KEY"
        home.done("agents", "stop", "ada")
        until_stopped(home)
    environ = json.loads((tmp_path / "environ").read_text())

    assert [name for name, value in environ.items() if MODEL_KEY in value] == [
        "OPENCODE_AUTH_CONTENT"
    ]
    assert MODEL_KEY not in (tmp_path / "argv").read_text()
    for file in home.home.rglob("*"):
        assert not file.is_file() or MODEL_KEY.encode() not in file.read_bytes()


@pytest.mark.long
def test_an_agent_of_cursor_says_its_answer_by_a_tool(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.set_up()
    home.plays("First.")
    home.done("send", "workshop", "Hello.", "--create")
    with home.tail() as tail, home.supervised():
        home.done(
            "agents", "add", "ada", "--room", "workshop", "--provider", "cursor",
            "--repo", str(tmp_path / "work"), "--name", "Ada",
        )  # fmt: skip
        home.done("send", "workshop", "@Ada one?")
        assert heard(tail, "First.").startswith("Ada")
        home.done("agents", "stop", "ada")
        until_stopped(home)
        assert "is kept" not in home.done("agents", "remove", "ada")
    prompt = json.loads((tmp_path / "argv").read_text())[-1]

    assert "complete_room_turn" in prompt
    assert not list((home.home / "worktrees").glob("*/*"))


@pytest.mark.long
def test_what_a_person_asks_wrongly_of_a_supervisor_is_told(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.set_up()
    alone = run(home.home, "agents", "list")
    assert alone.returncode == 1
    assert "cannot be reached" in alone.stderr
    with home.supervised():
        unknown = run(home.home, "agents", "start", "nobody")
        nowhere = run(
            home.home, "agents", "add", "ada", "--room", "r", "--provider", "codex",
            "--workspace", str(tmp_path / "nowhere"),
        )  # fmt: skip
        nameless = run(
            home.home, "agents", "add", "ada", "--room", "r", "--provider", "open-model",
            "--workspace", str(tmp_path),
        )  # fmt: skip
        missing = run(
            home.home, "agents", "add", "ada", "--room", "r", "--provider", "codex",
            "--workspace", str(tmp_path),
        )  # fmt: skip
        assert "There are no agents" in home.done("agents", "list")
        unlisted = run(home.home, "effects", "nobody")

    assert "Unknown daemon manifest entry: nobody" in unknown.stderr
    assert "Unknown daemon manifest entry: nobody" in unlisted.stderr
    assert "`letagents agents list`" in unknown.stderr
    assert "There is no folder" in nowhere.stderr
    assert "Pass --base-url URL and --model NAME" in nameless.stderr
    assert "npm install -g @openai/codex" in missing.stderr
