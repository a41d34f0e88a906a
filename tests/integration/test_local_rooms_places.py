"""Places in which rooms cannot be kept, or not any more, and the files that are made there."""

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import attrs
import pytest
from sqlalchemy import event
from tests.integration.rooms_processes import everything, rooms_at, run

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.sql import checkpoints, sqlite_library
from letagents.adapters.sql.database import Database
from letagents.domain.errors import RoomsUnavailable
from letagents.domain.ids import RoomId
from letagents.domain.messages import Latest
from letagents.domain.sessions import Connection
from letagents.testing.contracts.room_callers import ADA, ROOM, arrival, draft

SOON = 5


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "home" / "rooms.db"


@pytest.fixture
def database(place: Path) -> Iterator[Database]:
    database = Database.at(place)
    yield database
    database.close()


@pytest.fixture
async def ours(database: Database) -> AsyncIterator[LocalRooms]:
    rooms = rooms_at(database)
    yield rooms
    await rooms.aclose()


@pytest.fixture
async def ada(ours: LocalRooms) -> Connection:
    await ours.join(ROOM)
    return await ours.connect(ROOM, arrival(ADA, 1))


async def refused(place: Path | Database) -> RoomsUnavailable:
    """Return the error that every first call meets."""
    rooms = rooms_at(place)
    with pytest.raises(RoomsUnavailable) as told:
        await rooms.join(ROOM)
    with pytest.raises(RoomsUnavailable):
        await rooms.known()
    await rooms.aclose()
    return told.value


@pytest.mark.rule("R10")
async def test_what_is_no_database_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    place = tmp_path / "rooms.db"
    content = b"Dear diary, " * 1000
    place.write_bytes(content)

    error = await refused(place)
    assert str(place) in error.happened
    assert "not a database" in error.happened
    assert "letagents doctor" in error.remedy
    assert place.read_bytes() == content


@pytest.mark.rule("R10")
async def test_a_damaged_database_is_named(place: Path) -> None:
    ours = rooms_at(place)
    await ours.join(ROOM)
    ada = await ours.connect(ROOM, arrival(ADA, 1))
    for at in range(50):
        await ours.post(ROOM, draft(f"{at} {'x' * 1000}"), ada.fence)
    await ours.aclose()
    damaged = bytearray(place.read_bytes())
    damaged[4096:] = b"\xff" * (len(damaged) - 4096)
    place.write_bytes(damaged)

    rooms = rooms_at(place)
    with pytest.raises(RoomsUnavailable, match="malformed"):
        await rooms.read(ROOM, Latest())
    with pytest.raises(RoomsUnavailable, match=place.name):
        await rooms.post(ROOM, draft("hello"), ada.fence)
    await rooms.aclose()


@contextmanager
def database_at(place: Path) -> Iterator[Database]:
    database = Database.at(place)
    yield database
    database.close()


@pytest.mark.rule("R10")
async def test_a_database_of_a_newer_form_is_left_alone(place: Path, ours: LocalRooms) -> None:
    await ours.join(ROOM)
    with database_at(place) as database:
        run(database, "PRAGMA user_version = 999")

    error = await refused(place)
    assert "newer letagents" in error.happened
    assert "Upgrade" in error.remedy


@pytest.mark.rule("R10")
async def test_a_place_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "folder").mkdir()

    for place in (tmp_path / "file" / "rooms.db", tmp_path / "folder"):
        assert str(place) in (await refused(place)).happened


