"""The guard among the hooks of a repository: put there, taken away, and what was there before."""

import stat
import sys
from pathlib import Path

import pytest
from tests.integration.guarded import Tree, repository

from letagents.adapters.guard import hooks as guard_hooks
from letagents.adapters.guard.hooks import KEPT, NAMES, GitHooks
from letagents.entrypoints.cli import guarding
from letagents.ports.guard import HookState, HookStatus, NoHooks

needs_scripts = pytest.mark.skipif(sys.platform == "win32", reason="modes and links are Unix's")

OURS = [HookStatus.OURS, HookStatus.OURS]
ABSENT = [HookStatus.ABSENT, HookStatus.ABSENT]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return repository(tmp_path / "checkout", tmp_path / "home", guard=False)


@pytest.fixture
def guard(tree: Tree) -> GitHooks:
    return GitHooks(tree.root)


def statuses(states: list[HookState]) -> list[HookStatus]:
    return [one.status for one in states]


def hook(tree: Tree, text: str, name: str = "pre-commit", mode: int = 0o755) -> Path:
    file = tree.root / ".git" / "hooks" / name
    file.write_text(text)
    file.chmod(mode)
    return file


def everything(folder: Path) -> dict[str, tuple[int, bytes | str]]:
    """Return all files of a folder, with their modes and what they hold."""
    return {
        file.name: (
            stat.S_IMODE(file.lstat().st_mode),
            str(file.readlink()) if file.is_symlink() else file.read_bytes(),
        )
        for file in folder.iterdir()
        if file.is_symlink() or file.is_file()
    }


def test_the_check_refuses_with_the_code_that_the_hook_awaits() -> None:
    assert guard_hooks.REFUSED == guarding.REFUSED


@pytest.mark.rule("K98")
def test_the_guard_is_put_there_and_taken_away_again(guard: GitHooks, tree: Tree) -> None:
    hooks = tree.root / ".git" / "hooks"
    before = everything(hooks)
    installed = guard.install()
    again = guard.install()
    there = guard.status()
    gone = guard.uninstall()
    gone_again = guard.uninstall()

    assert statuses(installed) == statuses(again) == statuses(there) == OURS
    assert not any(one.has_kept for one in there)
    assert statuses(gone) == statuses(gone_again) == ABSENT
    assert everything(hooks) == before


@needs_scripts
@pytest.mark.rule("K98")
def test_an_earlier_hook_is_called_first_and_put_back_as_it_was(
    guard: GitHooks, tree: Tree
) -> None:
    hooks = tree.root / ".git" / "hooks"
    hook(tree, '#!/bin/sh\necho "$0 was called" >&2\n[ ! -e stop ]\n')
    (hooks / "pre-push").symlink_to("pre-commit")
    before = everything(hooks)
    states = guard.install()
    allowed = tree.run("commit", "--allow-empty", "-qm", "one")
    (tree.root / "stop").touch()
    refused = tree.run("commit", "--allow-empty", "-qm", "two")
    guard.install()
    guard.uninstall()

    assert all(one.has_kept for one in states)
    assert (allowed.returncode, refused.returncode) == (0, 1)
    assert "hooks/pre-commit was called" in allowed.stderr, "under the name that git calls"
    assert everything(hooks) == before


@needs_scripts
@pytest.mark.rule("K98")
@pytest.mark.parametrize("shebang", ["#!/usr/bin/env bash", "#!/bin/sh -e", f"#!{sys.executable}"])
def test_an_earlier_hook_of_any_kind_is_called(guard: GitHooks, tree: Tree, shebang: str) -> None:
    words = "import sys; sys.exit(7)" if "python" in shebang else "exit 7"
    hook(tree, f"{shebang}\n{words}\n")
    guard.install()

    assert tree.run("commit", "--allow-empty", "-qm", "one").returncode == 1


@needs_scripts
def test_an_earlier_hook_that_git_would_not_call_is_not_called(guard: GitHooks, tree: Tree) -> None:
    kept = hook(tree, "#!/bin/sh\nexit 7\n", mode=0o644)
    guard.install()

    assert tree.run("commit", "--allow-empty", "-qm", "one").returncode == 0
    guard.uninstall()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o644


@needs_scripts
def test_an_earlier_hook_gets_what_git_says_and_the_guard_too(
    guard: GitHooks, tree: Tree, tmp_path: Path
) -> None:
    tree.git("init", "--quiet", "--bare", str(tmp_path / "remote.git"))
    tree.git("remote", "add", "shared", str(tmp_path / "remote.git"))
    heard = tmp_path / "heard"
    hook(tree, f'#!/bin/sh\necho "$1" > {heard}\ncat >> {heard}\n', "pre-push")
    guard.install()
    tree.git("push", "--quiet", "shared", "main")
    name, refs = heard.read_text().splitlines()

    assert name == "shared"
    assert refs.startswith("refs/heads/main ")


