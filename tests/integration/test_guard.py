"""Commits and pushes under guard, with the real git, its hooks and this machine's rooms."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import anyio
import pytest
from tests.integration.guarded import REMOTE, REPOSITORY, Tree, Workers, repository, workers_in

from letagents.adapters.guard.hooks import GitHooks
from letagents.domain.board import Handoff, Release, Target
from letagents.domain.ids import RoomId
from letagents.domain.tasks import Patch, Proposal, Status
from letagents.testing.contracts.room_callers import ROOM, arrival, worker

pytestmark = pytest.mark.anyio


@pytest.fixture
async def workers(tmp_path: Path) -> AsyncIterator[Workers]:
    async with workers_in(tmp_path / "home") as workers:
        yield workers


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Return a person's checkout, in which no worker has claimed anything."""
    return repository(tmp_path / "checkout", tmp_path / "home")


def named(number: int) -> dict[str, str]:
    return {"LETAGENTS_WORKER_ID": str(worker(number))}


# --- commits --------------------------------------------------------------------------------------


@pytest.mark.rule("K95", "K96")
async def test_a_commit_to_claimed_files_is_refused_and_says_who_since_when_and_how_to_go_on(
    workers: Workers, tree: Tree
) -> None:
    _, task_id = await workers.at_work(1, "src/", "*.md")
    complaint = tree.commit("src/new.py", "README.md", "free.txt")

    assert complaint is not None
    assert "src/new.py: Worker1 | Ada's agent | Claude Code has it" in complaint
    assert f"for {task_id} in workshop (paths_lease_1, since 20" in complaint
    assert "README.md: " in complaint
    assert "free.txt" not in complaint
    assert "@agent:ada/worker-" in complaint
    assert "LETAGENTS_GUARD=warn git commit" in complaint
    assert "Traceback" not in complaint


@pytest.mark.rule("K95")
async def test_a_commit_to_other_files_goes_through_without_a_word(
    workers: Workers, tree: Tree
) -> None:
    await workers.at_work(1, "src/", "*.md")
    tree.write("lib/new.py", "sub/README.md")
    done = tree.run("commit", "--quiet", "--message", "one")

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.rule("K96")
async def test_whom_the_environment_names_commits_its_own_and_not_another_s(
    workers: Workers, tree: Tree
) -> None:
    await workers.at_work(1, "src/")
    await workers.at_work(2, "lib/")

    assert tree.commit("src/app.py", **named(1)) is None
    assert tree.commit("lib/b.py", **named(2)) is None
    assert "lib/b.py: Worker2" in (tree.commit("lib/b.py", text="x", **named(1)) or "")


@pytest.mark.rule("K96")
async def test_a_checkout_from_which_paths_were_claimed_is_that_worker_s(
    workers: Workers, tree: Tree, tmp_path: Path
) -> None:
    tree.git("worktree", "add", "--quiet", str(tmp_path / "hers"), "-b", "hers")
    hers = tree.beside((tmp_path / "hers").resolve())
    await workers.at_work(1, "src/", root=hers.root)
    await workers.at_work(2, "lib/", root=tree.root)

    assert hers.commit("src/app.py") is None
    assert tree.commit("lib/b.py") is None
    assert "src/app.py: Worker1" in (tree.commit("src/app.py", text="x") or "")
    assert "lib/b.py: Worker2" in (hers.commit("lib/b.py", text="x") or "")


@pytest.mark.rule("K96")
async def test_of_two_who_share_a_checkout_each_commits_its_own(
    workers: Workers, tree: Tree
) -> None:
    await workers.at_work(1, "src/", root=tree.root)
    await workers.at_work(2, "lib/", root=tree.root)

    assert tree.commit("src/app.py") is None
    assert tree.commit("lib/b.py") is None
    assert tree.commit("src/app.py", "lib/b.py", text="both") is not None


@pytest.mark.rule("K97")
async def test_who_handed_its_task_over_commits_nothing_more_under_it(
    workers: Workers, tree: Tree
) -> None:
    ada, task_id = await workers.at_work(1, "src/", root=tree.root)
    bob = await workers.come(2)
    to = Handoff(target=Target(agent_key=bob.session.agent_key))
    await workers.board.lease_action(ROOM, task_id, to, ada.fence)
    by_place = tree.commit("free.txt")
    by_name = tree.commit("free.txt", **named(1))
    next_task = await workers.task(ada, "another")

    for complaint in (by_place, by_name):
        assert f"went on to Worker2 | Ada's agent | Claude Code: {task_id}" in (complaint or "")
    assert tree.commit("src/app.py", **named(2)) is None
    assert tree.commit("free.txt", text="next", **named(1)) is None
    assert "src/app.py: Worker2" in (tree.commit("src/app.py", text="x", **named(1)) or "")
    assert next_task != task_id


