"""What an agent says it does, and for how long that can be so."""

from datetime import timedelta

import pytest

from letagents.domain.errors import Malformed
from letagents.domain.whereabouts import FRESH, Said, is_fresh, said


@pytest.mark.rule("X20")
def test_an_agent_says_what_it_does_in_one_of_four_words() -> None:
    assert said(" Working ", "on  the\nroof") == Said(status="working", text="on the roof")
    assert said("idle", None) == Said()


@pytest.mark.rule("X20")
@pytest.mark.parametrize(
    ("status", "text"), [("away", None), (None, None), (7, None), ("", None), ("idle", 7)]
)
def test_anything_else_is_refused(status: object, text: object) -> None:
    with pytest.raises(Malformed):
        said(status, text)


@pytest.mark.rule("X21")
@pytest.mark.parametrize(
    ("alive", "silent", "fresh"),
    [
        (None, timedelta(0), True),
        (None, FRESH, False),
        (None, FRESH - timedelta(milliseconds=1), True),
        (True, 10 * FRESH, True),
        (False, timedelta(0), False),
    ],
)
def test_it_is_fresh_for_a_while_or_as_long_as_the_process_is_there(
    alive: bool | None, silent: timedelta, fresh: bool
) -> None:
    assert is_fresh(alive=alive, silent=silent) is fresh
