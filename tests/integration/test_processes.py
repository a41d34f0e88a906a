"""Which processes are there, as the system knows it: with processes that live, stop and die."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.integration.living_processes import Living, living

from letagents.adapters.processes import health, locks
from letagents.adapters.processes.locks import ProcessLocks
from letagents.adapters.processes.sole import sole
from letagents.adapters.system import SystemClock, SystemIds
from letagents.domain.ticks import Tick

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals, and no fork")


def locks_in(run_dir: Path) -> ProcessLocks:
    return ProcessLocks(run_dir, SystemIds())


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return tmp_path / "home" / "run"


@pytest.fixture
def ours(run_dir: Path) -> Iterator[ProcessLocks]:
    processes = locks_in(run_dir)
    yield processes
    processes.close()


@pytest.fixture
def other(run_dir: Path) -> Iterator[Living]:
    with living(run_dir) as process:
        yield process


@pytest.mark.rule("D20", "D21")
def test_a_process_is_there_until_it_is_killed(ours: ProcessLocks, other: Living) -> None:
    before = ours.is_alive(other.name)
    other.kill()

    assert (before, ours.is_alive(other.name)) == (True, False)
    assert ours.is_alive(other.name) is False, "it is not forgotten by being asked after"


@pytest.mark.rule("D21")
def test_a_process_that_ends_by_itself_is_gone(ours: ProcessLocks, other: Living) -> None:
    other.process.communicate()

    assert ours.is_alive(other.name) is False


@pytest.mark.rule("D25")
def test_of_a_process_that_is_gone_it_is_known_until_when_it_was_there(
    ours: ProcessLocks, other: Living
) -> None:
    before = SystemClock().tick()
    other.kill()
    seen = ours.last_seen(other.name)

    assert seen is not None
    assert seen.boot == before.boot
    assert seen.seconds <= before.seconds
    assert ours.last_seen("00000000-0000-4000-8000-000000000009") is None
    assert ours.last_seen("../odd") is None


@pytest.mark.rule("D25")
def test_a_process_says_again_and_again_that_it_is_there(run_dir: Path) -> None:
    clock = AskedClock()
    often = locks.said_every(timedelta(milliseconds=40))
    with contextlib.closing(ProcessLocks(run_dir, SystemIds(), clock, often)) as ours:
        assert ours.own is not None
        assert clock.was_asked_thrice.wait(30)
        seen = ours.last_seen(ours.own)

    assert seen is not None
    assert seen.seconds >= 2, "the second time was written before the third"


class AskedClock(SystemClock):
    """Reads one second more each time that it is asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.was_asked_thrice = threading.Event()

    def tick(self) -> Tick:
        self.asked += 1
        if self.asked == 3:
            self.was_asked_thrice.set()
        return Tick("boot", float(self.asked))


@posix
@pytest.mark.rule("D20")
def test_a_process_that_is_stopped_is_there(ours: ProcessLocks, other: Living) -> None:
    other.signal(signal.SIGSTOP)
    stopped = ours.is_alive(other.name)
    other.signal(signal.SIGCONT)

    assert stopped is True
    assert ours.is_alive(other.name) is True


@posix
@pytest.mark.rule("D21")
def test_a_process_that_has_ended_and_that_nobody_has_reaped_is_gone(
    ours: ProcessLocks, other: Living
) -> None:
    other.signal(signal.SIGKILL)
    os.waitid(os.P_PID, other.process.pid, os.WEXITED | os.WNOWAIT)

    assert ours.is_alive(other.name) is False


@posix
@pytest.mark.rule("D23")
@pytest.mark.parametrize("way", ["fork", "start"])
def test_a_child_does_not_keep_its_parent_alive(
    way: str, ours: ProcessLocks, other: Living
) -> None:
    other.tell(way)
    child, *name = other.answer().split()
    other.kill()
    there = [ours.is_alive(one) for one in name]
    gone = ours.is_alive(other.name)
    with suppress(ProcessLookupError):
        os.kill(int(child), signal.SIGKILL)

    assert gone is False
    assert name != [other.name]
    assert there in ([True], []), "a child that was forked has a name of its own"


@pytest.mark.rule("D20", "D21", "D24")
def test_many_that_ask_at_once_do_not_mislead_each_other(run_dir: Path, other: Living) -> None:
    with ExitStack() as started:
        askers = [started.enter_context(living(run_dir, "ask")) for _ in range(4)]
        assert {asker.name for asker in askers} == {"ready"}
        answers = []
        for _ in range(2):
            for asker in askers:
                asker.tell(other.name)
            answers.append({asker.answer() for asker in askers})
            other.kill()

    assert answers == [{"['True']"}, {"['False']"}]


@posix
@pytest.mark.rule("D21", "D24")
def test_one_that_asks_meets_another_that_is_asking(
    ours: ProcessLocks, run_dir: Path, other: Living
) -> None:
    """The other one stops in the middle of it."""
    import fcntl

    other.kill()
    with (run_dir / "processes" / other.name).open("rb") as asked:
        fcntl.flock(asked, fcntl.LOCK_SH | fcntl.LOCK_NB)

        assert ours.is_alive(other.name) is False


@pytest.mark.rule("D20")
def test_two_in_one_process_see_each_other(ours: ProcessLocks, run_dir: Path) -> None:
    also = locks_in(run_dir)
    one, two = ours.own, also.own
    assert one is not None
    assert two is not None

    assert one != two
    assert (ours.is_alive(two), also.is_alive(one), ours.is_alive(one)) == (True, True, True)
    also.close()
    assert (ours.is_alive(two), also.own) == (False, None)