@pytest.mark.rule("R10")
async def test_a_place_that_was_mended_is_used_without_a_restart(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("in the way")
    rooms = rooms_at(tmp_path / "home" / "rooms.db")
    with pytest.raises(RoomsUnavailable):
        await rooms.join(ROOM)

    (tmp_path / "home").unlink()
    assert (await rooms.join(ROOM)).room_id == ROOM
    await rooms.aclose()


@pytest.mark.rule("R10")
async def test_a_full_disk_refuses_and_keeps_what_was_said(place: Path) -> None:
    with database_at(place) as database:
        event.listen(database.engine, "connect", in_little_room)
        rooms = rooms_at(database)
        await rooms.join(ROOM)
        ada = await rooms.connect(ROOM, arrival(ADA, 1))
        await rooms.post(ROOM, draft("before"), ada.fence)

        with pytest.raises(RoomsUnavailable, match="full"):
            await say_much(rooms, ada)
        said = (await rooms.read(ROOM, Latest())).messages
        assert said[0].text == "before"
        assert [one.id.number for one in said] == list(range(1, len(said) + 1))
        await rooms.aclose()


async def say_much(rooms: LocalRooms, ada: Connection) -> None:
    for at in range(100):
        await rooms.post(ROOM, draft(f"{at} {'x' * 10_000}"), ada.fence)


def in_little_room(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA max_page_count = 60")


@pytest.mark.rule("R10")
async def test_a_database_that_stays_locked_is_told_of(place: Path) -> None:
    with database_at(place) as database, database_at(place) as other:
        event.listen(database.engine, "connect", without_patience)
        rooms = rooms_at(database)
        await rooms.join(ROOM)
        ada = await rooms.connect(ROOM, arrival(ADA, 1))
        with other.engine.connect() as holder:
            holder.exec_driver_sql("BEGIN IMMEDIATE")

            with pytest.raises(RoomsUnavailable, match=r"locked.* Nothing was changed") as told:
                await rooms.post(ROOM, draft("hello"), ada.fence)
            assert "LETAGENTS_ROOMS_DB" not in str(told.value)
            assert (await rooms.read(ROOM, Latest())).messages == ()
            holder.exec_driver_sql("ROLLBACK")

        assert (await rooms.post(ROOM, draft("hello"), ada.fence)).id.number == 1
        await rooms.aclose()


@pytest.mark.rule("R10")
async def test_who_queues_behind_a_locked_database_waits_for_it_once(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("letagents.adapters.sql.database.SHORT_PATIENCE_MS", 10)
    with database_at(place) as database, database_at(place) as other:
        event.listen(database.engine, "connect", without_patience)
        rooms = rooms_at(database)
        await rooms.join(ROOM)
        ada = await rooms.connect(ROOM, arrival(ADA, 1))
        with other.engine.connect() as holder:
            holder.exec_driver_sql("BEGIN IMMEDIATE")
            with anyio.fail_after(10):  # one that waited its time out would take longer
                for number in range(20):
                    with pytest.raises(RoomsUnavailable, match="locked"):
                        await rooms.post(ROOM, draft(f"in vain {number}"), ada.fence)
            holder.exec_driver_sql("ROLLBACK")

        assert (await rooms.post(ROOM, draft("hello"), ada.fence)).id.number == 1
        await rooms.aclose()


def without_patience(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA busy_timeout = 10")


@pytest.mark.rule("R10")
@pytest.mark.parametrize("url", ["nonsense://", "oracle+nothing://ada:secret@host/rooms", "://"])
async def test_a_url_that_names_no_database_is_told_of_without_its_password(url: str) -> None:
    rooms = rooms_at(url)
    with pytest.raises(RoomsUnavailable, match="LETAGENTS_ROOMS_DB") as told:
        await rooms.known()
    await rooms.aclose()

    assert "secret" not in str(told.value)


async def test_the_end_does_not_wait_for_ever_for_a_database_that_another_holds(
    place: Path, ours: LocalRooms, ada: Connection
) -> None:
    with database_at(place) as other, other.engine.connect() as holder:
        holder.exec_driver_sql("BEGIN IMMEDIATE")
        with anyio.fail_after(SOON):
            async with anyio.create_task_group() as callers:
                callers.start_soon(ours.post, ROOM, draft("hello"), ada.fence)
                await anyio.wait_all_tasks_blocked()
                await ours.aclose()
                callers.cancel_scope.cancel()
        holder.exec_driver_sql("ROLLBACK")


@pytest.mark.skipif(sys.platform == "win32", reason="no modes there")
async def test_the_files_are_their_owners_alone(
    place: Path, ours: LocalRooms, ada: Connection
) -> None:
    await ours.post(ROOM, draft("hello"), ada.fence)

    made = sorted(place.parent.iterdir())
    assert [one.name for one in made] == [
        "rooms.db",
        "rooms.db-shm",
        "rooms.db-turn",
        "rooms.db-wal",
    ]
    assert {one.stat().st_mode & 0o777 for one in made} == {0o600}
    assert place.parent.stat().st_mode & 0o777 == 0o700


async def test_no_secret_is_in_the_files(place: Path, ours: LocalRooms, ada: Connection) -> None:
    await ours.post(ROOM, draft("hello"), ada.fence)

    for file in place.parent.iterdir():
        assert ada.fence.token.value.encode() not in file.read_bytes()


async def test_what_is_asked_of_closed_rooms_is_refused(place: Path) -> None:
    rooms = rooms_at(place)
    await rooms.join(ROOM)
    await rooms.aclose()
    await rooms.aclose()

    with pytest.raises(RoomsUnavailable, match="closed"):
        await rooms.join(ROOM)
    with pytest.raises(RoomsUnavailable, match="closed"):
        await rooms.read(ROOM, Latest())


# --- a SQLite with the WAL-reset fault ------------------------------------------------------------


async def test_with_an_old_sqlite_the_log_is_copied_back_by_us(place: Path) -> None:
    library = attrs.evolve(sqlite_library.library(), checkpoints_apart=True)
    database = Database.at(place, library)
    rooms = rooms_at(database)
    await rooms.join(ROOM)
    ada = await rooms.connect(ROOM, arrival(ADA, 1))
    log = place.with_name("rooms.db-wal")
    sizes = []

    for at in range(150):
        await rooms.post(ROOM, draft(f"{at} {'x' * 60_000}"), ada.fence)
        sizes.append(log.stat().st_size)

    assert max(sizes) > checkpoints.DUE * 4096
    assert min(sizes[100:]) < max(sizes) / 4
    await rooms.aclose()
    database.close()
    with database_at(place) as again:
        rooms = rooms_at(again)
        assert len(await everything(rooms)) == 150
        await rooms.aclose()


def test_a_sound_sqlite_is_taken_first_and_any_other_only_for_want_of_it() -> None:
    standard = sqlite_library.library(["sqlite3"])
    assert standard.name == "sqlite3"
    assert standard.checkpoints_apart == (standard.version < sqlite_library.SOUND_SINCE)
    assert sqlite_library.library(["no_such_module", "sqlite3"]) == standard

    taken = sqlite_library.library()
    assert taken.checkpoints_apart <= standard.checkpoints_apart
    assert ".".join(map(str, taken.version)) in str(taken)


# --- places that change under a process ----------------------------------------------------------


async def test_what_would_be_written_into_a_file_that_lost_its_name_is_refused(
    tmp_path: Path,
) -> None:
    place = tmp_path / "rooms.db"
    rooms = rooms_at(place)
    await rooms.join(ROOM)
    ada = await rooms.connect(ROOM, arrival(ADA, 10))
    await rooms.post(ROOM, draft("kept"), ada.fence)

    place.rename(tmp_path / "elsewhere.db")
    with pytest.raises(RoomsUnavailable, match="removed or replaced"):
        await rooms.post(ROOM, draft("nobody would see it"), ada.fence)
    with pytest.raises(RoomsUnavailable, match="removed or replaced"):
        await rooms.read(ROOM, Latest())
    assert not place.exists()

    (tmp_path / "elsewhere.db").rename(place)
    assert (await rooms.post(ROOM, draft("seen"), ada.fence)).id.number == 2
    await rooms.aclose()


async def test_a_fault_beside_the_database_neither_stops_the_writer_nor_hides_what_was_said(
    tmp_path: Path,
) -> None:
    rooms = rooms_at(tmp_path / "rooms.db", nudges=Faulty())
    await rooms.join(ROOM)
    ada = await rooms.connect(ROOM, arrival(ADA, 10))

    with anyio.fail_after(20):
        said = [await rooms.post(ROOM, draft(text), ada.fence) for text in ("one", "two")]

    assert [message.id.number for message in said] == [1, 2]
    await rooms.aclose()


class Faulty(NoNudges):
    """Nudges that fail in a way that nobody thought of."""

    def nudge(self, room_id: RoomId) -> None:
        raise RuntimeError(f"a loop of links to {room_id}")
