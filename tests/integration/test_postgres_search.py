"""What only the index of words in a PostgreSQL can do wrong: being behind, or cut short."""

from collections.abc import AsyncIterator

import anyio
import pytest
from tests.integration.rooms_processes import rooms_at

from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.local_store import LocalStore
from letagents.adapters.sql import postgres_search
from letagents.domain.ids import RoomId
from letagents.domain.search import asked
from letagents.domain.sessions import Connection
from letagents.testing.contracts.room_callers import ADA, ROOM, arrival, draft
from letagents.testing.contracts.room_search import numbers

OTHER = RoomId("elsewhere")


@pytest.fixture
async def rooms(postgres: str) -> AsyncIterator[LocalRooms]:
    rooms = rooms_at(postgres)
    yield rooms
    await rooms.aclose()


@pytest.fixture
async def ada(rooms: LocalRooms) -> Connection:
    await rooms.join(ROOM)
    return await rooms.connect(ROOM, arrival(ADA, 1))


async def say(rooms: LocalRooms, ada: Connection, count: int, *, first: int = 1) -> None:
    async with anyio.create_task_group() as speakers:
        for at in range(first, first + count):
            speakers.start_soon(rooms.post, ROOM, draft(f"lexer {at}"), ada.fence)


@pytest.mark.rule("V3")
async def test_words_in_a_row_are_found_however_far_down_a_long_text_they_stand(
    rooms: LocalRooms, ada: Connection
) -> None:
    many = " ".join(f"w{at}" for at in range(9_000))
    often = "again " * 400
    for text in (f"{often}the last words", f"{many} the last words", f"{many} words the last"):
        await rooms.post(ROOM, draft(text), ada.fence)

    assert numbers(await rooms.search(ROOM, asked('"last words"'))) == [2, 1]
    assert numbers(await rooms.search(ROOM, asked('"again the"'))) == [1]
    assert numbers(await rooms.search(ROOM, asked('"words again"'))) == []


@pytest.mark.rule("V3", "V7")
async def test_pages_are_full_though_much_must_be_read_once_more(
    rooms: LocalRooms, ada: Connection
) -> None:
    filler = "x " * 300
    for at in range(30):
        order = "left right" if at % 10 == 0 else "right left"
        await rooms.post(ROOM, draft(f"{filler}{order} {at}"), ada.fence)

    found = await rooms.search(ROOM, asked('"left right"', limit=2))
    assert (numbers(found), found.more) == ([21, 11], True)
    query = asked('"left right"', limit=2)
    rest = await rooms.search(
        ROOM, asked('"left right"', limit=2, cursor=query.cursor(found.hits[-1].id))
    )
    assert (numbers(rest), rest.more) == ([1], False)


@pytest.mark.rule("V13")
async def test_those_who_search_at_once_fill_the_index_once_while_others_speak(
    postgres: str, rooms: LocalRooms, ada: Connection
) -> None:
    await say(rooms, ada, 450)
    others = [rooms_at(postgres, process=number) for number in (2, 3)]

    async with anyio.create_task_group() as everybody:
        for one in (rooms, *others):
            everybody.start_soon(one.search, ROOM, asked("lexer"))
        await say(rooms, ada, 50, first=451)
    assert numbers(await rooms.search(ROOM, asked("lexer", limit=2))) == [500, 499]
    assert numbers(await others[0].search(ROOM, asked("lexer 1"))) == [1]
    for one in others:
        await one.aclose()


async def test_an_index_that_was_forgotten_is_filled_anew(
    postgres: str, rooms: LocalRooms, ada: Connection
) -> None:
    await say(rooms, ada, 3)
    await rooms.search(ROOM, asked("lexer"))
    store = LocalStore.at(postgres)
    store.write(postgres_search.forget_search)
    store.close()

    assert numbers(await rooms.search(ROOM, asked("lexer"))) == [3, 2, 1]
