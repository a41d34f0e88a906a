"""Paths of a server: each leads to what it names, however that is called."""

from urllib.parse import unquote

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from letagents.domain.ids import RoomId
from letagents.wire.http import rooms
from letagents.wire.http.places import part

ROOMS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=60).filter(
    RoomId.fits
)
TRICKY = st.lists(st.sampled_from(["..", ".", "", "a", "%2e%2e", "?x", "#x", ";"]), min_size=1)


@given(ROOMS | TRICKY.map("/".join).filter(RoomId.fits))
@example("shed/../barn")
@example("../auth/logout")
def test_the_path_of_a_room_leads_to_it_through_a_client(room_id: str) -> None:
    sent = httpx.URL(f"http://rooms.test{rooms.path(RoomId(room_id))}/messages?limit=1")

    assert unquote(sent.raw_path.decode()) == f"/rooms/{room_id}/messages?limit=1"


@pytest.mark.parametrize("text", ["..", ".", "a/b", "a?b", "a#b", "%2e", "ä"])
def test_a_part_of_a_path_is_one_part(text: str) -> None:
    sent = httpx.URL(f"http://rooms.test/tasks/{part(text)}/history")

    assert sent.raw_path.count(b"/") == 3
    assert unquote(sent.raw_path.decode()) == f"/tasks/{text}/history"
