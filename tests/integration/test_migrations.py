"""A database of an earlier form is brought forward with all that is in it."""

import sqlite3
from pathlib import Path

import pytest

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.sql import migrations
from letagents.domain.errors import RoomsUnavailable
from letagents.domain.messages import Latest
from letagents.testing.contracts.room_callers import BOB, ROOM, arrival, draft
from letagents.testing.determinism import CountingIds, ManualClock

pytestmark = pytest.mark.anyio

FORMS = Path(__file__).with_name("forms")
"""Databases as earlier forms of ours left them, each with one message in a room."""


@pytest.fixture(params=sorted(FORMS.glob("sqlite_*.sql")), ids=lambda file: file.stem)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    place = tmp_path / "rooms.db"
    with sqlite3.connect(place) as database:
        database.executescript(request.param.read_text("utf-8"))
    database.close()
    return place


def opened(place: Path) -> LocalRooms:
    return LocalRooms(place, CountingIds(first=500), ManualClock(), NoNudges())


def form(place: Path) -> tuple[int, set[str]]:
    with sqlite3.connect(place) as database:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        things = database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
        found = {" ".join(sql.split()) for (sql,) in things}
    database.close()
    return version, found


def columns(place: Path, table: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(place) as database:
        found = database.execute(f"PRAGMA table_info({table})").fetchall()
    database.close()
    return found


async def test_what_was_said_before_is_there_after_and_more_can_be_said(place: Path) -> None:
    rooms = opened(place)
    (before,) = (await rooms.read(ROOM, Latest(10))).messages
    speaker = await rooms.connect(ROOM, arrival(BOB, 77))
    after = await rooms.post(ROOM, draft("after"), speaker.fence)
    await rooms.aclose()

    assert (before.text, after.id.number) == ("before", 2)
    assert form(place)[0] == migrations.VERSION


async def test_brought_forward_or_made_anew_its_tables_are_the_same(
    place: Path, tmp_path: Path
) -> None:
    new = tmp_path / "new.db"
    for one in (place, new):
        rooms = opened(one)
        await rooms.join(ROOM)
        await rooms.aclose()

    grown = ("rooms", "sessions")

    def others(found: set[str]) -> set[str]:
        made = tuple(f"CREATE TABLE {table} " for table in grown)
        return {sql for sql in found if not sql.startswith(made)}

    assert others(form(place)[1]) == others(form(new)[1])
    assert [columns(place, table) for table in grown] == [columns(new, table) for table in grown]


async def test_a_newer_form_is_refused_and_left_alone(place: Path) -> None:
    with sqlite3.connect(place) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    before = form(place)
    rooms = opened(place)

    with pytest.raises(RoomsUnavailable, match="newer letagents"):
        await rooms.join(ROOM)

    await rooms.aclose()
    assert form(place) == before
