"""What only a database server, and others on it at the same moment, can do wrong."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import partial
from typing import Any, TypeVar

import anyio
import attrs
import psycopg
import pytest
from sqlalchemy import event
from tests.integration.postgres_processes import LONG, Trusting, rooms_in, speak
from tests.integration.rivals import Act, Rival, leave, look, say_hello
from tests.integration.rooms_processes import everything
from tests.integration.test_postgres_nudges import cut_all_off
from tests.own_postgres import OwnServer, plain, text_of
from tests.postgres_server import with_options

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.nudges.postgres import PostgresNudges
from letagents.adapters.rooms.book import Book
from letagents.adapters.rooms.kept.focus_rooms import KeptFocusRooms
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.sql import migrations
from letagents.adapters.sql.database import Unit
from letagents.adapters.sql.opening import open_database
from letagents.adapters.sql.postgres import PostgresDatabase
from letagents.domain.errors import (
    ConnectionLost,
    OutcomeUnknown,
    RegistrationConflict,
    RoomsUnavailable,
)
from letagents.domain.ids import ClientKey, RoomId
from letagents.domain.messages import After, Draft, Latest
from letagents.domain.sessions import Connection
from letagents.testing.contracts.room_callers import ADA, BOB, ROOM, arrival, draft, texts

T = TypeVar("T")

SOON = 20


def opened(place: str) -> PostgresDatabase:
    database = open_database(place)
    assert isinstance(database, PostgresDatabase)
    return database


@pytest.fixture
def database(postgres: str) -> Iterator[PostgresDatabase]:
    database = opened(postgres)
    yield database
    database.close()


@pytest.fixture
async def ours(database: PostgresDatabase) -> AsyncIterator[LocalRooms]:
    rooms = rooms_in(database, NoNudges())
    yield rooms
    await rooms.aclose()


@pytest.fixture
async def rivals(postgres: str) -> AsyncIterator[LocalRooms]:
    rooms = rooms_in(postgres, NoNudges(), process=2)
    yield rooms
    await rooms.aclose()


@pytest.fixture
async def ada(ours: LocalRooms) -> Connection:
    await ours.join(ROOM)
    return await ours.connect(ROOM, arrival(ADA, 1))


# --- rivals, let in where it matters --------------------------------------------------------------


@attrs.define
class Boundaries:
    """Calls `at` just before each transaction of a database begins, in the thread of it."""

    at: Callable[[], object] | None = None

    @classmethod
    def of(cls, database: PostgresDatabase) -> "Boundaries":
        boundaries = cls()
        event.listen(database.engine, "checkout", boundaries.see)
        return boundaries

    def see(self, *_: object) -> None:
        if self.at is not None:
            self.at()


@pytest.mark.rule("R1", "R11")
@pytest.mark.parametrize("boundary", [1, 2])
@pytest.mark.parametrize("act", [say_hello, leave, look])
async def test_a_rival_that_connects_at_any_boundary_is_noticed(
    act: Act,
    boundary: int,
    database: PostgresDatabase,
    ours: LocalRooms,
    ada: Connection,
    rivals: LocalRooms,
) -> None:
    await ours.post(ROOM, draft("the first"), ada.fence)
    boundaries, rival = Boundaries.of(database), Rival(rivals, ada, boundary)
    boundaries.at = rival.let_in

    with anyio.fail_after(SOON):
        try:
            await act(ours, ada)
        except ConnectionLost:
            assert rival.connected is not None
        else:
            assert rival.connected is None


@pytest.mark.rule("R1", "R3")
async def test_a_writer_holds_its_room_from_the_beginning_and_no_other_room(
    postgres: str, database: PostgresDatabase, ours: LocalRooms, ada: Connection
) -> None:
    impatient = opened(postgres)
    event.listen(impatient.engine, "connect", _hurried)
    others = rooms_in(impatient, NoNudges(), process=2)
    await others.join(RoomId("elsewhere"))

    def while_held(_unit: object) -> list[str]:
        with pytest.raises(RoomsUnavailable, match=r"are locked.*Nothing was changed"):
            asyncio.run(others.connect(ROOM, arrival(BOB, 2)))
        return [str(asyncio.run(others.join(RoomId("a new one"))).room_id)]

    assert await anyio.to_thread.run_sync(database.write, while_held, ROOM.value) == ["a new one"]
    assert (await others.connect(ROOM, arrival(BOB, 2))).fence.generation == 1
    await others.aclose()
    impatient.close()


def _hurried(connection: Any, _record: object) -> None:
    connection.execute("SET lock_timeout TO 100")


@pytest.mark.rule("R6")
async def test_a_look_sees_one_state_whatever_is_written_meanwhile(
    database: PostgresDatabase, ours: LocalRooms, ada: Connection, rivals: LocalRooms
) -> None:
    def look(unit: Unit) -> list[int]:
        counts = []
        for _ in range(2):
            counts.append(unit.ask("SELECT count(*) FROM messages")[0])
            asyncio.run(rivals.post(ROOM, draft("from the rival"), ada.fence))
        return counts

    assert await anyio.to_thread.run_sync(database.read, look) == [0, 0]
    assert len((await ours.read(ROOM, Latest())).messages) == 1


@pytest.mark.rule("R1")
async def test_of_two_who_register_one_worker_at_once_one_is_told(
    ours: LocalRooms, rivals: LocalRooms
) -> None:
    await ours.join(ROOM)
    for at in range(1, 11):
        outcomes = await asyncio.gather(
            ours.connect(ROOM, arrival(at, 100 + at)),
            rivals.connect(ROOM, arrival(at, 200 + at)),
            return_exceptions=True,
        )

        refused = [one for one in outcomes if isinstance(one, BaseException)]
        assert [type(one) for one in refused] == [RegistrationConflict]


async def test_a_room_is_made_once_however_many_ask(ours: LocalRooms, rivals: LocalRooms) -> None:
    names = [RoomId(f"room {at}") for at in range(10)]
    made = await asyncio.gather(*(one.join(name) for name in names for one in (ours, rivals)))

    assert len({room.room_id for room in made}) == len(await ours.known()) == 10


async def test_those_who_write_in_many_rooms_at_once_do_not_wait_for_each_other_for_ever(
    ours: LocalRooms, rivals: LocalRooms
) -> None:
    names = [RoomId(f"room {at}") for at in range(5)]
    said: list[int] = []

    async def say(rooms: LocalRooms, worker: int, order: list[RoomId]) -> None:
        fences = [await rooms.connect(name, arrival(worker, worker)) for name in order]
        posts = [
            rooms.post(name, Draft(f"{at} from {worker}", ClientKey(f"{at}")), fence.fence)
            for at in range(20)
            for name, fence in zip(order, fences, strict=True)
        ]
        said.extend(message.id.number for message in await asyncio.gather(*posts))

    await asyncio.gather(*(ours.join(name) for name in names))
    with anyio.fail_after(SOON):
        async with anyio.create_task_group() as speakers:
            speakers.start_soon(say, ours, ADA, names)
            speakers.start_soon(say, rivals, BOB, names[::-1])

    assert sorted(said) == sorted([*range(1, 41)] * 5)


# --- other processes ------------------------------------------------------------------------------


def process(*words: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.integration.postgres_processes", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.rule("R7")
async def test_a_waiter_in_another_process_is_woken_by_each_message(postgres: str) -> None:
    nudges = PostgresNudges(postgres)
    ours = rooms_in(postgres, nudges)
    await ours.join(ROOM)
    ada = await ours.connect(ROOM, arrival(ADA, 1))

    with process("wait", postgres) as waiting:
        assert waiting.stdout is not None
        heard = [await anyio.to_thread.run_sync(waiting.stdout.readline)]
        for text in ("one", "two", "the end"):
            await ours.post(ROOM, draft(text), ada.fence)
            with anyio.fail_after(SOON):
                heard.append(await anyio.to_thread.run_sync(waiting.stdout.readline))

    assert [line.strip() for line in heard] == ["waiting", "one", "two", "the end"]
    await ours.aclose()
    nudges.close()


@pytest.mark.rule("R7")
async def test_many_whose_nudges_are_lost_look_by_themselves(
    ours: LocalRooms, rivals: LocalRooms, ada: Connection
) -> None:
    heard: list[list[str]] = []

    async def wait() -> None:
        heard.append(texts(await ours.wait(ROOM, After(), timeout=LONG)))

    with anyio.fail_after(SOON):
        async with anyio.create_task_group() as waiters:
            for _ in range(20):
                waiters.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await rivals.post(ROOM, draft("hello"), ada.fence)

    assert heard == [["hello"]] * 20


@pytest.mark.rule("R4", "R5")
async def test_a_process_that_is_killed_has_said_what_it_was_told_and_no_half(
    postgres: str, ours: LocalRooms
) -> None:
    said = await anyio.to_thread.run_sync(killed_in_the_middle, postgres)
    kept = await everything(ours)

    assert [message.id.number for message in kept] == list(range(1, len(kept) + 1))
    assert len({message.text for message in kept}) == len(kept)
    assert len(said) <= len(kept) <= len(said) + 1
    assert [f"{one.id.number} {one.text}" for one in kept[: len(said)]] == said

    await speak(postgres, process=1, times=len(kept) + 10)
    assert [one.text for one in await everything(ours)] == [
        f"{at} from 1" for at in range(1, len(kept) + 11)
    ]


def killed_in_the_middle(place: str) -> list[str]:
    """Kill a process that is to say a thousand messages; return what it was told it had said."""
    with process("speak", place, "1000") as speaking:
        assert speaking.stdout is not None
        lines = [speaking.stdout.readline() for _ in range(300)]
        speaking.kill()
        lines += speaking.stdout.readlines()
    return [line.strip() for line in lines if line.endswith("\n")]


# --- a server that goes away ----------------------------------------------------------------------


@pytest.mark.rule("R7")
async def test_a_waiter_that_was_cut_off_from_the_server_is_woken_all_the_same(
    postgres: str, ours: LocalRooms, ada: Connection
) -> None:
    nudges, speaking = PostgresNudges(postgres), PostgresNudges(postgres)
    waiting = rooms_in(postgres, Trusting(nudges), process=2)
    rivals = rooms_in(postgres, speaking, process=3)
    heard: list[str] = []

    async def wait() -> None:
        heard.extend(texts(await waiting.wait(ROOM, After(), timeout=LONG)))

    with anyio.fail_after(SOON):
        async with anyio.create_task_group() as waiters:
            waiters.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            cut_all_off(postgres)
            await rivals.post(ROOM, draft("hello"), ada.fence)

    assert heard == ["hello"]
    for rooms in (waiting, rivals):
        await rooms.aclose()
    for one in (nudges, speaking):
        one.close()


@pytest.mark.rule("R7")
async def test_a_connection_that_is_cut_off_while_it_is_set_up_is_had_again(postgres: str) -> None:
    database, cut = opened(postgres), list[object]()

    def cut_off(connection: "psycopg.Connection[object]", _record: object) -> None:
        if not cut:
            cut.append(connection)
            with socket.socket(fileno=os.dup(connection.fileno())) as line:
                line.shutdown(socket.SHUT_RDWR)

    event.listen(database.engine, "connect", cut_off, insert=True)

    assert database.read(lambda unit: unit.ask("SELECT 1")) == (1,)
    assert cut
    database.close()


@pytest.mark.rule("R4", "R10")
async def test_what_was_cut_off_before_its_commit_is_refused_and_goes_on_afterwards(
    postgres: str, ours: LocalRooms, ada: Connection
) -> None:
    await ours.post(ROOM, draft("the first"), ada.fence)

    def cut_and_look(book: Book) -> object:
        cut_all_off(postgres)
        return book.message(1)

    with pytest.raises(RoomsUnavailable, match="cannot be used"):
        await ours.change(ROOM, cut_and_look)
    cut_all_off(postgres)
    said = await ours.post(ROOM, draft("the second"), ada.fence)

    assert said.id.number == 2


@pytest.mark.rule("R10")
async def test_a_commit_that_was_cut_off_is_told_as_unknown(blank_postgres: str) -> None:
    rooms = rooms_in(blank_postgres, NoNudges())
    await rooms.join(ROOM)
    ada = await rooms.connect(ROOM, arrival(ADA, 1))
    with psycopg.connect(plain(blank_postgres), autocommit=True) as other:
        other.execute(
            "CREATE FUNCTION be_gone() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$"
        )
        other.execute(
            "CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON messages "
            "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION be_gone()"
        )

        with pytest.raises(OutcomeUnknown, match="broke while a change was being written"):
            await rooms.post(ROOM, draft("hello"), ada.fence)
        outcomes = await asyncio.gather(
            *(rooms.post(ROOM, draft(f"hello {at}"), ada.fence) for at in range(5)),
            return_exceptions=True,
        )
        assert {type(one) for one in outcomes} == {OutcomeUnknown}
        other.execute("DROP TRIGGER at_commit ON messages")
    assert (await rooms.post(ROOM, draft("again"), ada.fence)).id.number == 1
    await rooms.aclose()


@pytest.mark.rule("R4", "R5", "R10")
async def test_a_server_that_breaks_down_under_load_loses_and_doubles_nothing(
    own_server: OwnServer,
) -> None:
    place = text_of(own_server.url)
    nudges = PostgresNudges(place)
    rooms = rooms_in(place, nudges)
    await rooms.join(ROOM)
    acknowledged: dict[str, int] = {}
    halfway = [anyio.Event(), anyio.Event()]

    async def speak(worker: int) -> None:
        us = await insisting(lambda: rooms.connect(ROOM, arrival(worker, worker)))
        for at in range(40):
            text = f"{at} from {worker}"
            said = await insisting(
                partial(rooms.post, ROOM, Draft(text, ClientKey(text)), us.fence)
            )
            acknowledged[text] = said.id.number
            if at in (10, 25):
                halfway[at > 10].set()

    with anyio.fail_after(3 * SOON):
        async with anyio.create_task_group() as speakers:
            for worker in range(1, 9):
                speakers.start_soon(speak, worker)
            for event_of in halfway:
                await event_of.wait()
                await anyio.to_thread.run_sync(own_server.stop_as_if_killed_and_start)

    kept = await everything(rooms)
    assert [one.id.number for one in kept] == list(range(1, 8 * 40 + 1))
    assert {one.text: one.id.number for one in kept} == acknowledged
    await rooms.aclose()
    await anyio.to_thread.run_sync(nudges.close)


async def insisting(call: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Return what a call that may be repeated answers at last."""
    while True:
        try:
            return await call()
        except (RoomsUnavailable, OutcomeUnknown):
            await anyio.sleep(0.01)


