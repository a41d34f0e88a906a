"""The guard between agents in processes and worktrees of their own, and at a shell."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import anyio
import attrs
import pytest
from tests.e2e import shell
from tests.e2e.chats import Served
from tests.e2e.test_holders import Machine, kill, machine
from tests.integration.guarded import Tree, repository

SHORT = {"LETAGENTS_LEASE_TERM": "1"}
PATIENCE = 60


@attrs.frozen
class Agent:
    """An agent's process, its handle, its task and its worktree."""

    served: Served
    worker_id: str
    task_id: str
    tree: Tree

    def claim(self, *patterns: str) -> None:
        self.served.call(
            "claim_paths",
            task_id=self.task_id,
            patterns=list(patterns),
            cwd=str(self.tree.root),
            worker_id=self.worker_id,
        )


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    tree = repository(tmp_path / "checkout", tmp_path / "home", guard=False)
    installed = shell.run(tmp_path / "home", "guard", "install", "--repo", str(tree.root))
    assert installed.returncode == 0, installed.stderr
    return tree


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Machine]:
    with machine(tmp_path / "home", SHORT) as here:
        yield here


def agent(here: Machine, tree: Tree, name: str) -> Agent:
    """Start an agent that works in a worktree of its own."""
    root = tree.root.parent / name.lower()
    tree.git("worktree", "add", "--quiet", str(root), "-b", name.lower())
    served, worker_id, task_id = here.at_work(name)
    return Agent(served, worker_id, task_id, tree.beside(root.resolve()))


def test_two_agents_and_a_person_keep_out_of_each_other_s_files(here: Machine, tree: Tree) -> None:
    juniper, maple = agent(here, tree, "Juniper"), agent(here, tree, "Maple")
    juniper.claim("src/")
    maple.claim("lib/", "docs/**/*.md")
    own = [juniper.tree.commit("src/app.py"), maple.tree.commit("lib/b.py", "docs/a/b.md")]
    crossed = juniper.tree.commit("lib/b.py", text="x")
    person = tree.commit("src/app.py", text="x")

    assert own == [None, None]
    assert "lib/b.py: Maple | " in (crossed or "")
    assert "src/app.py: Juniper | " in (person or "")
    assert tree.commit("README.md", "src/app.py", text="y", LETAGENTS_GUARD="warn") is None

    handed = juniper.served.call("get_board", worker_id=juniper.worker_id)["tasks"]
    [to] = [one["assignee_agent_key"] for one in handed if one["id"] == maple.task_id]
    juniper.served.call(
        "handoff_task_lease",
        task_id=juniper.task_id,
        target_agent_key=to,
        worker_id=juniper.worker_id,
    )
    went_on = juniper.tree.commit("free.txt")

    assert "went on to Maple | " in (went_on or "")
    assert "Call claim_task for another task" in (went_on or "")
    assert "Call claim_task" not in (crossed or "")
    assert maple.tree.commit("src/app.py", LETAGENTS_WORKER_ID=maple.worker_id) is None


async def test_files_of_an_agent_that_is_dead_are_free_after_a_term_and_of_a_silent_one_not(
    here: Machine, tree: Tree
) -> None:
    dead, silent = agent(here, tree, "Juniper"), agent(here, tree, "Maple")
    dead.claim("src/")
    silent.claim("lib/")
    kill(dead.served)
    tree.write("src/app.py")
    with anyio.fail_after(PATIENCE):
        while tree.try_commit() is not None:
            await anyio.lowlevel.checkpoint()

    assert "lib/b.py: Maple" in (tree.commit("lib/b.py") or "")


def test_the_commands_say_how_the_hooks_are(tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "checkout"
    repository(root, home, guard=False)
    at = ("--repo", str(root))
    before = shell.run(home, "guard", "status", *at)
    installed = shell.run(home, "guard", "install", *at)
    status = shell.run(home, "guard", "status", "--json", *at)
    assert f"home={home}\n" in (root / ".git" / "hooks" / "pre-push").read_text()
    changed = root / ".git" / "hooks" / "pre-commit"
    script = changed.read_text()
    changed.write_text(f"{script}# mine\n")
    left = shell.run(home, "guard", "uninstall", *at)
    changed.write_text(script)
    removed = shell.run(home, "guard", "uninstall", *at)
    nowhere = shell.run(home, "guard", "install", "--repo", str(tmp_path))
    nothing = shell.run(home, "guard")

    assert (before.returncode, before.stdout.count("not installed")) == (1, 2)
    assert (installed.returncode, installed.stdout.count(": installed (")) == (0, 2)
    facts = [json.loads(line) for line in status.stdout.splitlines()]
    assert [(one["hook"], one["status"], one["calls_earlier_hook"]) for one in facts] == [
        ("pre-commit", "installed", False),
        ("pre-push", "installed", False),
    ]
    assert (left.returncode, left.stdout.count("changed since it was installed")) == (1, 1)
    assert (removed.returncode, removed.stdout.count("not installed")) == (0, 2)
    assert (nowhere.returncode, nothing.returncode) == (1, 2)
    assert "is in no git checkout" in nowhere.stderr
    assert "Traceback" not in nowhere.stderr + nothing.stderr


def test_a_check_can_be_asked_for_at_a_shell(here: Machine, tree: Tree) -> None:
    agent(here, tree, "Juniper").claim("src/")
    tree.write("src/app.py")
    check = (*shell.COMMAND, "guard", "check", "--hook", "pre-commit")
    refused, silent = (
        subprocess.run(
            check,
            cwd=tree.root,
            env=shell.environment(tree.home, {"LETAGENTS_GUARD": way}),
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        for way in ("", "off")
    )

    assert (refused.returncode, silent.returncode) == (1, 0)
    assert b"src/app.py: Juniper" in refused.stderr
