"""Time that only goes forward."""

from datetime import timedelta

import pytest

from letagents.domain.ticks import Tick, elapsed


@pytest.mark.rule("L20")
def test_between_two_ticks_of_one_boot_lies_what_the_clock_counted() -> None:
    assert elapsed(Tick("one", 10.0), Tick("one", 25.5)) == timedelta(seconds=15.5)


@pytest.mark.rule("L21")
@pytest.mark.parametrize("before", [Tick("one", 5.0), Tick("one", 900.0), Tick("two", 90.0)])
def test_a_tick_of_an_earlier_boot_is_as_long_ago_as_this_boot_is_old(before: Tick) -> None:
    assert elapsed(before, Tick("two", 30.0)) == timedelta(seconds=30)
