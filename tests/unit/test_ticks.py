"""Time that only goes forward."""

from datetime import timedelta

import pytest

from letagents.domain.ticks import Tick, elapsed


@pytest.mark.rule("L20")
def test_between_two_ticks_of_one_boot_lies_what_the_clock_counted() -> None:
    assert elapsed(Tick("one", 10.0), Tick("one", 25.5)) == timedelta(seconds=15.5)


@pytest.mark.rule("L20")
def test_a_tick_that_is_ahead_in_the_same_boot_is_of_now() -> None:
    assert elapsed(Tick("one", 25.5), Tick("one", 10.0)) == timedelta(0)


@pytest.mark.rule("L21")
@pytest.mark.parametrize("before", [Tick("one", 5.0), Tick("one", 900.0)])
def test_a_tick_of_an_earlier_boot_is_as_long_ago_as_this_boot_is_old(before: Tick) -> None:
    assert elapsed(before, Tick("two", 30.0)) == timedelta(seconds=30)


@pytest.mark.rule("L21")
def test_where_boots_have_no_name_a_later_reading_is_of_an_earlier_one() -> None:
    assert elapsed(Tick("", 90.0), Tick("", 30.0)) == timedelta(seconds=30)
    assert elapsed(Tick("", 10.0), Tick("", 30.0)) == timedelta(seconds=20)