@pytest.mark.rule("D23")
def test_who_only_asks_leaves_nothing_behind(ours: ProcessLocks, run_dir: Path) -> None:
    assert ours.is_alive("00000000-0000-4000-8000-000000000001") is None
    assert not run_dir.parent.exists()


@posix
@pytest.mark.rule("D23")
def test_what_a_process_leaves_is_its_owners_alone(ours: ProcessLocks, run_dir: Path) -> None:
    name = ours.own
    assert name is not None
    file = run_dir / "processes" / name

    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert ours.own == name


@pytest.mark.rule("D22")
def test_a_name_without_a_trace_is_not_known_here(ours: ProcessLocks, tmp_path: Path) -> None:
    elsewhere = locks_in(tmp_path / "other home")
    name = ours.own
    assert name is not None

    assert elsewhere.is_alive(name) is None
    for odd in ("", ".", "..", f"../processes/{name}", "a\0b", f"{name}.gone", "x" * 5_000):
        assert ours.is_alive(odd) is None
    (tmp_path / "home" / "run" / "processes" / name).unlink()
    assert locks_in(tmp_path / "home" / "run").is_alive(name) is None, "it may well be there"
    assert ours.is_alive(name) is True


@pytest.mark.rule("D22")
def test_where_no_file_can_be_made_a_process_has_no_name(ours: ProcessLocks, run_dir: Path) -> None:
    run_dir.parent.mkdir()
    run_dir.write_text("in place of a folder")

    assert ours.own is None
    assert ours.is_alive("00000000-0000-4000-8000-000000000001") is None
    run_dir.unlink()
    assert ours.own is not None, "it is tried again"


@posix
@pytest.mark.rule("D22")
def test_where_locks_are_refused_nothing_is_known_and_nothing_left(
    ours: ProcessLocks, run_dir: Path, other: Living, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_descriptor: int, _operation: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)

    assert ours.own is None
    assert ours.is_alive(other.name) is None
    assert [file.name for file in (run_dir / "processes").iterdir()] == [other.name]
    told = health.examine(ours, run_dir)
    assert not told.is_problem
    assert "guessed from its last call" in told.said
    assert "No locks available" in told.said


@posix
@pytest.mark.rule("D20", "D23")
@pytest.mark.parametrize("meets", ["asks", "removes"])
def test_a_file_that_somebody_meets_before_it_is_locked_is_given_up_for_another(
    meets: str, ours: ProcessLocks, run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    lock, met = fcntl.flock, ExitStack()

    def met_first(descriptor: int, operation: int) -> None:
        monkeypatch.undo()
        [file] = (run_dir / "processes").iterdir()
        if meets == "asks":
            lock(met.enter_context(file.open("rb")), fcntl.LOCK_SH)
        else:
            file.unlink()
        lock(descriptor, operation)

    monkeypatch.setattr("fcntl.flock", met_first)
    with met:
        name = ours.own

    assert name is not None
    assert locks_in(run_dir).is_alive(name) is True
    assert [file.name for file in (run_dir / "processes").iterdir()] == [name]


@pytest.mark.rule("D21", "D22")
def test_old_files_of_processes_that_have_ended_are_removed(
    ours: ProcessLocks, run_dir: Path, other: Living
) -> None:
    folder = run_dir / "processes"
    dead = [folder / f"dead-{number}" for number in range(2 * locks.REMEMBERED)]
    for age, file in enumerate(dead):
        file.touch(mode=0o600)
        os.utime(file, (1_000_000 - age, 1_000_000 - age))
    os.utime(folder / other.name, (0, 0))
    assert ours.own is not None
    left = {file.name for file in folder.iterdir()}

    assert other.name in left
    assert left - {other.name, ours.own} == {file.name for file in dead[: locks.REMEMBERED - 1]}
    assert ours.is_alive(other.name) is True
    assert ours.is_alive("dead-0") is False
    assert ours.is_alive(dead[-1].name) is None


@pytest.mark.rule("D1", "D2")
def test_whether_processes_are_told_apart_here_is_told(ours: ProcessLocks, run_dir: Path) -> None:
    unused = health.examine(ours, run_dir)
    assert not run_dir.parent.exists()
    run_dir.mkdir(parents=True)
    sound = health.examine(ours, run_dir)

    assert "not used yet" in unused.said
    assert "the system tells" in sound.said
    assert list(run_dir.iterdir()) == []


@posix
@pytest.mark.rule("Y50")
def test_one_alone_does_it_until_it_ends(tmp_path: Path) -> None:
    file = tmp_path / "run" / "one.lock"
    with sole(file) as first:
        with sole(file) as second, sole(file) as third:
            meanwhile = (first, second, third)
        assert file.exists()
    with sole(file) as later:
        pass

    assert meanwhile == (True, False, False)
    assert later
    assert not file.exists()


@posix
def test_who_has_locked_a_file_that_was_removed_meanwhile_is_not_the_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, open_ = tmp_path / "one.lock", os.open

    def opened_and_removed(*asked: Any, **named: Any) -> int:
        descriptor = open_(*asked, **named)
        file.unlink()
        return descriptor

    monkeypatch.setattr(os, "open", opened_and_removed)
    with sole(file) as one:
        monkeypatch.undo()
        with sole(file) as another:
            assert (one, another) == (False, True)


def test_where_there_is_no_place_for_a_lock_everybody_does_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with sole(tmp_path / "file" / "one.lock") as first, sole(tmp_path / "file" / "one.lock") as two:
        assert (first, two) == (True, True)