@pytest.mark.rule("K97")
async def test_who_has_taken_a_task_in_another_room_since_goes_on(
    workers: Workers, tree: Tree
) -> None:
    ada, task_id = await workers.at_work(1, "src/")
    bob = await workers.come(2)
    to = Handoff(target=Target(agent_key=bob.session.agent_key))
    await workers.board.lease_action(ROOM, task_id, to, ada.fence)
    stopped = tree.commit("free.txt", **named(1))
    elsewhere = RoomId("elsewhere")
    await workers.rooms.join(elsewhere)
    there = await workers.rooms.connect(elsewhere, arrival(1, 11))
    made = await workers.board.propose(elsewhere, Proposal(title="more"))
    taken = Patch(status=Status.ASSIGNED)
    await workers.board.change(elsewhere, made.view.task.task_id, taken, there.fence)

    assert stopped is not None
    assert tree.try_commit(**named(1)) is None


@pytest.mark.rule("K97")
async def test_who_let_its_task_go_goes_on_as_long_as_nobody_took_it(
    workers: Workers, tree: Tree
) -> None:
    ada, task_id = await workers.at_work(1, "src/", root=tree.root)
    await workers.board.lease_action(ROOM, task_id, Release(), ada.fence)
    bob = await workers.come(2)
    before = tree.commit("src/app.py")
    await workers.take(bob, task_id)

    assert before is None
    assert "went on to Worker2" in (tree.commit("src/app.py", text="x") or "")


@pytest.mark.rule("K95")
async def test_who_is_gone_and_was_silent_for_its_own_term_stops_nobody(
    tmp_path: Path, tree: Tree
) -> None:
    """Whatever term is set where the commit is made."""
    async with workers_in(tmp_path / "home", timedelta(hours=1)) as workers:
        await workers.at_work(1, "src/")
    async with workers_in(tmp_path / "home", timedelta(seconds=0.1)) as workers:
        await workers.at_work(2, "lib/")
    tree.write("lib/b.py")
    with anyio.fail_after(60):
        while tree.try_commit(LETAGENTS_LEASE_TERM="3600") is not None:
            await anyio.lowlevel.checkpoint()

    refused = tree.commit("src/app.py", LETAGENTS_LEASE_TERM="1")
    assert "src/app.py: Worker1" in (refused or "")


async def test_warn_warns_off_is_silent_and_anything_else_refuses(
    workers: Workers, tree: Tree
) -> None:
    await workers.at_work(1, "src/")
    tree.write("src/app.py")
    refused = tree.try_commit(LETAGENTS_GUARD="maybe")
    warned = tree.run("commit", "--quiet", "-m", "one", LETAGENTS_GUARD="Warn")
    tree.write("src/app.py", text="more")
    silent = tree.run("commit", "--quiet", "-m", "two", LETAGENTS_GUARD="off")

    assert refused is not None
    assert (warned.returncode, silent.returncode, silent.stderr) == (0, 0, "")
    assert "would be refused" in warned.stderr
    assert "src/app.py: Worker1" in warned.stderr


@pytest.mark.rule("K95")
async def test_what_was_released_stops_nobody(workers: Workers, tree: Tree) -> None:
    ada, task_id = await workers.at_work(1, "src/")
    refused = tree.commit("src/app.py")
    await workers.paths.release(ROOM, task_id, fence=ada.fence)

    assert refused is not None
    assert tree.try_commit() is None


# --- what a commit changes ------------------------------------------------------------------------


async def test_deleting_renaming_and_making_files_is_changing_them(
    workers: Workers, tree: Tree
) -> None:
    await workers.at_work(1, "src/", "new.py")
    tree.git("rm", "--quiet", "src/app.py")
    deleted = tree.try_commit()
    tree.git("reset", "--quiet", "--hard")
    tree.git("mv", "src/app.py", "app.py")
    renamed_from = tree.try_commit()
    tree.git("reset", "--quiet", "--hard")
    tree.git("mv", "lib/b.py", "new.py")
    renamed_to = tree.try_commit()

    assert "src/app.py: " in (deleted or "")
    assert "src/app.py: " in (renamed_from or "")
    assert "\n  app.py: " not in (renamed_from or "")
    assert "new.py: " in (renamed_to or "")
    assert "lib/b.py: " not in (renamed_to or "")


