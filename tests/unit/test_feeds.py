"""Where the telling of a room begins."""

import pytest

from letagents.domain.errors import Malformed
from letagents.domain.feeds import FURTHEST, Begun, Cursor, begun

HERE = Cursor(2_000, 30, 4, 5, 6)


def test_a_cursor_is_what_it_is_spelt_as() -> None:
    assert str(HERE) == "2000.30.4.5.6"
    assert Cursor.parse("2000.30.4.5.6") == HERE
    assert Cursor.parse("2000.30.4.5") == Cursor(2_000, 30, 4, 5)
    assert Cursor.parse("2000.30.4") == Cursor(2_000, 30, 4, 0), "as it was once"


@pytest.mark.parametrize(
    "text", ["", "1.2", "1.2.3.4.5.6", "-1.2.3", "a.b.c", "1.2.99999999999", "1.2.٣"]
)
def test_anything_else_is_no_cursor(text: str) -> None:
    with pytest.raises(Malformed):
        Cursor.parse(text)


def test_who_asks_for_nothing_is_told_from_now_on() -> None:
    assert begun(None, HERE) == Begun(HERE)


@pytest.mark.rule("X10")
@pytest.mark.parametrize("asked", [HERE, Cursor(1_999, 30, 4), Cursor(2_000 - FURTHEST, 0, 0)])
def test_who_is_not_far_behind_is_told_from_where_it_was(asked: Cursor) -> None:
    assert begun(asked, HERE) == Begun(asked)


@pytest.mark.rule("X11")
@pytest.mark.parametrize(
    "asked",
    [
        Cursor(2_000, 30, 4, 6),
        Cursor(2_001, 30, 4),
        Cursor(2_000, 31, 4),
        Cursor(0, 0, 5),
        Cursor(999, 30, 4),
    ],
)
def test_who_is_ahead_or_far_behind_reads_the_room_first(asked: Cursor) -> None:
    assert begun(asked, HERE) == Begun(HERE, is_gap=True)
