"""What only the index of words can do wrong: being behind, old, missing, shared, or mistaken."""

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text as sql
from tests.integration.rooms_processes import rooms_at, run
from tests.postgres_server import emptied

from letagents.adapters.rooms import health, local_search
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.local_store import LocalStore
from letagents.adapters.sql import search_index
from letagents.adapters.sql.database import Database
from letagents.adapters.sql.tables import written
from letagents.domain.errors import Malformed, NotAvailable
from letagents.domain.messages import Latest, Message
from letagents.domain.search import Query, among, asked
from letagents.domain.sessions import Connection
from letagents.testing.contracts.room_callers import ADA, ROOM, arrival, draft
from letagents.testing.contracts.room_search import numbers

_FORM_1 = Path(__file__).with_name("forms") / "sqlite_1.sql"
_MORE = (
    "INSERT INTO messages VALUES (?, ?, NULL, NULL, 'Ada', ?, 'agent', NULL, ?, NULL, NULL, NULL)"
)

ALPHABET = st.sampled_from([*'ab "*-_.:()^+\n', "AND ", "OR ", "NEAR(", "é", "e\u0301", "数", "ー"])
WORDY = st.lists(ALPHABET, min_size=1, max_size=30).map("".join)
MESSY = st.text(min_size=1, max_size=30)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "rooms.db"


@pytest.fixture
def database(place: Path) -> Iterator[Database]:
    database = Database.at(place)
    yield database
    database.close()


@pytest.fixture
async def rooms(database: Database) -> AsyncIterator[LocalRooms]:
    rooms = rooms_at(database)
    yield rooms
    await rooms.aclose()


@pytest.fixture
async def ada(rooms: LocalRooms) -> Connection:
    await rooms.join(ROOM)
    return await rooms.connect(ROOM, arrival(ADA, 1))


async def say(rooms: LocalRooms, ada: Connection, count: int, *, first: int = 1) -> list[Message]:
    """Say many things at once; each is about the lexer."""
    said: list[Message] = []

    async def one(number: int) -> None:
        said.append(await rooms.post(ROOM, draft(f"lexer {number}"), ada.fence))

    async with anyio.create_task_group() as speakers:
        for number in range(first, first + count):
            speakers.start_soon(one, number)
    return said


def indexed(database: Database) -> list[int]:
    """Return the numbers that the index has for the word, in its own order."""
    found = database.read(
        lambda unit: unit.rows(
            sql("SELECT rowid & 2147483647 FROM search_words WHERE search_words MATCH 'lexer'")
        )
    )
    return [number for (number,) in found]


# --- being behind ---------------------------------------------------------------------------------


def said(number: int) -> datetime:
    """Return when a message of that number was said."""
    return datetime(2029, 1, 1, tzinfo=UTC) + number * timedelta(minutes=1)


def of_the_first_form(place: Path, messages: int) -> None:
    """Make a database of the first form, with so many messages after its one, a minute apart."""
    with closing(sqlite3.connect(place)) as old:
        old.executescript(_FORM_1.read_text("utf-8"))
        rows = [(str(ROOM), at, f"lexer {at}", written(said(at))) for at in range(2, messages + 2)]
        old.executemany(_MORE, rows)
        old.execute("UPDATE rooms SET last_number = ?", [messages + 1])
        old.commit()