# --- its form, and how it is opened ---------------------------------------------------------------


async def test_many_who_open_a_blank_database_at_once_make_its_tables_once(
    blank_postgres: str,
) -> None:
    many = [rooms_in(blank_postgres, NoNudges(), process=at) for at in range(1, 7)]
    async with anyio.create_task_group() as openers:
        for at, rooms in enumerate(many):
            openers.start_soon(rooms.join, RoomId(f"room {at}"))

    assert len(await many[0].known()) == 6
    for rooms in many:
        await rooms.aclose()


async def test_a_newer_form_is_refused_and_left_alone(blank_postgres: str) -> None:
    first = rooms_in(blank_postgres, NoNudges())
    await first.join(ROOM)
    await first.aclose()
    with psycopg.connect(plain(blank_postgres), autocommit=True) as other:
        other.execute("UPDATE letagents_form SET number = 99")
    rooms = rooms_in(blank_postgres, NoNudges())

    with pytest.raises(RoomsUnavailable, match=r"newer letagents: its form is number 99"):
        await rooms.join(ROOM)
    await rooms.aclose()


async def test_tables_of_others_are_left_alone(blank_postgres: str) -> None:
    with psycopg.connect(plain(blank_postgres), autocommit=True) as other:
        other.execute("CREATE TABLE sessions (id integer)")
        rooms = rooms_in(blank_postgres, NoNudges())
        with pytest.raises(RoomsUnavailable, match="already exists"):
            await rooms.join(ROOM)

        found = other.execute("SELECT to_regclass('sessions'), to_regclass('rooms')").fetchone()
        assert found == ("sessions", None)
    await rooms.aclose()


