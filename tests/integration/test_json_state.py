"""What only a file that is shared with other programs can do wrong."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import anyio
import pytest
from tests.integration.state_processes import counted

from letagents.adapters.state import lockfile, turns
from letagents.adapters.state.json_file import JsonFileState
from letagents.adapters.state.lockfile import Held, try_acquire
from letagents.domain.errors import OutcomeUnknown, StateDamaged, StateUnavailable
from letagents.domain.local_state import LocalState, ensure_host_id

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="what POSIX promises about files")

T = TypeVar("T")

HOUR = 3600


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "mcp-state.json"


@pytest.fixture
def store(path: Path) -> JsonFileState:
    return JsonFileState(path)


@pytest.fixture
def lock(path: Path) -> Path:
    path.parent.mkdir()
    return path.with_name("mcp-state.json.lock")


def named(state: LocalState) -> tuple[LocalState, str]:
    return ensure_host_id(state, "host_1")


def read(store: JsonFileState) -> LocalState:
    return anyio.run(store.read)


def write(store: JsonFileState, decide: Callable[[LocalState], tuple[LocalState, T]]) -> T:
    with_patience = partial(_bounded, store, decide)
    return anyio.run(with_patience)


async def _bounded(store: JsonFileState, decide: Callable[[LocalState], tuple[LocalState, T]]) -> T:
    with anyio.fail_after(5):
        return await store.transact(decide)


def files_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


@contextmanager
def process(role: str, path: Path, *rest: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.integration.state_processes", role, str(path), *rest]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as started:
        try:
            yield started
        finally:
            started.kill()


def grow_old(lock: Path, seconds: float = HOUR) -> None:
    then = lock.stat().st_mtime - seconds
    os.utime(lock, (then, then))


def counts_in(path: Path) -> dict[str, int]:
    counts: dict[str, int] = json.loads(path.read_bytes())["counts"]
    return counts


# --- the file -----------------------------------------------------------------------------------


def test_file_and_folder_are_for_their_owner_alone(store: JsonFileState) -> None:
    write(store, named)

    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700
    assert files_in(store.path.parent) == ["mcp-state.json"]


def test_a_folder_that_was_there_keeps_its_mode_and_a_file_gets_ours(
    store: JsonFileState,
) -> None:
    store.path.parent.mkdir(mode=0o755)
    store.path.write_text("{}")
    store.path.chmod(0o644)
    write(store, named)

    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o755


def test_a_link_is_read_through_and_replaced_by_a_file(
    store: JsonFileState, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere.json").write_text('{"new": 1}')
    store.path.parent.mkdir()
    store.path.symlink_to(tmp_path / "elsewhere.json")
    write(store, named)

    assert not store.path.is_symlink()
    assert json.loads(store.path.read_bytes()) == {"new": 1, "local_host_id": "host_1"}
    assert (tmp_path / "elsewhere.json").read_text() == '{"new": 1}'


def test_a_decision_that_changes_nothing_leaves_the_file_as_it_is(
    store: JsonFileState,
) -> None:
    write(store, named)
    before = store.path.stat()

    assert write(store, named) == "host_1"
    assert store.path.stat().st_ino == before.st_ino


DAMAGED = {
    "empty": b"",
    "cut short": b'{"agent_sessions": {"a": {"sess',
    "a list": b"[]",
    "a byte order mark": b"\xef\xbb\xbf{}\n",
    "not UTF-8": b'{"auth": "\xff\xfe"}',
    "a key twice": b'{"auth": 1, "auth": 2}',
    "not a number": b'{"auth": NaN}',
    "a part of the wrong kind": b'{"agent_sessions": []}',
}


def as_left(path: Path) -> tuple[int, int, int]:
    """What writing to a file changes; the time of its last reading is left out."""
    found = path.stat()
    return found.st_ino, found.st_mode, found.st_mtime_ns


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_file_is_reported_with_its_path_and_not_touched(
    store: JsonFileState, kind: str
) -> None:
    store.path.parent.mkdir()
    store.path.write_bytes(DAMAGED[kind])
    before = as_left(store.path)

    with pytest.raises(StateDamaged) as reading:
        read(store)
    with pytest.raises(StateDamaged) as writing:
        write(store, named)
    assert str(store.path) in reading.value.happened
    assert str(store.path) in writing.value.happened
    assert store.path.read_bytes() == DAMAGED[kind]
    assert as_left(store.path) == before
    assert files_in(store.path.parent) == ["mcp-state.json"]


@pytest.mark.parametrize("place", ["a-file/mcp-state.json", "a-folder"])
def test_a_place_that_cannot_be_used_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "a-file").write_text("")
    (tmp_path / "a-folder").mkdir()
    store = JsonFileState(tmp_path / place)

    with pytest.raises(StateUnavailable, match=place):
        read(store)
    with pytest.raises(StateUnavailable, match=place):
        write(store, named)


def test_a_full_disk_changes_nothing_and_leaves_nothing(
    store: JsonFileState, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(store, partial(counted, "before"))

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StateUnavailable, match="No space left"):
        write(store, named)
    assert counts_in(store.path) == {"before": 1}
    assert files_in(store.path.parent) == ["mcp-state.json"]


@pytest.mark.rule("S3")
def test_the_content_is_synced_before_it_takes_its_place_and_the_folder_after(
    store: JsonFileState, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(store, partial(counted, "before"))
    done: list[str] = []
    sync, replace = os.fsync, os.replace

    def noted_sync(descriptor: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        done.append("folder synced" if is_folder else "content synced")
        sync(descriptor)

    def noted_replace(source: Path, target: Path) -> None:
        done.append("replaced")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", noted_sync)
    monkeypatch.setattr(os, "replace", noted_replace)
    write(store, named)
    assert done == ["content synced", "replaced", "folder synced"]


def test_a_folder_that_cannot_be_synced_leaves_the_outcome_open(
    store: JsonFileState, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(store, partial(counted, "before"))
    sync = os.fsync

    def no_folders(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(5, "Input/output error")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", no_folders)
    with pytest.raises(OutcomeUnknown):
        write(store, named)


# --- the lock -----------------------------------------------------------------------------------


def test_reading_needs_no_lock(store: JsonFileState, lock: Path) -> None:
    lock.touch()

    assert read(store) == LocalState()


@pytest.mark.rule("S1")
def test_nobody_gets_the_lock_while_a_decision_is_made(store: JsonFileState, lock: Path) -> None:
    seen: list[Held | None] = []

    def with_a_rival(state: LocalState) -> tuple[LocalState, None]:
        seen.append(try_acquire(lock))
        return state, None

    write(store, with_a_rival)
    assert seen == [None]
    assert not lock.exists()


def pauses(tries: int, then: Callable[[], object]) -> Iterator[float]:
    """Let `then` happen once the lock was tried for so often."""
    for _ in range(tries):
        yield 0.0
    then()
    while True:
        yield 0.0


def test_a_young_lock_of_another_program_is_waited_for(
    store: JsonFileState, lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock.touch()
    assert try_acquire(lock) is None
    monkeypatch.setattr(turns, "PAUSES", pauses(3, lock.unlink))
    write(store, named)

    assert read(store).local_host_id == "host_1"


@pytest.mark.rule("S7")
def test_a_wait_for_the_lock_can_be_cancelled(
    store: JsonFileState, lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cancelled() -> bool:
        with anyio.fail_after(5), anyio.CancelScope() as scope:
            monkeypatch.setattr(turns, "PAUSES", pauses(3, scope.cancel))
            await store.transact(named)
        return scope.cancelled_caught

    lock.touch()

    assert anyio.run(cancelled)
    assert files_in(lock.parent) == [lock.name]
    assert lock.read_bytes() == b""


def test_a_lock_that_stays_is_given_up_on_by_its_name(
    store: JsonFileState, lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 9.5 < sum(turns.PAUSES) < 10.5
    monkeypatch.setattr(turns, "PAUSES", (0.0, 0.0))
    lock.touch()

    with pytest.raises(StateUnavailable, match=str(lock)):
        write(store, named)
    assert lock.read_bytes() == b""


def test_an_old_lock_of_another_program_is_nobodys(store: JsonFileState, lock: Path) -> None:
    lock.touch()
    grow_old(lock, 11)
    write(store, named)

    assert not lock.exists()


def test_a_lock_that_was_taken_over_is_young_again(lock: Path) -> None:
    lock.touch()
    grow_old(lock)
    before = lock.stat()
    held = try_acquire(lock)

    assert held is not None
    assert lock.stat().st_mtime > before.st_mtime + HOUR - 1
    assert lock.stat().st_ino == before.st_ino
    held.release()


def test_a_live_owners_lock_is_never_broken_however_old(lock: Path) -> None:
    with process("hold", lock) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "held\n"
        grow_old(lock)

        assert try_acquire(lock) is None


def test_a_dead_owner_is_noticed_at_once(lock: Path) -> None:
    with process("hold", lock) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "held\n"
        assert try_acquire(lock) is None

    assert lock.exists()
    held = try_acquire(lock)
    assert held is not None
    assert held.took_over
    held.release()


def test_what_a_dead_owner_left_half_written_is_removed(store: JsonFileState, lock: Path) -> None:
    left = store.path.with_name("mcp-state.json.4711.abcdefgh.tmp")
    left.write_text("half a sta")
    write(store, named)
    assert left.exists()  # while nobody is known to have died it may be in use

    lock.write_bytes(b"letagents 4711\n")
    waiting = store.path.with_name("mcp-state.json.lock.abcdefgh.tmp")
    waiting.touch()  # of somebody who is about to make the lock
    write(store, partial(counted, "after"))
    assert files_in(store.path.parent) == ["mcp-state.json", waiting.name]


def test_of_two_who_find_the_same_dead_owner_one_gets_the_lock(lock: Path) -> None:
    lock.write_bytes(b"letagents 4711\n")
    slow = os.open(lock, os.O_RDWR)  # has found it, and is overtaken by the quick one
    quick = try_acquire(lock)

    assert quick is not None
    assert lockfile._taken_over(lock, slow) is None
    quick.release()
    assert lockfile._taken_over(lock, slow) is None
    third = try_acquire(lock)
    assert third is not None
    assert lockfile._taken_over(lock, slow) is None
    assert third.is_ours()
    third.release()
    os.close(slow)


def test_a_lock_that_was_broken_is_not_released_again(lock: Path) -> None:
    held = try_acquire(lock)
    assert held is not None
    lock.unlink()  # an older program, after ten seconds
    lock.write_text("its own")

    assert not held.is_ours()
    held.release()
    assert lock.read_text() == "its own"


def test_a_decision_under_a_broken_lock_is_made_again(store: JsonFileState, lock: Path) -> None:
    seen: list[object] = []

    def slowly(state: LocalState) -> tuple[LocalState, str]:
        seen.append(state.extra.get("theirs"))
        if len(seen) == 1:  # an older program breaks the lock and writes
            lock.unlink()
            store.path.write_text('{"theirs": 1}')
        return named(state)

    write(store, slowly)
    assert seen == [None, 1]
    assert json.loads(store.path.read_bytes()) == {"theirs": 1, "local_host_id": "host_1"}
    assert files_in(store.path.parent) == ["mcp-state.json"]


@pytest.mark.parametrize("is_taken", [False, True])
def test_without_hard_links_the_lock_is_made_in_place(
    lock: Path, monkeypatch: pytest.MonkeyPatch, is_taken: bool
) -> None:
    def no_links(_source: str, _target: Path) -> None:
        if is_taken:
            lock.touch()
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    held = try_acquire(lock)

    assert (held is None) is is_taken
    if held is not None:
        assert try_acquire(lock) is None
        held.release()
    assert files_in(lock.parent) == ([lock.name] if is_taken else [])


# --- other processes ----------------------------------------------------------------------------


def exit_codes(*started: subprocess.Popen[str]) -> list[int]:
    for one in started:
        one.communicate(timeout=60)
    return [one.returncode for one in started]


@pytest.mark.rule("S1")
def test_two_processes_lose_nothing(path: Path) -> None:
    with process("count", path, "100", "a") as one, process("count", path, "100", "b") as other:
        assert exit_codes(one, other) == [0, 0]

    assert counts_in(path) == {"a": 100, "b": 100}


@pytest.mark.rule("S1")
def test_the_npm_package_and_we_lose_nothing_of_each_other(path: Path, lock: Path) -> None:
    with process("count", path, "100", "ours") as ours, process("npm", path, "100", "npm") as npm:
        assert exit_codes(ours, npm) == [0, 0]

    assert counts_in(path) == {"ours": 100, "npm": 100}
    assert not lock.exists()


def test_of_many_processes_that_find_a_dead_owner_all_get_their_turn(
    path: Path, lock: Path
) -> None:
    lock.write_bytes(b"letagents 4711\n")
    with (
        process("count", path, "10", "a") as a,
        process("count", path, "10", "b") as b,
        process("count", path, "10", "c") as c,
        process("count", path, "10", "d") as d,
    ):
        assert exit_codes(a, b, c, d) == [0, 0, 0, 0]

    assert sum(counts_in(path).values()) == 40


@pytest.mark.rule("S3")
def test_a_process_killed_while_it_writes_leaves_a_whole_file(store: JsonFileState) -> None:
    acknowledged = 0
    for kills in range(5):
        with process("count", store.path, "100000", "a") as writer:
            assert writer.stdout is not None
            for _ in range(3 + kills):
                acknowledged = int(writer.stdout.readline())
            writer.kill()
            said = writer.stdout.read().split()
            acknowledged = int(said[-1]) if said else acknowledged

        kept = counts_in(store.path)["a"]
        assert acknowledged <= kept <= acknowledged + 1
        assert write(store, partial(counted, "b")) == kills + 1


async def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "mcp-state.json"
    os.mkfifo(path)

    with anyio.fail_after(20), pytest.raises(StateUnavailable, match="it is no file"):
        await JsonFileState(path).read()
