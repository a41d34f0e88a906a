"""One supervisor for a home, and each knows when it is the newest no more."""

import os
import sys
from pathlib import Path

import pytest

from letagents.adapters.supervision.hold import COUNTER, LOCK, HomeHold
from letagents.domain.errors import StateUnavailable
from letagents.domain.manifest import AlreadySupervised, FenceLost, GenerationDamaged


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