def test_every_session_waits_for_the_disk_whatever_the_server_is_set_to(postgres: str) -> None:
    for own, expected in (("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")):
        database = opened(with_options(postgres, options=f"-csynchronous_commit={own}"))

        assert database.read(lambda unit: _shown(unit, "synchronous_commit")) == expected
        database.close()


def _shown(unit: Unit, name: str) -> object:
    return unit.ask(f"SHOW {name}")[0]


def test_the_form_is_the_same_as_everywhere(database: PostgresDatabase) -> None:
    dialect = database.engine.dialect
    found = database.read(lambda unit: migrations.form(unit, dialect))

    assert found == migrations.VERSION


async def test_rooms_that_were_made_before_can_be_beside_others(blank_postgres: str) -> None:
    before = rooms_in(blank_postgres, NoNudges())
    await before.join(ROOM)
    await before.aclose()
    with psycopg.connect(plain(blank_postgres), autocommit=True) as other:
        for column in ("parent_room_id", "focus_key", "focus_number"):
            other.execute(f"ALTER TABLE rooms DROP COLUMN {column}".encode())
        other.execute("UPDATE letagents_form SET number = 4")
    after = rooms_in(blank_postgres, NoNudges())
    opened = await KeptFocusRooms(after).open(ROOM, "An idea")

    assert await after.join(RoomId(f"{ROOM}/focus/an-idea"), create=False) == opened.room
    await after.aclose()
