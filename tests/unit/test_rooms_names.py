"""Rooms and their canonical names."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from letagents.domain import rooms
from letagents.domain.errors import Malformed, UnknownRoom
from letagents.domain.ids import RoomId
from letagents.domain.rooms import Room


@pytest.mark.rule("K1")
@pytest.mark.parametrize("text", ["ab12-cd34", " AB12-CD34-EF56\n", "AAAA-BBBB-CCCC-DDDD"])
def test_an_invite_code_is_upper_cased(text: str) -> None:
    assert rooms.looks_like_code(text)
    assert rooms.canonical(text) == rooms.invite_code(text) == RoomId(text.strip().upper())


@pytest.mark.rule("K1")
@pytest.mark.parametrize("text", ["", "AB12", "AB12-CD3", "AB12-CD345", "AB12_CD34", "ÄB12-CD34"])
def test_what_is_no_invite_code_is_refused_as_one(text: str) -> None:
    assert not rooms.looks_like_code(text)
    with pytest.raises(Malformed, match="code:"):
        rooms.invite_code(text)


@pytest.mark.rule("K2")
def test_a_repository_is_lower_cased_and_other_names_are_not() -> None:
    assert rooms.canonical("GitHub.com/Ada/Engine") == RoomId("github.com/ada/engine")
    assert rooms.canonical("gitlab.com/Ada/Engine") == RoomId("gitlab.com/Ada/Engine")
    assert rooms.canonical("github.com/Ada/Engine/more") == RoomId("github.com/ada/engine/more")
    assert rooms.canonical(" Workshop ") == RoomId("Workshop")


@pytest.mark.rule("K3")
@pytest.mark.parametrize("text", ["", "   ", "a\nb", "a\x00", "\ud800", "x" * 201])
def test_a_name_that_cannot_be_shown_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        rooms.canonical(text)


@pytest.mark.rule("K6")
@pytest.mark.parametrize(
    "text",
    [
        *("..", ".", "../shed", "shed/../barn", "a/./b", "a//b", "//a"),
        *("a/focus/..", "../x/focus/y", "github.com/o/r/../x", "a\ufffd", "\ufffd/focus/x"),
    ],
)
def test_a_name_that_could_lead_elsewhere_is_refused(text: str) -> None:
    with pytest.raises(Malformed, match="no room's name"):
        rooms.canonical(text)


@pytest.mark.rule("K6")
@pytest.mark.parametrize(
    "text", ["...", ".x", "x..", "a/..b", "/srv/x", "https://example.org/o/.github"]
)
def test_dots_are_no_harm_beside_others(text: str) -> None:
    assert str(rooms.canonical(text)).endswith(text[-3:])


@pytest.mark.rule("K1", "K2", "K3")
@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=60))
def test_a_canonical_name_is_its_own(text: str) -> None:
    try:
        once = rooms.canonical(text)
    except Malformed:
        return
    assert rooms.canonical(str(once)) == once


@pytest.mark.rule("K4")
def test_only_a_room_without_the_form_of_a_code_is_made_by_joining() -> None:
    rooms.check_may_be_made(RoomId("workshop"))

    with pytest.raises(UnknownRoom, match="AB12-CD34"):
        rooms.check_may_be_made(RoomId("AB12-CD34"))


def test_a_rooms_path_is_encoded_part_by_part() -> None:
    room = Room(RoomId("git-room:github.com:o/r:branch:X y"), "r", datetime(2030, 1, 1, tzinfo=UTC))

    assert room.path == "/in/git-room%3Agithub.com%3Ao/r%3Abranch%3AX%20y"
