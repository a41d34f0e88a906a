"""What only a real database, and others on it at the same moment, can do wrong."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import anyio
import attrs
import pytest
from sqlalchemy.exc import DatabaseError
from tests.integration.rivals import Act, Rival, leave, look, say_hello
from tests.integration.rooms_processes import (
    Boundaries,
    everything,
    rooms_at,
    rooms_of_process,
    run,
    speak,
    speakers,
)

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.sql.database import Database
from letagents.adapters.sql.engine import open_engine
from letagents.adapters.sql.file_lock import FileLock
from letagents.domain.errors import (
    ConnectionLost,
    ConnectionReplaced,
    OutcomeUnknown,
    RegistrationConflict,
    RoomsUnavailable,
)
from letagents.domain.ids import RoomId
from letagents.domain.messages import After, Latest
from letagents.domain.sessions import Connection
from letagents.domain.ticks import Tick
from letagents.testing.contracts.room_callers import ADA, BOB, ROOM, arrival, draft, texts
from letagents.testing.determinism import CountingIds, ManualClock

SOON = 5
LONG = timedelta(minutes=1)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "home" / "rooms.db"


@pytest.fixture
def database(place: Path) -> Iterator[Database]:
    database = Database.at(place)
    yield database
    database.close()


@pytest.fixture
def boundaries(database: Database) -> Boundaries:
    return Boundaries.of(database)


@pytest.fixture
async def ours(database: Database, boundaries: Boundaries) -> AsyncIterator[LocalRooms]:
    rooms = rooms_at(database)
    yield rooms
    await rooms.aclose()


@pytest.fixture
async def ada(ours: LocalRooms) -> Connection:
    await ours.join(ROOM)
    return await ours.connect(ROOM, arrival(ADA, 1))


@pytest.fixture
async def rivals(place: Path) -> AsyncIterator[LocalRooms]:
    """Another process's rooms, which do not wait for a turn: ours has it when they are let in."""
    database = Database(open_engine(place))
    rooms = rooms_at(database, process=2)
    yield rooms
    await rooms.aclose()
    database.close()


# --- rivals, let in where it matters --------------------------------------------------------------


async def wait(rooms: LocalRooms, ada: Connection) -> object:
    return await rooms.wait(ROOM, After(), timeout=LONG, viewer=ada.fence)


@pytest.mark.rule("R1", "R11")
@pytest.mark.parametrize("boundary", [1, 2, 3])
@pytest.mark.parametrize("act", [say_hello, leave, look, wait])
async def test_a_rival_that_connects_at_any_boundary_is_noticed(
    act: Act,
    boundary: int,
    boundaries: Boundaries,
    ours: LocalRooms,
    ada: Connection,
    rivals: LocalRooms,
) -> None:
    await ours.post(ROOM, draft("the first"), ada.fence)
    rival = Rival(rivals, ada, boundary)
    boundaries.at = rival.let_in

    try:
        with anyio.fail_after(SOON):
            await act(ours, ada)
    except ConnectionReplaced:
        assert rival.connected is not None
    else:
        assert rival.connected is None
    finally:
        boundaries.at = None


@pytest.mark.rule("R1", "E3")
@pytest.mark.parametrize("boundary", [1, 2, 3])
async def test_of_two_that_take_over_at_once_one_is_refused(
    boundary: int, boundaries: Boundaries, ours: LocalRooms, ada: Connection, rivals: LocalRooms
) -> None:
    rival = Rival(rivals, ada, boundary)
    boundaries.at = rival.let_in

    try:
        mine = await ours.connect(ROOM, arrival(ADA, 12, ada))
    except RegistrationConflict:
        assert rival.connected is not None
    else:
        assert rival.connected is None
        assert mine.fence.generation == 2
    finally:
        boundaries.at = None


@pytest.mark.rule("R3", "R5")
@pytest.mark.parametrize("boundary", [1, 2, 3])
async def test_a_rival_message_at_any_boundary_takes_a_number_of_its_own(
    boundary: int, boundaries: Boundaries, ours: LocalRooms, ada: Connection, rivals: LocalRooms
) -> None:
    begun = 0

    def let_the_rival_speak() -> None:
        nonlocal begun
        begun += 1
        if begun == boundary:
            asyncio.run(rivals.post(ROOM, draft("from the rival"), ada.fence))

    boundaries.at = let_the_rival_speak
    await ours.post(ROOM, draft("from us"), ada.fence)
    boundaries.at = None
    await rivals.post(ROOM, draft("from the rival"), ada.fence)

    said = (await ours.read(ROOM, After())).messages
    assert [message.id.number for message in said] == [1, 2]
    assert sorted(message.text for message in said) == ["from the rival", "from us"]


