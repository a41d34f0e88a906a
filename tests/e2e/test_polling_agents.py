"""An agent that waits for messages by itself, in a program that plays Codex, on a server."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest
from tests.e2e.served import Server, served
from tests.e2e.shell import run
from tests.e2e.test_agents import Home, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such sockets")

BEARERS = {"LETAGENTS_AGENT_SESSION_BEARER_ENABLED": "1"}


class Polling(Home):
    """A home in which Codex is played, and an agent of it waits by itself."""

    @property
    def settings(self) -> dict[str, str]:
        return {**super().settings, "LETAGENTS_CODEX_BIN": str(self.folder / "codex")}

    def set_up(self) -> None:
        super().set_up()
        program, fake = self.folder / "codex", self.folder / "claude"
        program.write_text(fake.read_text().replace("fake_claude", "fake_codex"))
        program.chmod(0o700)
        self.plays("never said", "never said", hangs=True)

    def turns(self) -> int:
        file = self.folder / "turns"
        return len(file.read_text().split()) if file.exists() else 0

    def kill_agent(self) -> None:
        """Kill the program of the agent that runs now."""
        threads = json.loads((self.folder / "threads").read_text())
        (turns,) = threads.values()
        os.kill(int(turns[-1]["id"].split("-")[1]), signal.SIGKILL)


def say(home: Home, server: Server, text: str) -> None:
    done = run(home.home, "send", "workshop", text, "--create", settings=dict(server.settings))
    assert done.returncode == 0, done.stderr


def add(home: Home, *words: str) -> "tuple[int, str]":
    done = run(
        home.home, "agents", "add", "ada", "--room", "workshop", "--provider", "codex",
        "--workspace", str(home.folder / "work"), "--name", "Ada", "--polling", *words,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.rule("J92", "J94", "J100", "J103")
def test_an_agent_that_waits_by_itself_loses_and_repeats_nothing_when_killed(
    tmp_path: Path,
) -> None:
    home = Polling(tmp_path)
    home.set_up()
    with served(home.home, settings=BEARERS) as server:
        say(home, server, "Hello.")
        with home.supervised() as supervisor:
            assert "has its room on a server" in add(home)[1]
            assert add(home, "--server", server.url)[0] == 0
            until(lambda: home.turns() == 1)
            with home.tools() as agent:
                say(home, server, "@Ada one?")
                first = agent.call("wait_for_messages", timeout=30)
                agent.call("send_message", text="One.", reply_to=first["messages"][0]["id"])
                supervisor.process.kill()
                supervisor.ended()
                say(home, server, "@Ada two?")
                with home.supervised():
                    second = agent.call(
                        "wait_for_messages", timeout=30,
                        after_message_id=first["last_observed_message_id"],
                    )  # fmt: skip
                    home.kill_agent()
                    until(lambda: home.turns() == 2)
                    with home.tools() as other:
                        third = other.call("wait_for_messages", timeout=30)
                    home.done("agents", "stop", "ada")

    said = [[one["text"] for one in page["messages"]] for page in (first, second, third)]
    assert said == [["@Ada one?"], ["@Ada two?"], ["@Ada two?"]]
