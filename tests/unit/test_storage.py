"""Whether a room is on this machine or on a server."""

from collections.abc import Mapping

import pytest

from letagents.domain.ids import RoomId
from letagents.domain.storage import ChatStorage, chosen, is_hosted

HARBOUR, SHED = RoomId("harbour"), RoomId("shed")
BOTH: Mapping[str, object] = {"harbour": "local", "shed": "cloud"}


def of(document: Mapping[str, object], room_id: RoomId | None, said: str | None = None) -> bool:
    return is_hosted(room_id, said=said, chosen=chosen(document), has_server=False)


@pytest.mark.rule("K110")
@pytest.mark.parametrize("room_id", [HARBOUR, SHED, None])
def test_the_environment_decides_for_all_rooms(room_id: RoomId | None) -> None:
    document = {"mode": "local", "roomOverrides": BOTH}

    assert of(document, room_id, "cloud")
    assert not of(document, room_id, "local")


@pytest.mark.rule("K111")
@pytest.mark.parametrize("mode", ["local", "cloud"])
def test_what_is_said_of_a_room_decides_for_it(mode: str) -> None:
    document = {"mode": mode, "roomOverrides": BOTH}

    assert not of(document, HARBOUR)
    assert of(document, SHED)
    assert of(document, RoomId("elsewhere")) is (mode == "cloud")


@pytest.mark.rule("K111")
def test_a_room_is_known_by_any_spelling_of_its_id() -> None:
    found = chosen(
        {"roomOverrides": {"https://GitHub.com/O/R.git": "cloud", " ab12-cd34": "cloud"}}
    )

    assert found.rooms == {RoomId("github.com/o/r"): "cloud", RoomId("AB12-CD34"): "cloud"}


@pytest.mark.rule("K111")
@pytest.mark.parametrize(
    "overrides", [{"harbour": "both"}, {"": "local"}, {"harbour": None}, {"harbour": ["local"]}, 7]
)
def test_what_is_no_word_of_the_two_says_nothing(overrides: object) -> None:
    assert chosen({"roomOverrides": overrides, "mode": "both"}) == ChatStorage()


@pytest.mark.rule("K112")
@pytest.mark.parametrize(
    ("document", "hosted"),
    [
        ({"mode": "cloud"}, True),
        ({"mode": "local"}, False),
        ({"mode": "local", "defaultMode": "cloud"}, True),
        ({"mode": "cloud", "defaultMode": None}, True),
        ({"mode": "cloud", "defaultMode": "local"}, False),
    ],
)
def test_the_default_is_for_all_other_rooms(document: Mapping[str, object], hosted: bool) -> None:
    assert of(document, None) is hosted
    assert of(document, HARBOUR) is hosted


@pytest.mark.rule("K113")
@pytest.mark.parametrize("has_server", [True, False])
def test_where_nothing_is_said_rooms_are_where_a_server_is(has_server: bool) -> None:
    found = is_hosted(HARBOUR, said=None, chosen=ChatStorage(), has_server=has_server)

    assert found is has_server