@attrs.define
class HeldClock:
    """Stands still, and holds whoever asks it until it is let go on."""

    asked: threading.Event = attrs.field(factory=threading.Event)
    go_on: threading.Event = attrs.field(factory=threading.Event)

    def now(self) -> datetime:
        self.asked.set()
        assert self.go_on.wait(SOON)
        return ManualClock().now()

    def tick(self) -> Tick:
        return ManualClock().tick()


@pytest.mark.rule("R1")
async def test_a_writer_that_was_blocked_while_its_worker_was_replaced_writes_nothing(
    place: Path, boundaries: Boundaries, ours: LocalRooms, ada: Connection
) -> None:
    clock = HeldClock()
    rivals = LocalRooms(place, CountingIds(), clock, NoNudges())
    at_the_door = threading.Event()
    refused: list[ConnectionLost] = []

    async def speak() -> None:
        try:
            await ours.post(ROOM, draft("from the old life"), ada.fence)
        except ConnectionLost as error:
            refused.append(error)

    with anyio.fail_after(SOON * 2):
        async with anyio.create_task_group() as both:
            both.start_soon(rivals.connect, ROOM, arrival(ADA, 11, ada))
            await anyio.to_thread.run_sync(clock.asked.wait, SOON)  # it holds the write lock now
            boundaries.at = at_the_door.set
            both.start_soon(speak)
            await anyio.to_thread.run_sync(at_the_door.wait, SOON)
            clock.go_on.set()

    assert len(refused) == 1
    assert (await ours.read(ROOM, Latest())).messages == ()
    await rivals.aclose()


@pytest.mark.rule("R1", "R3")
async def test_a_writer_holds_the_lock_before_it_looks_at_anything(
    place: Path, database: Database, ours: LocalRooms, ada: Connection
) -> None:
    clock = HeldClock()
    held = LocalRooms(place, CountingIds(), clock, NoNudges())

    with anyio.fail_after(SOON * 2):
        async with anyio.create_task_group() as writers:
            writers.start_soon(held.post, ROOM, draft("hello"), ada.fence)
            await anyio.to_thread.run_sync(clock.asked.wait, SOON)
            with pytest.raises(DatabaseError, match="locked"):
                run(database, "PRAGMA busy_timeout = 0", "BEGIN IMMEDIATE")
            clock.go_on.set()

    await held.aclose()


async def test_a_caller_that_left_before_its_turn_has_said_nothing(
    place: Path, boundaries: Boundaries, ours: LocalRooms, ada: Connection
) -> None:
    clock = HeldClock()
    at_the_door = threading.Event()
    holder = LocalRooms(place, CountingIds(), clock, NoNudges())

    with anyio.fail_after(SOON * 2):
        async with anyio.create_task_group() as others:
            others.start_soon(holder.connect, ROOM, arrival(BOB, 2))
            await anyio.to_thread.run_sync(clock.asked.wait, SOON)
            boundaries.at = at_the_door.set
            others.start_soon(ours.post, ROOM, draft("first, and blocked"), ada.fence)
            await anyio.to_thread.run_sync(at_the_door.wait, SOON)
            with anyio.move_on_after(0.01):
                await ours.post(ROOM, draft("never mind"), ada.fence)
            clock.go_on.set()

    await ours.post(ROOM, draft("last"), ada.fence)
    assert texts(await ours.read(ROOM, Latest())) == ["first, and blocked", "last"]
    await holder.aclose()


# --- many processes -------------------------------------------------------------------------------


@pytest.mark.rule("R3", "R4")
async def test_twenty_processes_write_into_a_new_place_at_once(place: Path) -> None:
    started = speakers(place, count=20, times=25)
    for one in started:
        await anyio.to_thread.run_sync(one.join, 120)
    assert [one.exitcode for one in started] == [0] * 20

    rooms = rooms_of_process(place, 99)
    said = await everything(rooms)
    assert [message.id.number for message in said] == list(range(1, 501))
    for process in range(1, 21):
        told = [one.text for one in said if one.text.endswith(f" from {process}")]
        assert told == [f"{at} from {process}" for at in range(1, 26)]
    await rooms.aclose()


@pytest.mark.rule("R4", "R5")
async def test_a_process_that_is_killed_has_said_what_it_was_told_and_no_half(place: Path) -> None:
    said = await anyio.to_thread.run_sync(killed_in_the_middle, place)
    rooms = rooms_of_process(place, 1)
    kept = await everything(rooms)

    assert [message.id.number for message in kept] == list(range(1, len(kept) + 1))
    assert len({message.text for message in kept}) == len(kept)
    assert len(said) <= len(kept) <= len(said) + 1
    assert [f"{one.id.number} {one.text}" for one in kept[: len(said)]] == said

    await speak(place, process=1, times=len(kept) + 10)
    assert [one.text for one in await everything(rooms)] == [
        f"{at} from 1" for at in range(1, len(kept) + 11)
    ]
    await rooms.aclose()


