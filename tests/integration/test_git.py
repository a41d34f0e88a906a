"""What is found out about the checkout, with a real git, a broken one, and none."""

import getpass
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from tests import own_git

from letagents.adapters.git import GitCheckouts, GitSurroundings, Patience

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are shell scripts")

Git = Callable[[str], GitSurroundings]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of a person whom no other file of the machine names; we stand in it."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    own_git.set_nothing_up(monkeypatch)
    monkeypatch.chdir(folder)
    run_git("init", "--quiet", "--initial-branch", "feature/one")
    return folder


def run_git(*words: str) -> None:
    subprocess.run(["git", *words], check=True, timeout=20)


@pytest.fixture
def scripted(tmp_path: Path) -> Git:
    def written(script: str) -> GitSurroundings:
        path = tmp_path / "a-git"
        path.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
        path.chmod(0o700)
        return GitSurroundings(str(path), patience=Patience(0.3))

    return written


async def test_a_checkout_tells_its_person_and_its_branch(checkout: Path) -> None:
    run_git("config", "user.name", "  Ada Lovelace ")

    assert await GitSurroundings().person() == "Ada Lovelace"
    assert await GitSurroundings().branch() == "feature/one"


async def test_without_a_name_a_person_is_called_as_their_mail_begins(checkout: Path) -> None:
    run_git("config", "user.email", "ada@example.org")

    assert await GitSurroundings().person() == "ada"


async def test_without_name_and_mail_a_person_is_the_system_s_user(checkout: Path) -> None:
    assert await GitSurroundings().person() == getpass.getuser()


async def test_the_branch_is_that_of_the_folder_that_is_asked_about(
    checkout: Path, tmp_path: Path
) -> None:
    (checkout / "below").mkdir()
    asked = [checkout / "below", tmp_path, tmp_path / "nowhere", checkout / ".git" / "HEAD"]
    found = [await GitSurroundings().branch(str(folder)) for folder in asked]

    assert found == ["feature/one", None, None, None]
    assert await GitSurroundings().branch("\0") is None


async def test_no_branch_is_told_where_none_is_checked_out(checkout: Path) -> None:
    run_git("config", "user.name", "Ada")
    run_git("config", "user.email", "ada@example.org")
    run_git("commit", "--quiet", "--allow-empty", "--message", "one")
    run_git("checkout", "--quiet", "--detach")

    assert await GitSurroundings().branch() is None


@pytest.mark.rule("Q1")
async def test_a_git_that_hangs_costs_its_limit_once_and_tells_nothing(scripted: Git) -> None:
    hanging = scripted("sleep 600")

    with anyio.fail_after(10):
        assert await hanging.branch() is None
        assert await hanging.person() == getpass.getuser()


@pytest.mark.rule("Q1")
async def test_a_git_that_hung_is_waited_for_less_until_it_answers_again(
    checkout: Path, scripted: Git, tmp_path: Path
) -> None:
    hanging = scripted(f'test -e {tmp_path}/mended && exec git "$@"; exec sleep 600')
    patience = hanging.patience = Patience(0.3, short=0.05)
    checkouts = GitCheckouts(hanging.git, patience)
    assert patience.now == 0.3
    assert await hanging.branch() is None
    for _ in range(3):
        assert patience.now == 0.05
        assert await hanging.person() == getpass.getuser()
        assert (await checkouts.look(str(checkout))).is_silent

    (tmp_path / "mended").touch()
    patience.limit, patience.short = 30, 20
    assert patience.now == 20
    assert await hanging.branch() == "feature/one"
    assert patience.now == 30


@pytest.mark.rule("Q1")
async def test_two_slow_answers_share_one_limit(scripted: Git) -> None:
    """Each is within the limit, the two together never are."""
    slow = scripted('sleep 0.2; case "$3" in user.email) echo ada@example.org;; *) exit 1;; esac')

    with anyio.fail_after(10):
        assert await slow.person() == getpass.getuser()


@pytest.mark.rule("Q1")
@pytest.mark.parametrize("git", ["/nowhere/git", "/dev/null", ""])
async def test_without_a_git_the_system_s_user_is_all_there_is(git: str) -> None:
    none = GitSurroundings(git)

    assert await none.branch() is None
    assert await none.person() == getpass.getuser()


async def test_what_git_says_wrongly_counts_as_nothing(scripted: Git) -> None:
    assert await scripted("echo main; exit 3").branch() is None
    assert await scripted("echo").branch() is None
    assert await scripted("printf 'm\\377in'").branch() == "m\ufffdin"


async def test_git_is_told_nothing_of_ours(scripted: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETAGENTS_TOKEN", "owner's")

    assert await scripted('echo "none${LETAGENTS_TOKEN}"').branch() == "none"


@pytest.mark.rule("Q1")
async def test_a_caller_who_no_longer_waits_ends_the_git_that_was_asked_and_what_it_started(
    scripted: Git, tmp_path: Path
) -> None:
    script = f"echo $$ > {tmp_path}/pid; sleep 600 & echo $! > {tmp_path}/child; wait"
    hanging = GitSurroundings(scripted(script).git)

    with anyio.fail_after(10):
        async with anyio.create_task_group() as asking:
            asking.start_soon(hanging.branch)
            while not _content(tmp_path / "child"):  # noqa: ASYNC110  a shell can set no event
                await anyio.sleep(0.01)
            asking.cancel_scope.cancel()
        while not is_over(int(_content(tmp_path / "child"))):  # noqa: ASYNC110  as above
            await anyio.sleep(0.01)
    with pytest.raises(ProcessLookupError):
        os.kill(int(_content(tmp_path / "pid")), 0)


def is_over(pid: int) -> bool:
    """Whether a process that is not ours has ended; nobody may have asked yet how."""
    shown = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, check=False)
    return shown.stdout.strip() in {b"", b"Z"}


def _content(file: Path) -> str:
    return file.read_text() if file.exists() else ""