@pytest.mark.rule("K98")
def test_what_somebody_changed_is_left_alone(guard: GitHooks, tree: Tree) -> None:
    guard.install()
    file = tree.root / ".git" / "hooks" / "pre-commit"
    file.write_text(file.read_text() + "echo more\n")
    changed = file.read_text()
    with pytest.raises(NoHooks, match="changed it since"):
        guard.install()
    states = guard.uninstall()

    assert statuses(states) == [HookStatus.CHANGED, HookStatus.ABSENT]
    assert file.read_text() == changed


@pytest.mark.rule("K98")
def test_a_hook_that_came_later_is_not_written_over(guard: GitHooks, tree: Tree) -> None:
    hook(tree, "#!/bin/sh\n# first\n")
    guard.install()
    later = hook(tree, "#!/bin/sh\n# later\n")
    with pytest.raises(NoHooks, match="is kept already"):
        guard.install()
    states = guard.uninstall()

    assert statuses(states) == [HookStatus.FOREIGN, HookStatus.ABSENT]
    assert "later" in later.read_text()
    assert "first" in later.with_name(f"pre-commit{KEPT}").read_text()


def test_the_same_hook_put_there_again_by_its_own_tool_is_kept_once(
    guard: GitHooks, tree: Tree
) -> None:
    hook(tree, "#!/bin/sh\n# husky\n")
    guard.install()
    again = hook(tree, "#!/bin/sh\n# husky\n")
    states = guard.install()
    guard.uninstall()

    assert statuses(states) == OURS
    assert again.read_text() == "#!/bin/sh\n# husky\n"


@pytest.mark.rule("K98")
def test_an_install_that_was_cut_short_is_finished_by_the_next(guard: GitHooks, tree: Tree) -> None:
    file = hook(tree, "#!/bin/sh\n# first\n")
    file.rename(file.with_name(f"pre-commit{KEPT}"))
    states = guard.install()
    guard.uninstall()

    assert statuses(states) == OURS
    assert "first" in file.read_text()


def test_a_folder_of_hooks_of_one_s_own_is_used(guard: GitHooks, tree: Tree) -> None:
    tree.git("config", "core.hooksPath", "my hooks")
    states = guard.install()

    assert [one.path for one in states] == [str(tree.root / "my hooks" / name) for name in NAMES]
    assert statuses(GitHooks(tree.root / "src").status()) == OURS
    assert "nothing was checked" not in tree.run("commit", "--allow-empty", "-qm", "x").stderr
    assert not (tree.root / ".git" / "hooks" / "pre-commit").exists()
    assert all(one.is_apart for one in states)


def test_worktrees_have_the_hooks_of_their_repository(
    guard: GitHooks, tree: Tree, tmp_path: Path
) -> None:
    tree.git("worktree", "add", "--quiet", str(tmp_path / "beside"))
    GitHooks(tmp_path / "beside").install()

    assert statuses(guard.status()) == OURS
    assert not any(one.is_apart for one in GitHooks(tmp_path / "beside").status())


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such thing here")
def test_hooks_that_are_switched_off_are_told_of(guard: GitHooks, tree: Tree) -> None:
    tree.git("config", "core.hooksPath", "/dev/null")

    with pytest.raises(NoHooks, match="switched off") as refused:
        guard.install()
    assert "git config --unset core.hooksPath" in refused.value.remedy


def test_a_folder_that_takes_no_files_is_told_of(guard: GitHooks, tree: Tree) -> None:
    tree.git("config", "core.hooksPath", "README.md/hooks")

    with pytest.raises(NoHooks, match=r"README\.md"):
        guard.install()


def test_where_there_is_no_repository_there_are_no_hooks(tmp_path: Path) -> None:
    with pytest.raises(NoHooks, match="is in no git checkout"):
        GitHooks(tmp_path).install()
    with pytest.raises(NoHooks, match="is in no git checkout"):
        GitHooks(tmp_path / "nowhere").status()


def test_a_git_that_is_missing_is_not_taken_for_a_missing_repository(tmp_path: Path) -> None:
    with pytest.raises(NoHooks, match="git cannot be started"):
        GitHooks(tmp_path, git="no-such-git").status()


@needs_scripts
@pytest.mark.parametrize(
    ("python", "said"), [("/no/python", "is gone"), ("/bin/false", "could not run")]
)
def test_a_guard_that_cannot_run_stops_nobody(tree: Tree, python: str, said: str) -> None:
    GitHooks(tree.root, python=python).install()
    done = tree.run("commit", "--allow-empty", "-qm", "one")

    assert done.returncode == 0
    assert said in done.stderr
    assert "nothing was checked" in done.stderr