def killed_in_the_middle(place: Path) -> list[str]:
    """Kill a process that is to say a thousand messages; return what it was told it had said."""
    command = [sys.executable, "-m", "tests.integration.rooms_processes", "speak", str(place)]
    with subprocess.Popen([*command, "1000"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(300)]
        process.kill()
        lines += process.stdout.readlines()
    return [line.strip() for line in lines if line.endswith("\n")]


async def test_many_first_callers_in_one_process_open_the_place_once(database: Database) -> None:
    rooms = rooms_at(database)
    made: list[str] = []

    async def join(name: str) -> None:
        made.append(str((await rooms.join(RoomId(name))).room_id))

    async with anyio.create_task_group() as callers:
        for at in range(12):
            callers.start_soon(join, f"room {at}")
            callers.start_soon(rooms.known)

    assert len(await rooms.known()) == len(made) == 12
    await rooms.aclose()


async def test_a_writer_does_not_wait_for_ever_for_a_turn_that_a_stopped_process_holds(
    place: Path, ours: LocalRooms, ada: Connection
) -> None:
    turn = FileLock(place.with_name(f"{place.name}-turn"))
    turn.take()

    with anyio.fail_after(SOON):
        for at in range(3):
            await ours.post(ROOM, draft(f"{at}"), ada.fence)
    turn.give_back()
    turn.close()
    with anyio.fail_after(SOON):
        await ours.post(ROOM, draft("in turn again"), ada.fence)

    assert len((await ours.read(ROOM, Latest())).messages) == 4


async def test_where_no_turns_can_be_had_writers_write_all_the_same(
    place: Path, ours: LocalRooms, ada: Connection, rivals: LocalRooms
) -> None:
    turn = place.with_name(f"{place.name}-turn")
    turn.unlink()
    turn.mkdir()

    other = await rivals.connect(ROOM, arrival(BOB, 2))
    await rivals.post(ROOM, draft("one"), other.fence)
    await ours.post(ROOM, draft("two"), ada.fence)

    assert texts(await ours.read(ROOM, Latest())) == ["one", "two"]


# --- posts that share a transaction ---------------------------------------------------------------


async def test_a_post_that_breaks_the_transaction_spoils_none_that_share_it(
    database: Database, ours: LocalRooms, ada: Connection
) -> None:
    run(database, POISON)
    broken: list[str] = []

    async def say_it(text: str) -> None:
        try:
            await ours.post(ROOM, draft(text), ada.fence)
        except RoomsUnavailable as error:
            broken.append(f"{text}: {error.happened}")

    async with anyio.create_task_group() as speakers:
        for at in range(20):
            speakers.start_soon(say_it, "poison" if at == 7 else f"{at}")

    said = (await ours.read(ROOM, Latest())).messages
    assert [error.split(": ")[0] for error in broken] == ["poison"]
    assert "poisoned" in broken[0]
    assert sorted(one.text for one in said) == sorted(f"{at}" for at in range(20) if at != 7)
    assert [one.id.number for one in said] == list(range(1, 20))


POISON = """
    CREATE TRIGGER poison BEFORE INSERT ON messages WHEN NEW.text = 'poison'
    BEGIN SELECT RAISE(ABORT, 'poisoned'); END
"""


@pytest.mark.rule("R10")
async def test_a_commit_that_breaks_is_not_taken_for_a_refusal(
    database: Database, ours: LocalRooms, ada: Connection
) -> None:
    run(database, "CREATE TABLE parents (id INTEGER PRIMARY KEY)")
    run(database, ORPHANS)
    run(database, ORPHANED)

    with pytest.raises(OutcomeUnknown, match="may have happened"):
        await ours.post(ROOM, draft("poison"), ada.fence)
    assert (await ours.post(ROOM, draft("hello"), ada.fence)).id.number == 1


ORPHANS = """
    CREATE TABLE orphans (id INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)
"""
ORPHANED = """
    CREATE TRIGGER orphaned AFTER INSERT ON messages WHEN NEW.text = 'poison'
    BEGIN INSERT INTO orphans VALUES (7); END
"""


@pytest.mark.rule("R4")
def test_every_connection_syncs_what_it_commits(database: Database) -> None:
    """Without it a lost power supply would take back what was acknowledged."""
    with database.engine.connect() as connection:
        synchronous = connection.exec_driver_sql("PRAGMA synchronous").scalar_one()
        journal = connection.exec_driver_sql("PRAGMA journal_mode").scalar_one()

    assert (synchronous, journal) == (2, "wal")
