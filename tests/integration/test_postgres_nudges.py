"""What only a real server can do to nudges that go through it."""

import threading
from collections.abc import Iterator

import anyio
import psycopg
import pytest
from tests.own_postgres import plain

from letagents.adapters.nudges.postgres import OFTEN, SELDOM, PostgresNudges
from letagents.domain.ids import RoomId

ROOM, OTHER = RoomId("workshop"), RoomId("elsewhere")
SOON = 10


@pytest.fixture
def ours(postgres: str) -> Iterator[PostgresNudges]:
    nudges = PostgresNudges(postgres)
    yield nudges
    nudges.close()


@pytest.fixture
def theirs(postgres: str) -> Iterator[PostgresNudges]:
    nudges = PostgresNudges(postgres)
    yield nudges
    nudges.close()


class Ear:
    """What a waiter listens with, and can wait for."""

    def __init__(self) -> None:
        self.rung = anyio.Event()

    def ring(self) -> None:
        self.rung.set()

    async def hears(self) -> None:
        with anyio.fail_after(SOON):
            await self.rung.wait()
        self.rung = anyio.Event()


async def test_a_nudge_is_heard_in_another_process_by_who_listens_to_the_room(
    ours: PostgresNudges, theirs: PostgresNudges
) -> None:
    ear, other = Ear(), Ear()

    with ours.listening(ROOM, ear.ring) as rest, ours.listening(OTHER, other.ring):
        assert rest == OFTEN, "it does not listen yet"
        await ear.hears()
        await other.hears()
        theirs.nudge(ROOM)
        await ear.hears()
        assert not other.rung.is_set()
    with ours.listening(ROOM, ear.ring) as rest:
        assert rest == SELDOM


async def test_who_has_begun_to_listen_looks_again_whatever_was_said_before(
    ours: PostgresNudges,
) -> None:
    ear = Ear()

    with ours.listening(ROOM, ear.ring):
        await ear.hears()


async def test_what_a_process_tells_is_not_heard_by_itself(
    ours: PostgresNudges, theirs: PostgresNudges
) -> None:
    ear, other = Ear(), Ear()

    with ours.listening(ROOM, ear.ring), theirs.listening(ROOM, other.ring):
        await ear.hears()
        await other.hears()
        ours.nudge(ROOM)
        await other.hears()
        await anyio.wait_all_tasks_blocked()
        assert not ear.rung.is_set()
        theirs.nudge(ROOM)
        await ear.hears()


async def test_a_listener_that_was_cut_off_rings_for_all_and_goes_on_listening(
    postgres: str, ours: PostgresNudges, theirs: PostgresNudges
) -> None:
    ear = Ear()
    theirs.nudge(OTHER)

    with ours.listening(ROOM, ear.ring):
        await ear.hears()
        cut_all_off(postgres)
        await ear.hears()
        theirs.nudge(ROOM)
        await ear.hears()


async def test_what_was_not_told_when_the_end_came_is_told_before_it(
    postgres: str, ours: PostgresNudges
) -> None:
    ear = Ear()
    speaking = PostgresNudges(postgres)

    with ours.listening(ROOM, ear.ring):
        await ear.hears()
        speaking.nudge(ROOM)
        await anyio.to_thread.run_sync(speaking.close)
        await ear.hears()


async def test_without_a_server_nothing_is_raised_and_the_end_comes() -> None:
    nudges = PostgresNudges("postgresql+psycopg://nobody@127.0.0.1:1/nowhere")

    with nudges.listening(ROOM, Ear().ring) as rest:
        assert rest == OFTEN
        nudges.nudge(ROOM)
    await anyio.to_thread.run_sync(nudges.close)
    assert not [one for one in threading.enumerate() if one.name == "rooms-nudges"]


def test_a_password_is_not_shown() -> None:
    assert "secret" not in repr(PostgresNudges("postgresql+psycopg://me:secret@127.0.0.1/rooms"))


def cut_all_off(postgres: str) -> None:
    """End the sessions of all others with the server."""
    with psycopg.connect(plain(postgres), autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'letagents'"
        )