async def test_only_what_is_committed_counts_be_it_a_part_of_the_index(
    workers: Workers, tree: Tree
) -> None:
    await workers.at_work(1, "src/")
    tree.write("src/app.py", "lib/b.py")
    part = tree.try_commit("--only", "--", "lib/b.py")
    rest = tree.try_commit()
    tree.git("reset", "--quiet")
    (tree.root / "lib/b.py").write_text("more")
    tree.git("add", "lib/b.py")

    assert part is None
    assert "src/app.py: " in (rest or "")
    assert tree.try_commit() is None
    assert "src/app.py: " in (tree.try_commit("--all") or "")


@pytest.mark.parametrize("name", ["a b.py", "käse.py", 'quo"te.py', "line\nbreak.py", "-x.py"])
async def test_any_file_name_is_known(workers: Workers, tree: Tree, name: str) -> None:
    await workers.at_work(1, "src/")
    complaint = tree.commit(f"src/{name}")

    assert complaint is not None
    assert "src/" in complaint
    assert "\nbreak" not in complaint
    assert tree.commit(name) is None or "src/" in complaint


async def test_the_first_commit_of_a_repository_is_checked(
    workers: Workers, tmp_path: Path
) -> None:
    tree = repository(tmp_path / "young", tmp_path / "home")
    tree.git("update-ref", "-d", "HEAD")
    await workers.at_work(1, "src/")
    complaint = tree.try_commit()
    tree.git("rm", "-r", "--quiet", "--cached", "src")

    assert "src/app.py: " in (complaint or "")
    assert tree.try_commit() is None


async def test_amending_checks_what_is_added(workers: Workers, tree: Tree) -> None:
    tree.carry("src/app.py")
    await workers.at_work(1, "src/")
    tree.write("lib/b.py")
    allowed = tree.try_commit("--amend")
    tree.write("src/other.py")
    refused = tree.try_commit("--amend")

    assert allowed is None
    assert "src/other.py: " in (refused or "")


async def test_a_submodule_is_a_path_and_another_repository(
    workers: Workers, tree: Tree, tmp_path: Path
) -> None:
    inner = repository(tmp_path / "inner", tmp_path / "home", remote=None, guard=False)
    tree.git("submodule", "--quiet", "add", str(inner.root), "vendor/inner")
    await workers.at_work(1, "vendor/", "src/")
    refused = tree.try_commit()
    within = tree.beside(tree.root / "vendor/inner")

    assert "vendor/inner: " in (refused or "")
    assert within.commit("src/app.py") is None


# --- what is only carried -------------------------------------------------------------------------


async def test_a_merge_that_only_carries_claimed_files_is_let_through(
    workers: Workers, tree: Tree
) -> None:
    tree.git("checkout", "--quiet", "-b", "theirs")
    tree.carry("src/app.py", "lib/b.py", text="theirs\n")
    tree.git("checkout", "--quiet", "main")
    tree.carry("lib/b.py", text="ours\n")
    await workers.at_work(1, "src/")
    stopped = tree.run("merge", "--quiet", "theirs")
    tree.write("lib/b.py", text="both\n")
    carried = tree.try_commit()

    assert stopped.returncode != 0, "it was to conflict"
    assert carried is None
    assert (tree.root / "src/app.py").read_text() == "theirs\n"


async def test_a_merge_that_changes_a_claimed_file_itself_is_refused(
    workers: Workers, tree: Tree
) -> None:
    tree.git("checkout", "--quiet", "-b", "theirs")
    tree.carry("src/app.py", "lib/b.py", text="theirs\n")
    tree.git("checkout", "--quiet", "main")
    tree.carry("lib/b.py", text="ours\n")
    await workers.at_work(1, "src/")
    tree.run("merge", "--quiet", "theirs")
    tree.write("lib/b.py", "src/app.py", text="both\n")
    changed = tree.try_commit()

    assert "src/app.py: " in (changed or "")
    assert "lib/b.py: " not in (changed or "")


@pytest.mark.parametrize("way", ["merge", "rebase", "cherry-pick"])
async def test_commits_that_are_there_already_are_carried(
    workers: Workers, tree: Tree, way: str
) -> None:
    tree.git("checkout", "--quiet", "-b", "theirs")
    tree.carry("src/app.py", text="theirs\n")
    tree.git("checkout", "--quiet", "main")
    tree.carry("lib/b.py", text="ours\n")
    await workers.at_work(1, "src/")
    words = {"merge": ["merge", "--quiet", "--no-edit", "theirs"], "rebase": ["rebase", "theirs"]}
    tree.git(*words.get(way, ["cherry-pick", "theirs"]))

    assert (tree.root / "src/app.py").read_text() == "theirs\n"


