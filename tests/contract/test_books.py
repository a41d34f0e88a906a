"""Every adapter of rooms hands out books that keep what is put down."""

from collections.abc import AsyncIterator
from datetime import timedelta
from enum import Enum
from pathlib import Path

import anyio
import attrs
import pytest
from tests.contract.kept_rooms import place_for

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.book import Book, Keeping, Kind, Where
from letagents.adapters.rooms.kept import doers, doing, dues
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.adapters.system import SystemClock
from letagents.domain.errors import ConnectionReplaced, UnknownRoom
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.messages import After, Latest
from letagents.testing.contracts.room_callers import ADA, ROOM, arrival
from letagents.testing.determinism import CountingIds, ManualClock

pytestmark = pytest.mark.anyio


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@attrs.frozen
class Note:
    number: int
    colour: Colour
    on: str | None = None
    words: tuple[str, ...] = ()


NOTES = Kind(
    name="note",
    of=Note,
    key=lambda one: f"note_{one.number}",
    number=lambda one: one.number,
    state=lambda one: one.colour.value,
    is_open=lambda one: one.colour is Colour.RED,
    about=lambda one: one.on,
)


def numbers(notes: list[Note]) -> list[int]:
    return [one.number for one in notes]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=["memory", "local", "postgres"])
async def rooms(
    request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock
) -> AsyncIterator[MemoryRooms | LocalRooms]:
    if request.param == "memory":
        memory = MemoryRooms(CountingIds(), clock)
        await memory.join(ROOM)
        yield memory
        return
    local = LocalRooms(place_for(request.param, tmp_path), CountingIds(), clock, NoNudges())
    await local.join(ROOM)
    yield local
    await local.aclose()


async def test_what_is_put_down_is_found_by_its_facts(rooms: Keeping) -> None:
    made = [
        Note(1, Colour.RED, "task_1", ("a", "b")),
        Note(2, Colour.BLUE, "task_1"),
        Note(3, Colour.RED),
        Note(4, Colour.RED, "task_2"),
    ]

    def put(book: Book) -> None:
        for one in made:
            assert book.next_number(NOTES) == one.number
            book.put(NOTES, one)

    await rooms.change(ROOM, put)

    async def find(where: Where) -> list[int]:
        return numbers(await rooms.look(ROOM, lambda book: book.find(NOTES, where)))

    assert await rooms.look(ROOM, lambda book: book.find(NOTES)) == made
    assert await rooms.look(ROOM, lambda book: book.get(NOTES, "note_1")) == made[0]
    assert await rooms.look(ROOM, lambda book: book.get(NOTES, "note_9")) is None
    assert await find(Where(state="blue")) == [2]
    assert await find(Where(is_open=True)) == [1, 3, 4]
    assert await find(Where(is_open=False)) == [2]
    assert await find(Where(about="task_1", is_open=True)) == [1]
    assert await find(Where(after=1, before=4)) == [2, 3]
    assert await find(Where(newest_first=True, limit=2)) == [4, 3]
    assert await rooms.look(ROOM, lambda book: book.count(NOTES, Where(is_open=True, limit=1))) == 3


async def test_of_what_has_one_number_the_keys_decide(rooms: Keeping) -> None:
    tied = attrs.evolve(NOTES, name="tied", number=lambda _one: 7)

    def put(book: Book) -> None:
        for number in (10, 2, 9):
            book.put(tied, Note(number, Colour.RED))

    await rooms.change(ROOM, put)

    found = await rooms.look(ROOM, lambda book: book.find(tied))
    newest = await rooms.look(ROOM, lambda book: book.find(tied, Where(newest_first=True, limit=2)))
    assert (numbers(found), numbers(newest)) == ([2, 9, 10], [10, 9])


async def test_what_is_put_again_takes_the_place_of_what_was(rooms: Keeping) -> None:
    await rooms.change(ROOM, lambda book: book.put(NOTES, Note(1, Colour.RED)))
    await rooms.change(ROOM, lambda book: book.put(NOTES, Note(1, Colour.BLUE)))

    assert await rooms.look(ROOM, lambda book: book.find(NOTES)) == [Note(1, Colour.BLUE)]
    assert await rooms.look(ROOM, lambda book: book.count(NOTES, Where(is_open=True))) == 0


async def test_a_change_that_is_refused_keeps_nothing(rooms: Keeping) -> None:
    def refused(book: Book) -> None:
        book.put(NOTES, Note(1, Colour.RED))
        raise UnknownRoom("No.", remedy="None.")

    with pytest.raises(UnknownRoom):
        await rooms.change(ROOM, refused)

    assert await rooms.look(ROOM, lambda book: book.find(NOTES)) == []


async def test_a_room_that_is_not_there_has_no_book(rooms: Keeping) -> None:
    with pytest.raises(UnknownRoom):
        await rooms.look(RoomId("elsewhere"), lambda book: book.now)


