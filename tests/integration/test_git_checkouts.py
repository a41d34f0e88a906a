"""What is found out about checkouts, with a real git and what can be wrong around it."""

import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from tests import own_git

from letagents.adapters.git import GitCheckouts, Patience
from letagents.domain.git_rooms import Checkout
from letagents.domain.ids import RoomId
from letagents.domain.room_config import FILE, LARGEST, LEVELS, UNREADABLE
from letagents.ports.surroundings import Place

REMOTE = "git@github.com:Ada/Engine.git"
REPOSITORY = "github.com/ada/engine"
SECRET = "s3cret-of-ada"

needs_scripts = pytest.mark.skipif(
    sys.platform == "win32", reason="the stand-ins are shell scripts"
)


@pytest.fixture(autouse=True)
def _nobody_s_git(monkeypatch: pytest.MonkeyPatch) -> None:
    own_git.set_nothing_up(monkeypatch)


def git(folder: Path, *words: str) -> None:
    whole = ["git", "-c", "protocol.file.allow=always", *words]
    subprocess.run(whole, cwd=folder, check=True, timeout=20, capture_output=True)


def checkout(folder: Path, *, remote: str | None = REMOTE, branch: str = "main") -> Path:
    """Make a checkout with one commit, on a branch."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch", branch)
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "one")
    if remote is not None:
        git(folder, "remote", "add", "origin", remote)
    return folder.resolve()


async def look(folder: Path) -> Place:
    with anyio.fail_after(20):
        return await GitCheckouts().look(str(folder))


async def seen(folder: Path) -> Checkout:
    place = await look(folder)
    assert place.checkout is not None
    return place.checkout


# --- checkouts ----------------------------------------------------------------------------------


async def test_a_checkout_tells_its_root_remote_and_branch(tmp_path: Path) -> None:
    root = checkout(tmp_path / "engine", branch="topic/ünïcode")
    (root / "below").mkdir()

    place = await look(root / "below")

    assert place == Place(
        str(root / "below"), checkout=Checkout(str(root), REPOSITORY, "topic/ünïcode")
    )


async def test_the_default_branch_is_the_one_that_the_remote_has(tmp_path: Path) -> None:
    origin = checkout(tmp_path / "origin", remote=None, branch="develop")
    git(tmp_path, "clone", "--quiet", str(origin), "clone")
    git(tmp_path / "clone", "switch", "--quiet", "--create", "topic")

    found = await seen(tmp_path / "clone")

    assert found.default_branch == "develop"
    assert found.branch == "topic"
    assert found.repository == origin.as_posix()


async def test_a_worktree_is_a_checkout_with_a_branch_of_its_own(tmp_path: Path) -> None:
    root = checkout(tmp_path / "engine")
    git(root, "worktree", "add", "--quiet", "-b", "topic", str(tmp_path / "aside"))

    found = await seen(tmp_path / "aside")

    assert found == Checkout(str((tmp_path / "aside").resolve()), REPOSITORY, "topic")


async def test_on_no_branch_a_checkout_still_has_its_repository(tmp_path: Path) -> None:
    root = checkout(tmp_path / "engine")
    git(root, "checkout", "--quiet", "--detach")

    assert await seen(root) == Checkout(str(root), REPOSITORY)


async def test_before_its_first_commit_a_checkout_has_its_branch(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch", "topic")

    assert await seen(tmp_path) == Checkout(str(tmp_path.resolve()), branch="topic")


@pytest.mark.parametrize("remote", [None, "../elsewhere", "https://github.com"])
async def test_without_a_remote_that_names_a_host_there_is_no_repository(
    tmp_path: Path, remote: str | None
) -> None:
    root = checkout(tmp_path / "engine", remote=remote)

    assert await seen(root) == Checkout(str(root), branch="main")


async def test_inside_a_repository_inside_a_repository_the_inner_one_counts(tmp_path: Path) -> None:
    outer = checkout(tmp_path / "outer")
    inner = checkout(outer / "inner", remote="https://gitlab.com/Ada/Inner")

    assert (await seen(inner)).repository == "gitlab.com/Ada/Inner"
    assert (await seen(outer)).repository == REPOSITORY


async def test_a_submodule_is_a_checkout_of_its_own_repository(tmp_path: Path) -> None:
    part = checkout(tmp_path / "part", remote=None)
    whole = checkout(tmp_path / "whole")
    git(whole, "submodule", "--quiet", "add", str(part), "part")

    found = await seen(whole / "part")

    assert found.root == str(whole / "part")
    assert found.repository == part.as_posix()


async def test_a_bare_repository_is_no_checkout(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "bare.git")
    git(tmp_path / "bare.git", "remote", "add", "origin", REMOTE)

    assert await look(tmp_path / "bare.git") == Place(str((tmp_path / "bare.git").resolve()))


async def test_a_checkout_behind_a_link_is_seen_where_it_is(tmp_path: Path) -> None:
    root = checkout(tmp_path / "engine")
    (tmp_path / "link").symlink_to(root, target_is_directory=True)

    place = await look(tmp_path / "link")

    assert place.folder == str(root)
    assert place.checkout is not None
    assert place.checkout.root == str(root)


async def test_a_very_long_branch_is_told_whole(tmp_path: Path) -> None:
    branch = "/".join(["x" * 74] * 4)
    root = checkout(tmp_path / "engine", branch=branch)

    assert (await seen(root)).branch == branch


@pytest.mark.parametrize("there", ["nowhere", "file", "a\0b"])
async def test_what_is_no_folder_has_nothing_to_tell(tmp_path: Path, there: str) -> None:
    (tmp_path / "file").write_text("")

    place = await GitCheckouts().look(f"{tmp_path}/{there}")

    assert not place.is_there
    assert place.checkout is None
    assert place.config is None


@needs_scripts
async def test_a_working_folder_that_was_removed_has_nothing_to_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()

    place = await GitCheckouts().look()
    monkeypatch.undo()

    assert not place.is_there


# --- what could mislead or harm -----------------------------------------------------------------


@pytest.mark.rule("G16")
@pytest.mark.parametrize(
    "remote",
    [
        f"https://ada:{SECRET}@github.com/Ada/Engine.git",
        f"https://{SECRET}@github.com/Ada/Engine.git",
        f"https://github.com/Ada/Engine?token={SECRET}",
        f"https://ada:{SECRET}/@github.com/Ada/Engine",
    ],
)
async def test_a_secret_in_a_remote_is_in_no_answer(tmp_path: Path, remote: str) -> None:
    root = checkout(tmp_path / "engine", remote=remote)

    place = await look(root)

    assert SECRET not in repr(place)
    assert place.checkout is not None
    assert place.checkout.repository in (REPOSITORY, None)


@pytest.mark.rule("G16")
async def test_a_hook_that_we_run_in_does_not_mislead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = checkout(tmp_path / "ours")
    other = checkout(tmp_path / "other", remote="https://gitlab.com/Ada/Other", branch="other")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_PREFIX", "below/")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "remote.origin.url")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "https://gitlab.com/Ada/Third")

    assert await seen(ours) == Checkout(str(ours), REPOSITORY, "main")


@needs_scripts
@pytest.mark.rule("G16")
async def test_nothing_that_a_checkout_brings_is_run(tmp_path: Path) -> None:
    root = checkout(tmp_path / "engine")
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o700)
    for name in ("core.fsmonitor", "core.sshCommand", "core.askPass", "core.pager", "pager.branch"):
        git(root, "config", name, str(trap))
    git(root, "config", "credential.helper", f"!{trap}")
    git(root, "config", "core.hooksPath", str(tmp_path))
    for hook in (
        "post-checkout",
        "reference-transaction",
        "fsmonitor-watchman",
        "post-index-change",
    ):
        (tmp_path / hook).symlink_to(trap)
    (tmp_path / "sprung").unlink(missing_ok=True)

    assert (await seen(root)).repository == REPOSITORY
    assert not (tmp_path / "sprung").exists()


@needs_scripts
@pytest.mark.rule("Q1", "G16")
async def test_a_git_that_hangs_costs_the_limit_and_what_files_tell_remains(
    tmp_path: Path,
) -> None:
    root = checkout(tmp_path / "engine")
    (root / FILE).write_text('{"room": "workshop"}')
    hanging = tmp_path / "a-git"
    hanging.write_text("#!/bin/sh\nexec sleep 600\n")
    hanging.chmod(0o700)

    with anyio.fail_after(10):
        place = await GitCheckouts(str(hanging), patience=Patience(0.3)).look(str(root))

    assert place.checkout is None
    assert place.is_silent
    assert place.config is not None
    assert place.config.room == RoomId("workshop")


@pytest.mark.rule("Q1")
@pytest.mark.parametrize("missing", ["/nowhere/git", "/dev/null"])
async def test_without_a_git_there_is_no_checkout(tmp_path: Path, missing: str) -> None:
    root = checkout(tmp_path / "engine")

    assert await GitCheckouts(missing).look(str(root)) == Place(str(root), is_silent=True)
    assert (await look(root / ".git")).is_silent


@needs_scripts
async def test_outside_of_any_checkout_git_is_not_asked(tmp_path: Path) -> None:
    noting = tmp_path / "a-git"
    noting.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\n")
    noting.chmod(0o700)
    (tmp_path / "plain").mkdir()
    if any((above / ".git").exists() for above in tmp_path.parents):
        pytest.skip("the temporary folder lies in a checkout")

    await GitCheckouts(str(noting)).look(str(tmp_path / "plain"))
    assert not (tmp_path / "asked").exists()


# --- the file that chooses a room ----------------------------------------------------------------


@pytest.mark.rule("G9")
async def test_the_nearest_file_upwards_chooses_the_room(tmp_path: Path) -> None:
    below = tmp_path / "one" / "two"
    below.mkdir(parents=True)
    (tmp_path / FILE).write_text('{"room": "far"}')
    (tmp_path / "one" / FILE).write_bytes(b'\xef\xbb\xbf{"room": "  GitHub.com/Ada/Engine "}')

    config = (await look(below)).config

    assert config is not None
    assert config.room == RoomId(REPOSITORY)
    assert config.path == str(tmp_path.resolve() / "one" / FILE)
    assert config.contents == {"room": "  GitHub.com/Ada/Engine "}


@pytest.mark.rule("G10")
@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"{}", {}),
        (b'{"room": "  "}', {"room": "  "}),
        (b'{"room": 5}', {"room": 5}),
        (b'{"room": "a\\u0000b"}', {"room": "a\0b"}),
        (b'["room"]', ["room"]),
        (b"", UNREADABLE),
        (b"{room: x}", UNREADABLE),
        (b'{"room": NaN}', UNREADABLE),
        (b"\x00\xff\xfe" * 50, UNREADABLE),
        (b"[" * 10_000, UNREADABLE),
        (b'{"room": "x"}' + b" " * LARGEST, UNREADABLE),
    ],
    ids=range(11),
)
async def test_a_file_that_names_no_room_is_no_choice_and_hides_those_above(
    tmp_path: Path, content: bytes, shown: object
) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / FILE).write_text('{"room": "far"}')
    (tmp_path / "below" / FILE).write_bytes(content)

    config = (await look(tmp_path / "below")).config

    assert config is not None
    assert config.room is None
    assert config.wrong
    assert config.contents == shown


@needs_scripts
@pytest.mark.rule("G10")
@pytest.mark.parametrize("kind", ["folder", "pipe", "dangling"])
async def test_what_is_no_readable_file_is_no_choice_and_blocks_nobody(
    tmp_path: Path, kind: str
) -> None:
    file = tmp_path / FILE
    match kind:
        case "folder":
            file.mkdir()
        case "pipe":
            os.mkfifo(file)
        case _:
            file.symlink_to(tmp_path / "nowhere")

    config = (await look(tmp_path)).config

    assert config is not None
    assert config.room is None
    assert config.wrong


@needs_scripts
@pytest.mark.rule("G11")
async def test_a_link_is_not_followed_to_what_it_could_show(tmp_path: Path) -> None:
    (tmp_path / "mcp-state.json").write_text(f'{{"room": "x", "auth": {{"token": "{SECRET}"}}}}')
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / FILE).symlink_to("../mcp-state.json")

    config = (await look(tmp_path / "below")).config

    assert config is not None
    assert (config.room, config.wrong) == (None, "it is a link")
    assert SECRET not in repr(config.contents)


@pytest.mark.rule("G9")
async def test_a_file_too_far_up_is_not_looked_for(tmp_path: Path) -> None:
    below = tmp_path.joinpath(*("x" for _ in range(LEVELS)))
    below.mkdir(parents=True)
    (tmp_path / FILE).write_text('{"room": "far"}')

    assert (await look(below)).config is None
    assert (await look(below.parent)).config is not None


@pytest.mark.rule("G17")
async def test_a_file_is_written_once_and_reads_back(tmp_path: Path) -> None:
    written = await GitCheckouts().choose(str(tmp_path), RoomId(REPOSITORY))
    again = await GitCheckouts().choose(str(tmp_path), RoomId("other"))

    assert written.path == again.path == str(tmp_path / FILE)
    assert written.wrong is None
    assert again.wrong == "it is there already"
    assert (tmp_path / FILE).read_text() == f'{{\n  "room": "{REPOSITORY}"\n}}\n'
    assert [one.name for one in tmp_path.iterdir()] == [FILE]


@needs_scripts
@pytest.mark.rule("G17")
async def test_a_link_in_the_file_s_place_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / FILE).symlink_to(tmp_path / "elsewhere")

    written = await GitCheckouts().choose(str(tmp_path), RoomId("workshop"))

    assert written.wrong == "it is there already"
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.rule("G17")
async def test_a_file_that_cannot_be_written_is_told_by_its_reason(tmp_path: Path) -> None:
    written = await GitCheckouts().choose(str(tmp_path / "nowhere"), RoomId("workshop"))

    assert written.wrong


@pytest.mark.rule("G17")
async def test_of_many_who_choose_at_once_one_does(tmp_path: Path) -> None:
    async def choose(name: str) -> None:
        if (await GitCheckouts().choose(str(tmp_path), RoomId(name))).wrong is None:
            chosen.append(name)

    chosen: list[str] = []
    async with anyio.create_task_group() as choosing:
        for number in range(8):
            choosing.start_soon(choose, f"room {number}")

    assert len(chosen) == 1
    assert chosen[0] in (tmp_path / FILE).read_text()
    assert [one.name for one in tmp_path.iterdir()] == [FILE]
