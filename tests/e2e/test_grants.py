"""An agent whose machine is signed in nowhere works on a server by a host grant: a person's way."""

import json
import sys
from pathlib import Path

import pytest
from tests.e2e.served import served
from tests.e2e.shell import run
from tests.e2e.test_agents import Home, until

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform == "win32", reason="there are no such sockets"),
]
BEARERS = {"LETAGENTS_AGENT_SESSION_BEARER_ENABLED": "1"}


def test_an_agent_is_let_in_by_a_grant_alone_until_that_is_ended(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.set_up()
    home.plays("never said", hangs=True)
    far, file = tmp_path / "far", tmp_path / "grant.json"
    with served(far, settings=BEARERS) as server:
        there = dict(server.settings)
        server.account("ben")
        file.write_text(run(far, "accounts", "grant", "ben").stdout)
        given = json.loads(file.read_text())
        run(far, "send", "workshop", "Hi.", "--create", settings=there)

        def is_asked() -> bool:
            run(far, "send", "workshop", "@Ada go on", settings=there)
            return (tmp_path / "turns").exists()

        with home.supervised():
            home.done(
                "agents", "add", "ada", "--room", "workshop", "--provider", "claude-code",
                "--workspace", str(tmp_path / "work"), "--name", "Ada", "--server", server.url,
            )  # fmt: skip
            until(lambda: "agents grant ada --file" in str(home.agent()["last_error"]))
            refused = home.done("agents", "status", "ada")
            missing = run(home.home, "agents", "grant", "ada", "--file", str(tmp_path / "none"))
            said = home.done("agents", "grant", "ada", "--file", str(file))
            until(is_asked)
            with home.tools() as tools:
                tools.call("send_message", text="I am at it.")
            shown = run(far, "tail", "workshop", "--once", settings=there).stdout
            run(far, "accounts", "end-grant", given["grant_id"])
            until(lambda: home.agent()["condition"] == "auth_blocked")
            status = home.done("agents", "status", "ada")
            again = run(home.home, "agents", "grant", "ada", "--file", str(file))
        kept = (home.home / "supervisor.db").read_bytes()
        environ = (tmp_path / "environ").read_text()

    assert (missing.returncode, "Traceback" in missing.stderr) == (1, False)
    assert "none cannot be read" in missing.stderr
    assert f"in workshop at {server.url}: wanted running" in refused
    assert "start_device_auth" not in refused
    assert "held in memory" in said
    assert "I am at it." in shown
    assert "auth_blocked" in status
    assert (again.returncode, "HTTP 401" in again.stderr) == (1, True)
    secret = given["supervisor_grant"]
    assert secret.encode() not in kept
    assert secret not in environ
