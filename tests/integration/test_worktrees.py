"""The folders that git makes for agents, and everything that may be in their way."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import attrs
import pytest
from tests import own_git

from letagents.adapters import marks
from letagents.adapters.marks import CONTEXT, MARKER
from letagents.adapters.supervisor.coordinates import resolve
from letagents.adapters.worktrees import GitWorktrees
from letagents.domain.supervised import OwnSession
from letagents.domain.workplaces import Context, Wish, WorkplaceRefused, Worktree
from letagents.testing.contracts.supervisor import SESSION

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="agents are not run on Windows"),
]
FILES = "-c protocol.file.allow=always"
ATTEMPT = "0d3f2a5e-0000-4000-8000-00000000aaaa"


@pytest.fixture(autouse=True)
def _nobody_s_git(monkeypatch: pytest.MonkeyPatch) -> None:
    own_git.set_nothing_up(monkeypatch)


def git(folder: Path | str, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, check=True, timeout=20, capture_output=True, text=True
    )
    return done.stdout.strip()


@attrs.define
class Machine:
    """A person's checkout, and the home beside it."""

    folder: Path

    @property
    def checkout(self) -> Path:
        return self.folder / "engine"

    @property
    def trees(self) -> GitWorktrees:
        return GitWorktrees(self.folder / "home" / "worktrees")

    async def planned(
        self, branch: str | None = None, base: str | None = None, taken: tuple[str, ...] = ()
    ) -> Worktree:
        wish = Wish(str(self.checkout), branch, base)
        return await self.trees.plan(wish, "ada", ATTEMPT, taken)

    async def made(self, branch: str | None = None) -> tuple[Worktree, Path]:
        worktree = await self.planned(branch)
        await self.trees.provide(worktree, ATTEMPT)
        return worktree, Path(worktree.folder)

    def state(self) -> tuple[str, str]:
        """Return what a person sees of their checkout."""
        return git(self.checkout, "status", "--porcelain"), git(self.checkout, "branch")


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("committed")
    git(folder, "init", "-q", "-b", "main")
    for name in ("one.txt", "two.txt"):
        (folder / name).write_text(f"{name}\n")
    git(folder, "add", ".")
    author = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    git(folder, *author, "commit", "-qm", "Begin")
    return folder


@pytest.fixture
def machine(committed: Path, tmp_path: Path) -> Machine:
    machine = Machine(tmp_path.resolve())
    shutil.copytree(committed, machine.checkout)
    return machine


@pytest.mark.rule("J74", "J75")
async def test_a_folder_is_planned_made_and_found_again(machine: Machine) -> None:
    (machine.checkout / "one.txt").write_text("not committed\n")
    before = machine.state()
    worktree = await machine.planned()
    assert machine.state() == before
    for _ in range(2):
        await machine.trees.provide(worktree, ATTEMPT)
    folder = Path(worktree.folder)

    assert worktree.was_dirty
    assert (folder / "one.txt").read_text() == "one.txt\n"
    assert git(folder, "branch", "--show-current") == "letagents/ada"
    assert git(folder, "status", "--porcelain", "--untracked-files=all") == ""
    assert machine.state()[0] == before[0]
    assert (machine.folder / "home" / "worktrees").stat().st_mode & 0o077 == 0
    assert marks.read(folder / MARKER) == {
        "version": 1,
        "work_attempt_id": ATTEMPT,
        "repo": "engine",
        "branch": "letagents/ada",
        "resolved_revision": git(machine.checkout, "rev-parse", "HEAD"),
    }
    assert await machine.trees.remove(worktree, ATTEMPT) is None
    assert not folder.exists()
    assert git(machine.checkout, "branch", "--format=%(refname:short)") == "main"


@pytest.mark.rule("J76")
async def test_a_process_in_the_folder_finds_its_supervisor_there(machine: Machine) -> None:
    worktree, folder = await machine.made()
    victim = machine.folder / "victim"
    (folder / CONTEXT).symlink_to(victim)
    context = Context("ada", SESSION.room_id, ATTEMPT, "x1", "s1", "Ada")
    await machine.trees.introduce(worktree, context)
    session = OwnSession(**{**attrs.asdict(SESSION, recurse=False), "context_folder": None})
    found = resolve({}, home_socket=Path("/h/daemon.sock"), here=folder, session=session)

    assert found is not None
    assert (found.entry_id, found.work_attempt_id, found.execution_id) == ("ada", ATTEMPT, "x1")
    assert (found.session_id, found.display_name) == ("s1", "Ada")
    assert not victim.exists()
    assert (folder / CONTEXT).stat().st_mode & 0o777 == 0o600
    git(folder, "add", "-A")
    assert git(folder, "status", "--porcelain") == ""