async def test_only_the_newest_connection_is_handed_the_book(
    rooms: MemoryRooms | LocalRooms,
) -> None:
    before = await rooms.connect(ROOM, arrival(ADA, 1))
    after = await rooms.connect(ROOM, arrival(ADA, 2, after=before))

    assert await rooms.change(ROOM, lambda book: book.caller, after.fence) == after.session
    with pytest.raises(ConnectionReplaced):
        await rooms.change(ROOM, lambda book: book.caller, before.fence)
    with pytest.raises(ConnectionReplaced):
        await rooms.look(ROOM, lambda book: book.caller, before.fence)


async def test_the_room_says_a_thing_once(rooms: MemoryRooms | LocalRooms) -> None:
    ada = await rooms.connect(ROOM, arrival(ADA, 1))
    by = ada.session.session_id

    def say(book: Book) -> None:
        book.say("task_1 is done", key="task_1:done", session_id=by)
        book.say("task_1 is done", key="task_1:done", session_id=by)

    await rooms.change(ROOM, say)
    await rooms.change(ROOM, say)

    (said,) = (await rooms.read(ROOM, Latest(10))).messages
    assert (said.sender, said.source, said.agent_key, said.session_id) == (
        "letagents",
        "system",
        None,
        by,
    )
    assert await rooms.look(ROOM, lambda book: book.message(1)) == said


async def test_a_book_knows_who_is_there(rooms: MemoryRooms | LocalRooms) -> None:
    ada = await rooms.connect(ROOM, arrival(ADA, 1))
    await rooms.disconnect(ROOM, ada.fence)

    ended = await rooms.look(ROOM, lambda book: book.session(ada.session.session_id))
    assert ended is not None
    assert ended.ended_at is not None
    assert await rooms.look(ROOM, lambda book: book.sessions()) == []
    assert await rooms.look(ROOM, lambda book: book.session(SessionId("nobody"))) is None
    assert await rooms.look(ROOM, lambda book: book.is_alive(None)) is None


@pytest.fixture
def ringing(monkeypatch: pytest.MonkeyPatch) -> None:
    def ring(book: Book, key: str) -> None:
        book.say(f"{key} rings", key=f"ring:{key}:{book.now.timestamp()}")
        if key == "weekly":
            dues.ask(book, "ring", key, book.now + timedelta(days=7))

    monkeypatch.setattr(doers, "DOERS", {"ring": ring})


async def said(rooms: MemoryRooms | LocalRooms) -> list[str]:
    return [one.text for one in (await rooms.read(ROOM, Latest(50))).messages]


@pytest.mark.usefixtures("ringing")
async def test_what_is_due_is_done_once_and_not_before(
    rooms: MemoryRooms | LocalRooms, clock: ManualClock
) -> None:
    at = clock.now() + timedelta(minutes=1)
    await rooms.change(ROOM, lambda book: dues.ask(book, "ring", "one", at))
    await rooms.change(ROOM, lambda book: dues.ask(book, "ring", "two", at))
    await rooms.change(ROOM, lambda book: dues.forget(book, "ring", "two"))

    assert await doing.done(rooms, ROOM) == timedelta(minutes=1)
    assert await said(rooms) == []
    clock.pass_by(timedelta(minutes=2))
    assert await doing.done(rooms, ROOM) is None
    assert await doing.done(rooms, ROOM) is None
    assert await said(rooms) == ["one rings"]


@pytest.mark.usefixtures("ringing")
async def test_what_asks_for_itself_again_stays_due(
    rooms: MemoryRooms | LocalRooms, clock: ManualClock
) -> None:
    await rooms.change(ROOM, lambda book: dues.ask(book, "ring", "weekly", book.now))
    await rooms.change(ROOM, lambda book: dues.ask(book, "of a newer version", "x", book.now))

    assert await doing.done(rooms, ROOM) == timedelta(days=7)
    clock.pass_by(timedelta(days=7))
    assert await doing.done(rooms, ROOM) == timedelta(days=7)
    assert await said(rooms) == ["weekly rings"] * 2


@pytest.mark.usefixtures("ringing")
async def test_who_waits_learns_of_what_is_due(rooms: MemoryRooms | LocalRooms) -> None:
    soon = ManualClock().now()
    await rooms.change(ROOM, lambda book: dues.ask(book, "ring", "now", soon))

    with anyio.fail_after(5):
        page = await rooms.wait(ROOM, After(None, 10), timeout=timedelta(minutes=1))

    assert [one.text for one in page.messages] == ["now rings"]