@pytest.mark.rule("V13")
async def test_a_database_of_the_first_form_is_searched_from_its_first_message(
    place: Path,
) -> None:
    of_the_first_form(place, messages=1_000)
    rooms = rooms_at(place)

    assert numbers(await rooms.search(ROOM, asked("before"))) == [1]
    query, seen = asked("lexer", limit=50), list[int]()
    for _ in range(1_000 // 50):
        found = await rooms.search(ROOM, query)
        seen += numbers(found)
        query = attrs.evolve(query, below=found.hits[-1].id)
    assert seen == list(range(1_001, 1, -1))
    await rooms.aclose()


@pytest.mark.rule("V12")
async def test_a_time_is_found_at_the_edges_of_every_stretch(place: Path) -> None:
    of_the_first_form(place, messages=2 * search_index.SPAN + 5)
    rooms = rooms_at(place)

    for edge in (search_index.SPAN, 2 * search_index.SPAN):
        for first in range(edge - 2, edge + 2):
            for last in range(first, edge + 2):
                for words in ("lexer", None):
                    query = asked(words, since=said(first), until=said(last + 1))
                    expected = list(range(last, first - 1, -1))
                    assert numbers(await rooms.search(ROOM, query)) == expected, (first, last)
    await rooms.aclose()


@pytest.mark.rule("V13")
async def test_a_filling_that_was_broken_off_goes_on_where_it_ended(
    database: Database, rooms: LocalRooms, ada: Connection
) -> None:
    await say(rooms, ada, search_index.BATCH + 1)
    store = LocalStore.at(database)

    assert local_search.add_more(store, ROOM) == search_index.BATCH
    assert len((await rooms.search(ROOM, asked("lexer"))).hits) == 20
    assert local_search.add_more(store, ROOM) == search_index.BATCH + 1
    assert indexed(database) == list(range(1, search_index.BATCH + 2))


async def test_a_room_that_lost_messages_is_searched_for_the_others(
    database: Database, rooms: LocalRooms, ada: Connection
) -> None:
    await say(rooms, ada, 3)
    run(database, "UPDATE rooms SET last_number = 99")

    with anyio.fail_after(5):
        assert numbers(await rooms.search(ROOM, asked("lexer"))) == [3, 2, 1]


async def test_long_messages_fill_a_transaction_sooner(
    database: Database, rooms: LocalRooms, ada: Connection
) -> None:
    for at in range(4):
        await rooms.post(ROOM, draft(f"{at} {'x' * (search_index.ENOUGH // 4)}"), ada.fence)

    assert local_search.add_more(LocalStore.at(database), ROOM) == 4
    for at in range(4, 8):
        await rooms.post(ROOM, draft(f"{at} {'x ' * (search_index.ENOUGH // 7)}"), ada.fence)
    assert local_search.add_more(LocalStore.at(database), ROOM) == 8


@pytest.mark.rule("V13")
async def test_those_who_search_at_once_fill_the_index_once(
    place: Path, database: Database, rooms: LocalRooms, ada: Connection
) -> None:
    await say(rooms, ada, 700)
    others = [rooms_at(place, process=number) for number in (2, 3)]

    async with anyio.create_task_group() as searchers:
        for one in (rooms, rooms, *others):
            searchers.start_soon(one.search, ROOM, asked("lexer"))
    assert indexed(database) == list(range(1, 701))
    for one in others:
        await one.aclose()


@pytest.mark.rule("V7", "V13")
async def test_what_is_said_while_the_index_is_filled_is_found_later(
    database: Database, rooms: LocalRooms, ada: Connection
) -> None:
    await say(rooms, ada, 600)
    async with anyio.create_task_group() as everybody:
        everybody.start_soon(rooms.search, ROOM, asked("lexer"))
        await say(rooms, ada, 50, first=601)

    assert numbers(await rooms.search(ROOM, asked("lexer", limit=2))) == [650, 649]
    assert indexed(database) == list(range(1, 651))


async def test_an_index_that_was_forgotten_is_made_anew(
    database: Database, rooms: LocalRooms, ada: Connection
) -> None:
    await say(rooms, ada, 3)
    await rooms.search(ROOM, asked("lexer"))
    database.write(search_index.forget_search)

    assert numbers(await rooms.search(ROOM, asked("lexer"))) == [3, 2, 1]
    assert indexed(database) == [1, 2, 3]


async def test_a_database_that_was_packed_finds_the_same_and_is_sound(
    place: Path, database: Database, rooms: LocalRooms, ada: Connection
) -> None:
    await say(rooms, ada, 3)
    await rooms.search(ROOM, asked("lexer"))
    with closing(sqlite3.connect(place)) as other:
        other.execute("VACUUM")

    assert numbers(await rooms.search(ROOM, asked("lexer"))) == [3, 2, 1]
    assert not [finding for finding in health.examine(str(place)) if finding.is_problem]


# --- without FTS5 ---------------------------------------------------------------------------------


@pytest.mark.rule("V15")
async def test_a_sqlite_without_full_text_search_says_so_and_does_the_rest(
    rooms: LocalRooms, ada: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_index, "MODULE", "fts99")
    await say(rooms, ada, 1)

    with pytest.raises(NotAvailable, match=r"SQLite 3\.\d+\.\d+ was built without FTS99"):
        await rooms.search(ROOM, asked("lexer"))
    assert len((await rooms.read(ROOM, Latest())).messages) == 1


@pytest.mark.rule("V15")
async def test_what_has_an_index_works_without_full_text_search(
    place: Path,
    database: Database,
    rooms: LocalRooms,
    ada: Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await say(rooms, ada, 2)
    await rooms.search(ROOM, asked("lexer"))
    monkeypatch.setattr(search_index, "MODULE", "fts99")

    with pytest.raises(NotAvailable):
        await rooms.search(ROOM, asked("lexer"))
    await say(rooms, ada, 1, first=3)
    monkeypatch.undo()
    assert numbers(await rooms.search(ROOM, asked("lexer"))) == [3, 2, 1]


def test_the_doctor_tells_of_a_sqlite_without_full_text_search(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not any(one.about == "search" for one in health.examine(str(place)))
    monkeypatch.setattr(search_index, "MODULE", "fts99")

    [finding] = [one for one in health.examine(str(place)) if one.about == "search"]
    assert "FTS99" in finding.said
    assert finding.is_problem


# --- the same as without an index -----------------------------------------------------------------


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    texts=st.lists(WORDY | MESSY, min_size=1, max_size=8),
    asked_for=st.lists(WORDY | MESSY, min_size=1, max_size=6),
)
def test_the_index_finds_what_a_look_at_every_message_finds(
    tmp_path: Path, texts: list[str], asked_for: list[str]
) -> None:
    queries = [query for one in [*asked_for, *texts] if (query := _query(one)) is not None]
    for file in tmp_path.glob("compared.db*"):
        file.unlink()
    anyio.run(_compare, tmp_path / "compared.db", texts, queries)


@settings(max_examples=40, deadline=None)
@given(
    texts=st.lists(WORDY | MESSY, min_size=1, max_size=8),
    asked_for=st.lists(WORDY | MESSY, min_size=1, max_size=6),
)
def test_the_index_of_a_server_finds_the_same(texts: list[str], asked_for: list[str]) -> None:
    queries = [query for one in [*asked_for, *texts] if (query := _query(one)) is not None]
    anyio.run(_compare, emptied(), texts, queries)


def _query(text: str) -> Query | None:
    try:
        return asked(text, limit=50)
    except Malformed:
        return None


async def _compare(place: Path | str, texts: list[str], queries: list[Query]) -> None:
    rooms = rooms_at(place)
    await rooms.join(ROOM)
    ada = await rooms.connect(ROOM, arrival(ADA, 1))
    for text in texts:
        try:
            await rooms.post(ROOM, draft(text), ada.fence)
        except Malformed:
            continue
    said = (await rooms.read(ROOM, Latest())).messages
    for query in queries:
        assert await rooms.search(ROOM, query) == among(reversed(said), query), query
    await rooms.aclose()