@pytest.mark.rule("J70")
async def test_a_branch_that_exists_is_left_to_who_has_it(machine: Machine) -> None:
    git(machine.checkout, "branch", "letagents/ada")
    worktree = await machine.planned(taken=("letagents/ada-2",))
    assert (worktree.branch, worktree.is_own_branch) == ("letagents/ada-3", True)

    asked, folder = await machine.made(branch="letagents/ada")
    assert not asked.is_own_branch
    assert git(folder, "branch", "--show-current") == "letagents/ada"
    assert await machine.trees.remove(asked, ATTEMPT) is None
    assert "letagents/ada" in git(machine.checkout, "branch")


@pytest.mark.parametrize(
    ("branch", "base", "said"),
    [
        (None, "nowhere", "Needed a single revision"),
        ("two words", None, "is not a valid branch name"),
        ("-f", None, "is not a valid branch name"),
        ("main", "HEAD", "is there already"),
    ],
)
async def test_what_cannot_be_made_is_refused_before_anything_is_done(
    machine: Machine, branch: str | None, base: str | None, said: str
) -> None:
    with pytest.raises(WorkplaceRefused, match=said):
        await machine.planned(branch, base)
    assert not (machine.folder / "home").exists()


async def test_a_branch_that_the_person_has_checked_out_is_not_taken(machine: Machine) -> None:
    worktree = await machine.planned(branch="main")
    with pytest.raises(WorkplaceRefused, match=r"is checked out in .*engine"):
        await machine.trees.provide(worktree, ATTEMPT)


async def test_a_folder_without_a_repository_or_a_commit_is_none(tmp_path: Path) -> None:
    trees = GitWorktrees(tmp_path / "trees")
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(WorkplaceRefused):
            await trees.plan(Wish(str(folder)), "ada", ATTEMPT, ())
    git(tmp_path, "init", "-q")
    with pytest.raises(WorkplaceRefused, match="Needed a single revision"):
        await trees.plan(Wish(str(tmp_path)), "ada", ATTEMPT, ())


@pytest.mark.rule("J73", "J75")
@pytest.mark.parametrize(
    ("work", "why"),
    [
        ("echo new > three.txt", "one path is"),
        ("echo more >> one.txt; git add one.txt", "one path is"),
        ("rm one.txt", "one path is"),
        ("git checkout -q --detach; git commit -q --allow-empty -m x", "on no branch"),
        ("git checkout -q -b other; git commit -q --allow-empty -m x", None),
        (
            "git commit -q --allow-empty -m x; git bisect start -q 2>&1; true",
            "in the middle of a bisect",
        ),
        ("git worktree lock .", "locked"),
        (
            f"git {FILES} submodule --quiet add ../../../../engine sub; git commit -qm x",
            "submodules",
        ),
    ],
)
async def test_work_is_never_lost_with_a_folder(
    machine: Machine, work: str, why: str | None
) -> None:
    worktree, folder = await machine.made()
    subprocess.run(["/bin/sh", "-ec", work], cwd=folder, check=True, timeout=20)
    kept = await machine.trees.remove(worktree, ATTEMPT)

    if why is None:
        assert kept is None
        assert "other" in git(machine.checkout, "branch")
    else:
        assert kept is not None
        assert why in kept.why
        assert folder.is_dir()


@pytest.mark.rule("J75")
async def test_a_repository_that_has_gone_takes_no_work_with_it(machine: Machine) -> None:
    worktree, folder = await machine.made()
    (folder / "new.txt").write_text("work\n")
    machine.checkout.rename(machine.folder / "moved")
    with pytest.raises(WorkplaceRefused, match="which is not there any more"):
        await machine.trees.provide(worktree, ATTEMPT)
    kept = await machine.trees.remove(worktree, ATTEMPT)

    assert kept is not None
    assert (folder / "new.txt").read_text() == "work\n"
    fresh = attrs.evolve(worktree, folder=str(folder.with_name("fresh")))
    with pytest.raises(WorkplaceRefused, match="cannot change to"):
        await machine.trees.provide(fresh, ATTEMPT)


