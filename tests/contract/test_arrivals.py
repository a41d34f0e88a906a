"""Who comes into rooms through a server has the name that it may have.

(Source of the cases: hosted-api section 8, 2 to 9 and 20 to 37.)
"""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import anyio
import attrs
import pytest
from tests.contract.kept_rooms import place_for

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.kept.attendance import KeptAttendance
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain import codenames
from letagents.domain.errors import ConnectionLost, RegistrationConflict
from letagents.domain.sessions import Arrival, Connection
from letagents.testing.contracts.attendance import HERE, THERE, coming
from letagents.testing.contracts.room_callers import ROOM, draft, passing_chat
from letagents.testing.determinism import CountingIds, ManualClock

pytestmark = pytest.mark.anyio

Rooms = MemoryRooms | LocalRooms

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
MOSS = "MossDawn"


@attrs.define
class Patience:
    """Lets the time of the test go by while somebody waits."""

    clock: ManualClock
    waited: list[float] = attrs.field(factory=list)

    async def __call__(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.clock.pass_by(timedelta(seconds=seconds))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def patience(clock: ManualClock) -> Patience:
    return Patience(clock)


@pytest.fixture(params=["memory", "local", "postgres"])
async def rooms(
    request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock, patience: Patience
) -> AsyncIterator[Rooms]:
    if request.param == "memory":
        memory = MemoryRooms(CountingIds(), clock, pause=patience)
        await memory.join(ROOM)
        yield memory
        return
    place = place_for(request.param, tmp_path)
    local = LocalRooms(place, CountingIds(), clock, NoNudges(), pause=patience)
    await local.join(ROOM)
    yield local
    await local.aclose()


@pytest.fixture
def attendance(rooms: Rooms) -> KeptAttendance:
    return KeptAttendance(rooms, CountingIds(first=9000))


def worker(number: int, *, name: str = MOSS, host: str = HERE, account: str = "a") -> Arrival:
    """Return how a worker with a lasting handle comes for the first time."""
    return attrs.evolve(coming(number, number, host=host, name=name), account=account)


def again(came: Connection, number: int, token: int, *, name: str = MOSS) -> Arrival:
    """Return how a worker comes back."""
    return attrs.evolve(coming(number, token, after=came, name=name), account="a")


def chat(token: int, instance: str, *, name: str = MOSS, key: str = "guest/chat") -> Arrival:
    """Return how a process without a lasting handle comes; they are all one agent."""
    return attrs.evolve(
        passing_chat(token, name=name),
        agent_key=key,
        instance_id=instance,
        account="a",
        process_host=HERE,
    )


async def left(attendance: KeptAttendance, connection: Connection) -> None:
    """Let the process of a session close its connection."""
    async with attendance.attend(ROOM, connection.fence):
        pass


async def exited(attendance: KeptAttendance, connection: Connection) -> None:
    """Let the process of a session say that it exits."""
    async with attendance.attend(ROOM, connection.fence) as attended:
        assert await attendance.exited(ROOM, connection.fence, attended.connection_id)


async def come(rooms: Rooms, arrival: Arrival) -> str:
    """Return the name under which somebody comes."""
    return (await rooms.connect(ROOM, arrival)).session.display_name


@pytest.mark.rule("E35")
async def test_who_cannot_have_a_name_gets_the_codename_of_its_key(rooms: Rooms) -> None:
    await come(rooms, worker(1))
    second, third = worker(2, name="moss dawn"), worker(3, name="mossdawn")

    expected = codenames.replacement_name(second.agent_key, {"mossdawn"})
    assert await come(rooms, second) == expected
    assert await come(rooms, third) not in (MOSS, expected)


@pytest.mark.rule("E32")
async def test_who_asks_for_a_name_of_programs_gets_a_codename(rooms: Rooms) -> None:
    asked = worker(1, name="Claude Agent")

    given = await rooms.connect(ROOM, asked)
    assert given.session.display_name == codenames.codename(asked.agent_key).display_name
    assert given.session.base_name == given.session.display_name


@pytest.mark.rule("E36")
async def test_the_end_of_anothers_key_is_not_given(rooms: Rooms) -> None:
    await come(rooms, chat(1, "one", name="Elsewhere", key="guest/moss-dawn"))

    assert await come(rooms, worker(2, name="Moss-Dawn")) != "Moss-Dawn"


@pytest.mark.rule("E33")
async def test_the_next_process_of_an_agent_has_its_name_again_and_again(
    rooms: Rooms, attendance: KeptAttendance, clock: ManualClock
) -> None:
    for count in range(4):
        came = await rooms.connect(ROOM, chat(10 + count, f"process-{count}"))
        assert came.session.display_name == MOSS
        await left(attendance, came)
        clock.pass_by(20 * SECOND)

    live = await rooms.look(ROOM, lambda book: book.sessions())
    assert [one.session_id for one in live] == [came.session.session_id]


@pytest.mark.rule("E33")
async def test_a_name_passes_at_once_where_its_process_said_that_it_exits(
    rooms: Rooms, attendance: KeptAttendance, clock: ManualClock
) -> None:
    first = await rooms.connect(ROOM, chat(1, "one"))
    await exited(attendance, first)
    clock.pass_by(SECOND)
    second = await rooms.connect(ROOM, worker(2, host=THERE))

    assert second.session.display_name == MOSS
    assert second.displaced == (first.session.session_id,)
    with pytest.raises(ConnectionLost):
        await rooms.post(ROOM, draft("still here"), first.fence)


@pytest.mark.rule("E33")
async def test_a_name_stays_with_who_shows_life(
    rooms: Rooms, attendance: KeptAttendance, clock: ManualClock
) -> None:
    first = await rooms.connect(ROOM, worker(1))
    await left(attendance, first)
    clock.pass_by(20 * SECOND)
    assert await come(rooms, worker(2, host=THERE)) != MOSS
    await rooms.post(ROOM, draft("here"), first.fence)
    await rooms.change(ROOM, lambda _book: None)  # what the call was a sign of is written by now

    assert await come(rooms, worker(3)) != MOSS
    await rooms.post(ROOM, draft("still here"), first.fence)


@pytest.mark.rule("E21", "E33")
async def test_who_calls_after_it_said_that_it_exits_has_not_exited(
    rooms: Rooms, attendance: KeptAttendance, clock: ManualClock
) -> None:
    first = await rooms.connect(ROOM, worker(1))
    await exited(attendance, first)
    clock.pass_by(SECOND)
    await rooms.post(ROOM, draft("here"), first.fence)
    await rooms.change(ROOM, lambda _book: None)  # what the call was a sign of is written by now

    assert await come(rooms, worker(2)) != MOSS


@pytest.mark.rule("E33")
async def test_a_name_never_passes_to_another_account_or_from_who_is_supervised(
    rooms: Rooms, attendance: KeptAttendance, clock: ManualClock
) -> None:
    supervised = await rooms.connect(ROOM, chat(1, "daemon:one", name="Bob"))
    for one in (await rooms.connect(ROOM, worker(2)), supervised):
        await exited(attendance, one)
    clock.pass_by(60 * MINUTE)

    assert await come(rooms, worker(3, account="another's")) != MOSS
    assert await come(rooms, worker(4, name="Bob")) != "Bob"
    await rooms.post(ROOM, draft("I am back"), supervised.fence)


@pytest.mark.rule("E33")
async def test_who_disconnected_keeps_its_name_for_ten_minutes(
    rooms: Rooms, attendance: KeptAttendance, clock: ManualClock
) -> None:
    first = await rooms.connect(ROOM, worker(1))
    async with attendance.attend(ROOM, first.fence):
        await rooms.disconnect(ROOM, first.fence)
        attendance.ended(ROOM, [first.session.session_id])
    clock.pass_by(9 * MINUTE)
    assert await come(rooms, worker(2)) != MOSS
    clock.pass_by(MINUTE)

    assert await come(rooms, worker(3)) == MOSS


@pytest.mark.rule("E34")
async def test_who_lost_its_name_has_it_again_once_its_new_bearer_is_gone(
    rooms: Rooms, attendance: KeptAttendance, clock: ManualClock
) -> None:
    first = await rooms.connect(ROOM, worker(1))
    await exited(attendance, first)
    taker = await rooms.connect(ROOM, worker(2))
    assert taker.session.display_name == MOSS

    back = await rooms.connect(ROOM, again(first, 1, 11))
    assert back.session.display_name != MOSS
    assert back.session.session_id == first.session.session_id
    assert back.session.base_name == MOSS
    await exited(attendance, taker)
    home = await rooms.connect(ROOM, again(back, 1, 12, name="Anything"))
    assert home.session.display_name == MOSS
    assert home.displaced == (taker.session.session_id,)


@pytest.mark.rule("E34")
async def test_who_was_given_another_name_keeps_it_while_its_own_is_borne(
    rooms: Rooms, attendance: KeptAttendance
) -> None:
    await come(rooms, worker(1))
    second = await rooms.connect(ROOM, chat(2, "two"))
    given = second.session.display_name
    assert given != MOSS

    back = await rooms.connect(ROOM, again_as_chat(second, 3))
    assert (back.session.display_name, back.session.session_id) == (
        given,
        second.session.session_id,
    )


def again_as_chat(came: Connection, token: int) -> Arrival:
    """Return how the process of a session comes back with proof."""
    proof = again(came, 1, 1).predecessor
    return attrs.evolve(chat(token, came.session.instance_id), predecessor=proof)


@pytest.mark.rule("E34")
async def test_a_process_has_its_own_name_once_the_bearer_is_gone(
    rooms: Rooms, attendance: KeptAttendance
) -> None:
    first = await rooms.connect(ROOM, worker(1))
    second = await rooms.connect(ROOM, chat(2, "two"))
    await exited(attendance, first)

    back = await rooms.connect(ROOM, again_as_chat(second, 3))
    assert back.session.display_name == MOSS
    assert back.session.session_id == second.session.session_id


@pytest.mark.rule("E34")
async def test_who_comes_back_keeps_the_name_that_it_was_given_whoever_left_its_own(
    rooms: Rooms,
) -> None:
    came = await rooms.connect(ROOM, worker(1))
    for token in range(11, 14):
        came = await rooms.connect(ROOM, again(came, 1, token, name="Something else"))
        await rooms.post(ROOM, draft(f"life {token}"), came.fence)
        assert came.session.display_name == MOSS
    assert came.fence.generation == 4


@pytest.mark.rule("E33")
async def test_what_was_known_of_an_earlier_process_says_nothing_of_the_next(
    rooms: Rooms, attendance: KeptAttendance, clock: ManualClock
) -> None:
    first = await rooms.connect(ROOM, worker(1))
    await exited(attendance, first)
    await rooms.connect(ROOM, again(first, 1, 11))
    clock.pass_by(30 * SECOND)

    assert await come(rooms, worker(2)) != MOSS


@pytest.mark.rule("E33")
async def test_who_comes_while_its_name_comes_free_waits_for_it(
    rooms: Rooms, attendance: KeptAttendance, clock: ManualClock, patience: Patience
) -> None:
    first = await rooms.connect(ROOM, worker(1))
    await left(attendance, first)
    clock.pass_by(13 * SECOND)

    assert await come(rooms, worker(2, host=THERE)) != MOSS
    assert patience.waited == []
    assert await come(rooms, worker(3)) == MOSS
    assert patience.waited == [pytest.approx(2, abs=0.1)]


@pytest.mark.rule("E33")
async def test_nobody_waits_for_longer_than_is_bearable(
    rooms: Rooms, attendance: KeptAttendance, patience: Patience
) -> None:
    first = await rooms.connect(ROOM, worker(1))
    await left(attendance, first)

    async def comes_back(seconds: float) -> None:
        patience.waited.append(seconds)
        await left(attendance, first)

    rooms._pause = comes_back
    assert await come(rooms, worker(3)) != MOSS
    assert sum(patience.waited) < 40


@pytest.mark.rule("E33")
async def test_of_five_that_race_for_a_name_one_has_it(
    rooms: Rooms, attendance: KeptAttendance
) -> None:
    await exited(attendance, await rooms.connect(ROOM, worker(1)))
    given: list[str] = []

    async def race(number: int) -> None:
        given.append(await come(rooms, worker(number)))

    async with anyio.create_task_group() as tasks:
        for number in range(2, 7):
            tasks.start_soon(race, number)

    assert given.count(MOSS) == 1
    assert len(set(given)) == 5


@pytest.mark.rule("E31")
async def test_a_process_that_is_there_is_not_pushed_out_by_its_double(
    rooms: Rooms, clock: ManualClock
) -> None:
    double = attrs.evolve(chat(2, "one"), makes_its_secret=False)
    first = await rooms.connect(ROOM, chat(1, "one"))
    with pytest.raises(RegistrationConflict):
        await rooms.connect(ROOM, double)
    clock.pass_by(100 * SECOND)

    second = await rooms.connect(ROOM, double)
    assert second.session.session_id == first.session.session_id
    with pytest.raises(ConnectionLost):
        await rooms.post(ROOM, draft("hello"), first.fence)


@pytest.mark.rule("E30")
async def test_a_worker_id_that_another_account_knows_is_worth_nothing_to_it(rooms: Rooms) -> None:
    first = await rooms.connect(ROOM, worker(1))
    thief = attrs.evolve(worker(1, account="another's"), token=worker(9).token, insists=True)

    with pytest.raises(RegistrationConflict):
        await rooms.connect(ROOM, thief)
    await rooms.post(ROOM, draft("still mine"), first.fence)
