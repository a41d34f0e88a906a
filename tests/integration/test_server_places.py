"""Where a server keeps its rooms, as it tells it."""

from pathlib import Path

import pytest

from letagents.domain.errors import RoomsUnavailable
from letagents.server_settings import Serving
from letagents.settings import Settings
from letagents.wiring.accounts import open_accounts
from letagents.wiring.server import open_server, place_of


def test_where_rooms_are_is_told_without_a_password(tmp_path: Path) -> None:
    url = "postgresql://ada:hunter2@db.example/rooms?password=hunter2&sslmode=require"

    assert place_of(url) == "postgresql+psycopg://ada:***@db.example/rooms"
    assert place_of(f"sqlite:///{tmp_path}/server.db") == f"{tmp_path}/server.db"
    assert place_of(str(tmp_path / "server.db")) == str(tmp_path / "server.db")
    assert "hunter2" not in repr(Serving(url))


@pytest.mark.parametrize(
    "url", ["postgresql://ada:hunter2@db:none/rooms", "postgresql://ada:x@hunter2@db/rooms"]
)
async def test_a_url_that_cannot_be_read_is_refused_without_a_part_of_it(
    url: str, tmp_path: Path
) -> None:
    with pytest.raises(RoomsUnavailable, match="its URL cannot be read") as refused:
        async with open_server(Settings(home=tmp_path), Serving(url)):
            pass

    assert "hunter2" not in f"{refused.value} {refused.value.remedy} {refused.value!r}"


async def test_a_place_that_cannot_be_had_says_how_to_name_another(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    place = str(tmp_path / "file" / "server.db")
    with pytest.raises(RoomsUnavailable) as to_serve:
        async with open_server(Settings(home=tmp_path), Serving(place)):
            pass
    with pytest.raises(RoomsUnavailable) as to_let_in:
        async with open_accounts(Serving(place)) as door:
            await door.add("ada")

    for refused in (to_serve.value, to_let_in.value):
        assert place in refused.happened
        assert "LETAGENTS_SERVER_DB" in refused.remedy
        assert "LETAGENTS_ROOMS_DB" not in refused.remedy