# --- pushes ---------------------------------------------------------------------------------------


@pytest.fixture
def pushed(tree: Tree, tmp_path: Path) -> Tree:
    """Return the checkout once it has a remote to which it can push."""
    tree.git("init", "--quiet", "--bare", str(tmp_path / "remote.git"))
    tree.git("remote", "add", "shared", str(tmp_path / "remote.git"))
    tree.git("push", "--quiet", "shared", "main")
    return tree


async def test_a_push_of_commits_to_claimed_files_is_refused(
    workers: Workers, pushed: Tree
) -> None:
    pushed.carry("src/app.py")
    pushed.carry("lib/b.py")
    await workers.at_work(1, "src/")
    refused = pushed.run("push", "--quiet", "shared", "main")
    named_so = pushed.run("push", "--quiet", "shared", "main", **named(1))

    assert refused.returncode == 1
    assert "this push is refused" in refused.stderr
    assert "src/app.py: Worker1" in refused.stderr
    assert "lib/b.py" not in refused.stderr
    assert named_so.returncode == 0, named_so.stderr


async def test_what_the_remote_has_or_a_merge_brought_is_not_pushed_again(
    workers: Workers, pushed: Tree
) -> None:
    pushed.git("checkout", "--quiet", "-b", "theirs")
    pushed.carry("src/app.py")
    pushed.git("checkout", "--quiet", "main")
    pushed.carry("lib/b.py")
    await workers.at_work(1, "src/")
    pushed.git("merge", "--quiet", "--no-edit", "theirs")
    pushed.git("push", "--quiet", "shared", "main")
    pushed.git("push", "--quiet", "shared", "main:new", "theirs")
    pushed.git("tag", "v1")
    pushed.git("push", "--quiet", "shared", "v1")
    pushed.git("push", "--quiet", "shared", ":new")


async def test_whatever_somebody_calls_what_it_pushes_is_checked(
    workers: Workers, pushed: Tree
) -> None:
    pushed.git("commit", "--quiet", "--allow-empty", "--message", "two words")
    pushed.carry("src/app.py")
    await workers.at_work(1, "src/")
    allowed = pushed.run("push", "--quiet", "shared", "HEAD^{/two words}:refs/heads/other")
    refused = pushed.run("push", "--quiet", "shared", "HEAD^{}:refs/heads/other")

    assert (allowed.returncode, allowed.stderr) == (0, "")
    assert "src/app.py: " in refused.stderr


async def test_a_merge_that_changes_a_claimed_file_itself_is_not_pushed(
    workers: Workers, pushed: Tree
) -> None:
    pushed.git("checkout", "--quiet", "-b", "theirs")
    pushed.carry("src/app.py", text="theirs\n")
    pushed.git("checkout", "--quiet", "main")
    pushed.carry("src/app.py", text="first\nours\n")
    pushed.git("push", "--quiet", "shared", "main", "theirs")
    pushed.run("merge", "--quiet", "theirs")
    pushed.carry("src/app.py", text="both\n")
    await workers.at_work(1, "src/")

    assert "src/app.py: " in pushed.run("push", "--quiet", "shared", "main").stderr


async def test_a_new_branch_is_checked_as_far_as_the_remote_does_not_have_it(
    workers: Workers, pushed: Tree, tmp_path: Path
) -> None:
    pushed.git("checkout", "--quiet", "-b", "mine")
    pushed.carry("lib/b.py")
    await workers.at_work(1, "src/")
    allowed = pushed.run("push", "--quiet", "shared", "mine")
    known = pushed.run("push", "--quiet", str(tmp_path / "remote.git"), "mine:known")
    pushed.carry("src/app.py")
    refused = pushed.run("push", "--quiet", "shared", "mine:other")
    by_address = pushed.run("push", "--quiet", str(tmp_path / "remote.git"), "mine:third")

    assert allowed.returncode == 0, allowed.stderr
    assert known.returncode == 0, known.stderr
    assert "src/app.py: " in refused.stderr
    assert "src/app.py: " in by_address.stderr


# --- which repository -----------------------------------------------------------------------------