@pytest.mark.usefixtures("ringing")
async def test_a_wait_that_is_under_way_ends_when_something_falls_due(tmp_path: Path) -> None:
    rooms = LocalRooms(tmp_path / "rooms.db", CountingIds(), SystemClock(), NoNudges())
    await rooms.join(ROOM)
    at = SystemClock().now() + timedelta(milliseconds=300)
    await rooms.change(ROOM, lambda book: dues.ask(book, "ring", "soon", at))

    with anyio.fail_after(5):
        page = await rooms.wait(ROOM, After(None, 10), timeout=timedelta(minutes=1))

    assert [one.text for one in page.messages] == ["soon rings"]
    await rooms.aclose()


async def test_what_is_brought_is_found_as_if_it_were_looked_for_alone(rooms: Keeping) -> None:
    def put(book: Book) -> None:
        book.put(NOTES, Note(1, Colour.RED, "task_1"))
        book.put(NOTES, Note(2, Colour.BLUE, "task_1"))
        book.put(NOTES, Note(3, Colour.RED, "task_2"))

    lookups = [
        Where(about="task_1"),
        Where(about="task_1", newest_first=True, limit=1),
        Where(about="task_9"),
        Where(is_open=True, after=1, before=9),
        Where(state="red", newest_first=True),
    ]

    def look(book: Book) -> list[list[Note]]:
        return [book.find(NOTES, where) for where in lookups]

    def look_with_all_brought(book: Book) -> list[list[Note]]:
        book.bring(*((NOTES, where) for where in lookups))
        book.bring()
        return look(book)

    await rooms.change(ROOM, put)

    found = await rooms.look(ROOM, look)
    assert [numbers(one) for one in found] == [[1, 2], [2], [], [3], [3, 1]]
    assert await rooms.look(ROOM, look_with_all_brought) == found


async def test_what_is_brought_by_name_or_number_is_what_is_there(rooms: Keeping) -> None:
    first = Note(1, Colour.RED, "task_1")

    def put(book: Book) -> None:
        book.put(NOTES, first)
        book.put(NOTES, Note(7, Colour.BLUE, "task_1"))

    def look(book: Book) -> tuple[Note | None, Note | None, int, int]:
        names = [(NOTES, "note_1"), (NOTES, "note_2")]
        book.bring((NOTES, Where(about="task_9")), named=names, numbered=[NOTES, dues.DUES])
        got = book.get(NOTES, "note_1"), book.get(NOTES, "note_2")
        return *got, book.next_number(NOTES), book.next_number(dues.DUES)

    def look_and_put(book: Book) -> tuple[Note | None, int]:
        look(book)
        book.put(NOTES, Note(book.next_number(NOTES), Colour.RED, "task_1"))
        book.put(NOTES, Note(2, Colour.RED, "task_1"))
        return book.get(NOTES, "note_2"), book.next_number(NOTES)

    await rooms.change(ROOM, put)

    assert await rooms.look(ROOM, look) == (first, None, 8, 1)
    assert await rooms.change(ROOM, look_and_put) == (Note(2, Colour.RED, "task_1"), 9)
    assert await rooms.look(ROOM, lambda book: book.next_number(NOTES)) == 9


async def test_what_was_brought_before_something_was_put_is_looked_for_anew(
    rooms: Keeping,
) -> None:
    of_task, newest = Where(about="task_1"), Where(newest_first=True, limit=1)

    def put_between(book: Book) -> tuple[list[Note], list[Note]]:
        book.bring((NOTES, of_task), (NOTES, newest))
        book.put(NOTES, Note(1, Colour.BLUE, "task_2"))
        book.put(NOTES, Note(2, Colour.RED, "task_1"))
        return book.find(NOTES, of_task), book.find(NOTES, newest)

    await rooms.change(ROOM, lambda book: book.put(NOTES, Note(1, Colour.RED, "task_1")))

    of_task_then, newest_then = await rooms.change(ROOM, put_between)
    assert numbers(of_task_then) == numbers(newest_then) == [2]


async def test_a_thing_that_is_known_is_written_with_all_that_changed(rooms: Keeping) -> None:
    def change(book: Book) -> None:
        before = book.get(NOTES, "note_1")
        assert before is not None
        book.put(NOTES, attrs.evolve(before, colour=Colour.BLUE, on="task_2"))
        book.put(NOTES, attrs.evolve(before, on="task_3"))
        book.put(NOTES, attrs.evolve(before, on="task_3", words=("c",)))

    await rooms.change(ROOM, lambda book: book.put(NOTES, Note(1, Colour.RED, "task_1", ("a",))))
    await rooms.change(ROOM, change)

    async def find(where: Where) -> list[int]:
        return numbers(await rooms.look(ROOM, lambda book: book.find(NOTES, where)))

    note = Note(1, Colour.RED, "task_3", ("c",))
    assert await rooms.look(ROOM, lambda book: book.get(NOTES, "note_1")) == note
    assert await find(Where(about="task_3", state="red", is_open=True)) == [1]
    assert await find(Where(about="task_1")) == await find(Where(about="task_2")) == []
    assert await find(Where(state="blue")) == await find(Where(is_open=False)) == []
