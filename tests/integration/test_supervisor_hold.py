"""One supervisor for a home, and each knows when it is the newest no more."""

import os
import sys
from pathlib import Path

import pytest

from letagents.adapters.supervision.hold import COUNTER, JOURNAL, LOCK, HomeHold
from letagents.domain.errors import StateUnavailable
from letagents.domain.generations import AlreadySupervised, FenceLost, GenerationDamaged


def taken(home: Path) -> HomeHold:
    hold = HomeHold(home)
    hold.take()
    return hold


@pytest.mark.rule("J50")
def test_each_supervisor_of_a_home_is_one_more(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for generation in (1, 2, 3):
        hold = taken(home)
        hold.check()
        assert hold.generation == generation
        assert (home / COUNTER).read_text() == f"{generation}\n"
        hold.close()

    assert (home / LOCK).exists()
    assert sorted(file.name for file in home.iterdir()) == [LOCK, COUNTER]


def test_there_is_one_at_a_time(tmp_path: Path) -> None:
    hold = taken(tmp_path)

    with pytest.raises(AlreadySupervised, match="already owns this host lock"):
        taken(tmp_path)
    hold.check()
    hold.close()
    assert taken(tmp_path).generation == 2


@pytest.mark.rule("J51")
@pytest.mark.parametrize("counted", ["8\n", "", "x\n"])
def test_who_was_replaced_acts_no_more(counted: str, tmp_path: Path) -> None:
    hold = taken(tmp_path)
    (tmp_path / COUNTER).write_text(counted)

    with pytest.raises(FenceLost):
        hold.check()


@pytest.mark.rule("J51")
def test_who_gave_up_acts_no_more(tmp_path: Path) -> None:
    hold = taken(tmp_path)
    hold.close()

    with pytest.raises(FenceLost):
        hold.check()


@pytest.mark.rule("J50")
def test_a_count_that_cannot_be_read_is_left_and_the_lock_let_go(tmp_path: Path) -> None:
    (tmp_path / COUNTER).write_text("seven\n")

    with pytest.raises(GenerationDamaged):
        taken(tmp_path)

    assert (tmp_path / COUNTER).read_text() == "seven\n"
    (tmp_path / COUNTER).write_text("7\n")
    assert taken(tmp_path).generation == 8


def test_a_home_that_cannot_be_had_is_told(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")

    with pytest.raises(StateUnavailable, match="cannot be supervised"):
        taken(tmp_path / "home")


@pytest.mark.skipif(sys.platform == "win32", reason="modes say nothing there")
def test_its_files_are_its_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        taken(tmp_path / "home")
    finally:
        os.umask(before)

    assert (tmp_path / "home").stat().st_mode & 0o777 == 0o700
    for name in (LOCK, COUNTER):
        assert (tmp_path / "home" / name).stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(sys.platform == "win32", reason="modes say nothing there")
def test_a_home_that_others_may_enter_is_closed_to_them(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    for name in (JOURNAL, LOCK):
        (tmp_path / name).touch(0o666)
        (tmp_path / name).chmod(0o666)
    taken(tmp_path)

    assert tmp_path.stat().st_mode & 0o777 == 0o700
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="modes say nothing there")
@pytest.mark.parametrize("name", [JOURNAL, LOCK, COUNTER])
def test_what_is_a_link_to_another_file_is_not_used(name: str, tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.write_text("7\n")
    (home / name).symlink_to(elsewhere)

    with pytest.raises(StateUnavailable, match="is no regular file"):
        taken(home)
    assert elsewhere.read_text() == "7\n"


@pytest.mark.skipif(
    sys.platform == "win32" or os.getuid() != 0, reason="only root can give files away"
)
def test_what_another_user_put_there_is_not_used(tmp_path: Path) -> None:
    (tmp_path / JOURNAL).touch()
    os.chown(tmp_path / JOURNAL, 1234, 1234)

    with pytest.raises(StateUnavailable, match="belongs to another user"):
        taken(tmp_path)


def test_what_cannot_be_counted_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / COUNTER).mkdir()

    with pytest.raises(StateUnavailable):
        taken(tmp_path)
    assert not list(tmp_path.glob(f"{COUNTER}.*"))
