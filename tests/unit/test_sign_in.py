"""Signing in with a device: how often it is asked, and who is admitted."""

from datetime import timedelta

import pytest

from letagents.domain.local_state import Account
from letagents.domain.sign_in import Authorized, Begun, Waiting, admits, next_interval

SECOND = timedelta(seconds=1)


@pytest.mark.rule("Q30")
@pytest.mark.parametrize(
    ("status", "said", "then"),
    [("pending", 0, 5), ("pending", 8, 8), ("slow_down", 0, 10), ("slow_down", 20, 20)],
)
def test_who_is_told_to_slow_down_does(status: str, said: int, then: int) -> None:
    assert next_interval(5 * SECOND, Waiting(status, said * SECOND)) == then * SECOND


@pytest.mark.rule("Q31")
def test_those_alone_are_admitted_who_are_named_if_any_is() -> None:
    assert admits(None, "anybody")
    assert admits(frozenset({"ada"}), "Ada")
    assert not admits(frozenset({"ada"}), "eve")
    assert not admits(frozenset(), "ada")


def test_nothing_of_it_shows_a_secret() -> None:
    begun = Begun("the id", "CODE", "https://example.org", SECOND, SECOND)
    made = Authorized("the token", Account(None, "ada"))

    assert "the id" not in repr(begun)
    assert "the token" not in repr(made)