async def test_another_repository_knows_nothing_of_it(workers: Workers, tmp_path: Path) -> None:
    other = repository(tmp_path / "other", tmp_path / "home", remote="https://example.com/o/x")
    await workers.at_work(1, "src/")

    assert other.commit("src/app.py") is None


async def test_worktrees_of_a_repository_without_remote_meet(
    workers: Workers, tmp_path: Path
) -> None:
    tree = repository(tmp_path / "alone", tmp_path / "home", remote=None)
    tree.git("worktree", "add", "--quiet", str(tmp_path / "beside"), "-b", "other")
    ada = await workers.come(1)
    task_id = await workers.task(ada, "work")
    name = f"git-dir:{tree.root / '.git'}"
    await workers.claim(ada, task_id, "src/", repository=name, root=tree.root)
    beside = tree.beside((tmp_path / "beside").resolve())

    assert tree.commit("src/app.py") is None
    assert "src/app.py: Worker1" in (beside.commit("src/app.py") or "")


async def test_clones_of_one_remote_meet(workers: Workers, tree: Tree, tmp_path: Path) -> None:
    clone = repository(tmp_path / "clone", tmp_path / "home", remote="git@example.com:o/r.git")
    await workers.at_work(1, "src/", root=tree.root)

    assert REPOSITORY == "example.com/o/r"
    assert "src/app.py: Worker1" in (clone.commit("src/app.py") or "")


# --- what may go wrong ----------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", ["no home", "damaged", "older", "config", "elsewhere"])
async def test_no_failure_of_the_guard_stops_anybody(
    tmp_path: Path, tree: Tree, wrong: str
) -> None:
    home, settings = tmp_path / "home", {}
    if wrong != "no home":
        home.mkdir(exist_ok=True)
    if wrong == "damaged":
        (home / "rooms.db").write_bytes(b"SQLite format 3\0" + b"x" * 4096)
    if wrong == "older":
        (home / "rooms.db").touch()
    if wrong == "config":
        (home / "config.toml").write_text("what = [")
    if wrong == "elsewhere":
        settings = {"LETAGENTS_ROOMS_DB": "postgresql://ada:secret-word@host/rooms"}
    tree.write("src/app.py")
    done = tree.run("commit", "--quiet", "--message", "one", **settings)
    warnings = done.stderr.splitlines()

    assert done.returncode == 0
    if wrong == "no home":
        assert warnings == []
    else:
        [warning] = warnings
        assert "letagents guard: nothing was checked: " in warning
    assert "secret-word" not in done.stderr


async def test_a_locked_file_of_rooms_is_read_all_the_same(workers: Workers, tree: Tree) -> None:
    from letagents.adapters.sql import sqlite_library

    await workers.at_work(1, "src/")
    library = sqlite_library.library().module
    holder = library.connect(str(workers.home / "rooms.db"), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    refused = tree.commit("src/app.py")
    holder.close()

    assert "src/app.py: Worker1" in (refused or "")


async def test_what_the_repository_brings_is_not_run_as_ours(workers: Workers, tree: Tree) -> None:
    await workers.at_work(1, "src/")
    for name in ("letagents.py", "sqlite3.py", "json.py"):
        (tree.root / name).write_text("raise SystemExit(0)\n")
    complaint = tree.commit("src/app.py", PYTHONPATH=str(tree.root))

    assert "src/app.py: Worker1" in (complaint or "")


async def test_a_commit_finds_the_rooms_that_the_guard_was_installed_for(
    workers: Workers, tree: Tree, tmp_path: Path
) -> None:
    GitHooks(tree.root, home=str(tree.home)).install()
    await workers.at_work(1, "src/")
    by_itself = tree.commit("src/app.py", LETAGENTS_HOME="")
    elsewhere = tree.try_commit(LETAGENTS_HOME=str(tmp_path / "another"))

    assert "src/app.py: " in (by_itself or "")
    assert elsewhere is None


async def test_what_is_pushed_from_a_bare_repository_is_checked(
    workers: Workers, tree: Tree, tmp_path: Path
) -> None:
    bare = tree.beside(tmp_path / "bare")
    tree.git("clone", "--quiet", "--bare", ".", str(bare.root))
    tree.git("init", "--quiet", "--bare", str(tmp_path / "there"))
    bare.git("remote", "set-url", "origin", REMOTE)
    states = GitHooks(bare.root).install()
    await workers.at_work(1, "src/")
    pushed = bare.run("push", str(tmp_path / "there"), "main")

    assert not any(one.is_apart for one in states)
    assert pushed.returncode != 0
    assert "src/app.py: " in pushed.stderr