@pytest.mark.rule("J74")
async def test_a_folder_that_was_removed_by_hand_is_made_again(machine: Machine) -> None:
    worktree, folder = await machine.made()
    git(folder, "commit", "-q", "--allow-empty", "-m", "work")
    newest = git(folder, "rev-parse", "HEAD")
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    await machine.trees.provide(worktree, ATTEMPT)

    assert git(folder, "rev-parse", "HEAD") == newest


@pytest.mark.rule("J72", "J74", "J75")
async def test_who_was_killed_while_a_folder_was_made_leaves_one_that_is_made_anew(
    machine: Machine,
) -> None:
    worktree = await machine.planned()
    folder = Path(worktree.folder)
    folder.parent.mkdir(parents=True, mode=0o700)
    git(machine.checkout, "worktree", "add", "-q", "-b", worktree.branch, str(folder))
    (folder / "one.txt").unlink()
    admin = Path(git(folder, "rev-parse", "--absolute-git-dir"))
    (admin / "index").unlink()
    (admin / "index.lock").touch()
    (admin / "locked").write_text("initializing")
    (folder / "mine.txt").write_text("a person's\n")
    with pytest.raises(WorkplaceRefused, match="is not that agent's"):
        await machine.trees.provide(worktree, ATTEMPT)
    assert (folder / "mine.txt").exists()
    (folder / "mine.txt").unlink()
    await machine.trees.provide(worktree, ATTEMPT)

    assert (folder / "one.txt").exists()
    assert git(folder, "status", "--porcelain") == ""


@pytest.mark.rule("J74")
async def test_who_is_killed_while_git_makes_a_folder_is_waited_for(machine: Machine) -> None:
    worktree = await machine.planned()
    slow, number = machine.folder / "slow", machine.folder / "number"
    goes_on = f"sleep 600 & echo $! > {number}.new; mv {number}.new {number}; wait"
    slow.write_text(f'#!/bin/sh\ncase "$*" in *"worktree add"*) {goes_on};; esac\nexec git "$@"\n')
    slow.chmod(0o700)
    trees = attrs.evolve(machine.trees, program=str(slow))
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(trees.provide, worktree, ATTEMPT)
            while not number.exists():  # noqa: ASYNC110  it is another process
                await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()  # git is killed, but not what it has started
    with pytest.raises(WorkplaceRefused, match="git is still at work there"):
        await machine.trees.provide(worktree, ATTEMPT)
    os.kill(int(number.read_text()), signal.SIGKILL)


@pytest.mark.rule("J72")
async def test_the_folder_of_another_is_neither_worked_in_nor_removed(machine: Machine) -> None:
    worktree, folder = await machine.made()
    with pytest.raises(WorkplaceRefused, match="is not that agent's"):
        await machine.trees.provide(worktree, "another")
    kept = await machine.trees.remove(worktree, "another")

    assert kept is not None
    assert folder.is_dir()
    (folder / MARKER).unlink()  # swept away, as `git clean -fdx` does
    await machine.trees.provide(worktree, ATTEMPT)
    assert (folder / MARKER).exists()


@pytest.mark.rule("J75")
async def test_no_link_leads_a_folder_out_of_the_home(machine: Machine) -> None:
    worktree = await machine.planned()
    elsewhere = machine.folder / "elsewhere"
    elsewhere.mkdir()
    (machine.folder / "home").mkdir()
    (machine.folder / "home" / "worktrees").symlink_to(elsewhere)
    with pytest.raises(WorkplaceRefused, match="a link leads"):
        await machine.trees.provide(worktree, ATTEMPT)

    assert not list(elsewhere.glob("*/*"))


@pytest.mark.rule("J75")
async def test_a_folder_that_is_a_link_is_not_worked_in(machine: Machine) -> None:
    worktree = await machine.planned()
    await machine.trees.provide(worktree, ATTEMPT)
    folder, elsewhere = Path(worktree.folder), machine.folder / "elsewhere"
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)

    with pytest.raises(WorkplaceRefused, match="a link leads"):
        await machine.trees.provide(worktree, ATTEMPT)
    kept = await machine.trees.remove(worktree, ATTEMPT)
    assert kept is not None
    assert "a link" in kept.why
    assert elsewhere.is_dir()
