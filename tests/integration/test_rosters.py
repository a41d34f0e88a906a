"""A roster that is remembered is never that of another moment, whichever process changed it."""

from collections.abc import AsyncIterator
from pathlib import Path

import attrs
import pytest
from sqlalchemy import select
from tests.integration.rooms_processes import rooms_at

from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.sql.database import Database
from letagents.adapters.sql.tables import ROOMS
from letagents.domain.activation import Decision, Reason
from letagents.domain.messages import After, Latest, Page
from letagents.domain.sessions import Arrival, Connection
from letagents.testing.contracts.room_callers import (
    ADA,
    BOB,
    ROOM,
    arrival,
    draft,
    passing_chat,
    person,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "rooms.db"


@pytest.fixture
async def ours(place: Path) -> AsyncIterator[LocalRooms]:
    rooms = rooms_at(place)
    yield rooms
    await rooms.aclose()


@pytest.fixture
async def theirs(place: Path, ours: LocalRooms) -> AsyncIterator[LocalRooms]:
    await ours.join(ROOM)
    rooms = rooms_at(place, process=2)
    yield rooms
    await rooms.aclose()


def counted(place: Path) -> int:
    database = Database.at(place)
    rows = database.read(lambda unit: unit.rows(select(ROOMS.c.roster_changes)))
    database.close()
    return int(rows[0][0])


async def seen_afresh(place: Path, ada: Connection) -> Page:
    rooms = rooms_at(place, process=3)
    page = await rooms.read(ROOM, Latest(), ada.fence)
    await rooms.aclose()
    return page


async def label(rooms: LocalRooms, viewer: Connection) -> tuple[Decision, Reason]:
    (message,) = (await rooms.read(ROOM, Latest(1), viewer.fence)).messages
    assert message.activation is not None
    return message.activation.decision, message.activation.reason


async def test_who_comes_or_goes_by_another_store_counts_at_the_next_read(
    ours: LocalRooms, theirs: LocalRooms
) -> None:
    human = await ours.connect(ROOM, person())
    await ours.post(ROOM, draft("good morning"), human.fence)  # nobody is there who has a receipt
    ada = await ours.connect(ROOM, arrival(ADA, 1))
    await theirs.connect(ROOM, arrival(BOB, 2))
    small, unclear = (
        (Decision.ACTIVATE, Reason.SMALL_ROOM),
        (Decision.UNCLEAR, Reason.UNADDRESSED),
    )
    assert await label(ours, ada) == small

    third = await theirs.connect(ROOM, arrival(3, 3))
    assert await label(ours, ada) == unclear

    await theirs.disconnect(ROOM, third.fence)
    assert await label(ours, ada) == small

    await theirs.connect(ROOM, arrival(3, 4, after=third))
    assert await label(ours, ada) == unclear


async def test_however_a_roster_changes_the_next_read_is_as_that_of_a_new_store(
    place: Path, ours: LocalRooms, theirs: LocalRooms
) -> None:
    ada = await ours.connect(ROOM, arrival(ADA, 1))
    human = await ours.connect(ROOM, person())
    for text in ("@Guest please", "@Codex please", "@everyone", "good morning", "@Worker2 so"):
        await ours.post(ROOM, draft(text), human.fence)
    relabelled = attrs.evolve(arrival(BOB, 12), ide_label="Codex", insists=True)
    arrivals: list[Arrival] = [
        arrival(BOB, 2),
        relabelled,
        passing_chat(4),
        passing_chat(5),
        passing_chat(6),
        person(901),
        arrival(3, 3),
    ]

    connected = []
    for one in arrivals:
        connected.append(await theirs.connect(ROOM, one))
        page = await ours.read(ROOM, Latest(), ada.fence)
        assert page == await seen_afresh(place, ada)
    for gone in (connected[1], connected[4], connected[6]):
        await theirs.disconnect(ROOM, gone.fence)
        page = await ours.read(ROOM, Latest(), ada.fence)
        assert page == await seen_afresh(place, ada)


async def test_a_call_alone_changes_no_roster(
    place: Path, ours: LocalRooms, theirs: LocalRooms
) -> None:
    ada = await ours.connect(ROOM, arrival(ADA, 1))
    before = counted(place)

    await theirs.read(ROOM, After(), ada.fence)
    await theirs.post(ROOM, draft("hello"), ada.fence)
    await ours.connect(ROOM, arrival(ADA, 1))
    await theirs.aclose()  # signs that nobody waited for are written by then

    assert counted(place) == before
    await ours.disconnect(ROOM, ada.fence)
    assert counted(place) == before + 1
