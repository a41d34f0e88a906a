"""Which room a file chooses, and what is shown of the file."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from letagents.domain import room_config
from letagents.domain.ids import RoomId

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=9,
)


@pytest.mark.rule("G9")
@pytest.mark.parametrize(
    ("room", "room_id"),
    [
        (" Workshop ", "Workshop"),
        ("GitHub.com/Ada/Engine", "github.com/ada/engine"),
        ("https://github.com/Ada/Engine.git", "github.com/ada/engine"),
        ("ab12-cd34", "AB12-CD34"),
        ("gitlab.com/Ada/Engine", "gitlab.com/Ada/Engine"),
    ],
)
def test_the_room_is_the_one_that_its_name_means(room: str, room_id: str) -> None:
    config = room_config.read("f", {"room": room, "more": 1})

    assert config.room == RoomId(room_id)
    assert config.wrong is None


@pytest.mark.rule("G10")
@pytest.mark.parametrize(
    "contents",
    [None, [], "room", 1, {}, {"room": None}, {"room": 1}, {"room": " "}, {"room": "x" * 201}],
)
def test_what_names_no_room_says_why(contents: object) -> None:
    config = room_config.read("f", contents)

    assert config.room is None
    assert config.wrong is not None
    assert "room" in config.wrong


@pytest.mark.rule("G11")
def test_a_password_inside_a_url_is_not_shown() -> None:
    contents = {"room": "https://ada:s3cret@host/o/r", "https://s3cret@h": ["ssh://s3cret@h/x"]}

    config = room_config.read("f", contents)

    assert config.room == RoomId("host/o/r")
    assert config.contents == {"room": "https://…@host/o/r", "https://…@h": ["ssh://…@h/x"]}
    assert "s3cret" not in repr(config)


@pytest.mark.rule("G11")
def test_what_is_nested_deeply_is_shown_only_so_far() -> None:
    deep: Any = "bottom"
    for _ in range(300):
        deep = [deep]

    shown = str(room_config.read("f", {"more": deep}).contents)

    assert "…" in shown
    assert len(shown) < 50


@given(JSON)
def test_any_json_is_read(contents: object) -> None:
    config = room_config.read("f", contents)

    assert (config.room is None) is (config.wrong is not None)
