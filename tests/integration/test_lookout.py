"""When those who wait look by themselves: once for all of them, and not for nothing."""

from collections.abc import AsyncIterator, Collection
from contextlib import AbstractContextManager

import anyio
import attrs
import pytest

from letagents.adapters.rooms.bells import Bell
from letagents.adapters.rooms.lookout import Ask, Lookout
from letagents.domain.errors import RoomsUnavailable
from letagents.domain.ids import RoomId

SOON = 5
ROOM, OTHER = RoomId("workshop"), RoomId("harbour")


@attrs.define(eq=False)
class Waiter(Bell):
    """A bell that counts how often its waiter is let look."""

    looks: int = 0

    def let_look(self) -> None:
        self.looks += 1


@attrs.define(eq=False)
class House:
    """A database as its lookout sees it; its thread that writes does at once what it is given."""

    beat: int | None = 1
    others: object = "none yet"
    marks: dict[RoomId, object] | None = attrs.field(factory=dict)
    asked: int = 0
    lookout: Lookout = attrs.field(init=False)
    _moved: anyio.Event = attrs.field(factory=anyio.Event)

    def __attrs_post_init__(self) -> None:
        self.lookout = Lookout(
            lambda: self.beat, lambda: self.others, self._do, self._marked, self._do
        )

    def _do(self, ask: Ask) -> None:
        ask()
        self.asked += 1
        self._moved.set()
        self._moved = anyio.Event()

    def _marked(self, room_ids: Collection[RoomId]) -> dict[RoomId, object]:
        if self.marks is None:
            raise RoomsUnavailable("It is away.", remedy="Call again.")
        return {room_id: self.marks.get(room_id) for room_id in room_ids}

    async def turns(self, times: int = 2) -> None:
        """Wait until so many more times the marks were asked for; the first may be under way."""
        with anyio.fail_after(SOON):
            for _ in range(times):
                before = self.asked
                while self.asked == before:
                    await self._moved.wait()

    async def commits(self, *, by: object) -> None:
        """Let something be committed, and wait until it was asked who did it."""
        before = self.asked
        self.beat, self.others = (self.beat or 0) + 1, by
        with anyio.fail_after(SOON):
            while self.asked == before:
                await self._moved.wait()


def watching(house: House, waiter: Waiter, room_id: RoomId = ROOM) -> AbstractContextManager[None]:
    return house.lookout.watching(room_id, waiter, 0.001)


@pytest.fixture
async def house() -> AsyncIterator[House]:
    house = House()
    yield house
    assert house.lookout._shifts == {}, "nothing goes on when nobody waits"


async def test_what_another_process_commits_makes_all_look_once(house: House) -> None:
    one, other = Waiter(), Waiter()

    with watching(house, one), watching(house, other):
        await house.commits(by="a rival")
        await house.commits(by="another rival")

    assert (one.looks, other.looks, house.asked) == (2, 2, 2)


async def test_what_this_process_commits_itself_makes_nobody_look(house: House) -> None:
    one = Waiter()

    with watching(house, one):
        await house.commits(by="a rival")
        for _ in range(5):
            await house.commits(by="a rival")

    assert one.looks == 1


async def test_where_it_cannot_be_told_who_commits_all_look(house: House) -> None:
    one = Waiter()

    with watching(house, one):
        await house.commits(by=None)
        await house.commits(by=None)

    assert one.looks == 2


async def test_without_a_beat_those_look_whose_room_has_another_mark(house: House) -> None:
    one, other = Waiter(), Waiter()
    house.beat, house.marks = None, {ROOM: 1, OTHER: 1}
    with watching(house, Waiter()), watching(house, Waiter(), OTHER):
        pass  # so that both marks are known

    with watching(house, one), watching(house, other, OTHER):
        await house.turns()
        house.marks = {ROOM: 2, OTHER: 1}
        await house.turns(3)

    assert (one.looks, other.looks) == (1, 0)


async def test_who_waits_in_a_room_whose_mark_was_not_known_looks_once_more(house: House) -> None:
    one = Waiter()
    house.beat = None

    with watching(house, one):
        await house.turns(4)

    assert one.looks == 1


async def test_a_change_between_two_waits_is_found_by_the_second(house: House) -> None:
    one = Waiter()
    house.beat, house.marks = None, {ROOM: 1}
    with watching(house, Waiter()):
        pass
    house.marks = {ROOM: 2}

    with watching(house, one):
        await house.turns(4)

    assert one.looks == 1, "though it may have seen it at its own first look"


async def test_where_the_marks_cannot_be_told_all_look_and_are_told_why(house: House) -> None:
    one = Waiter()
    house.beat, house.marks = None, None

    with watching(house, one):
        await house.turns(4)

    assert one.looks >= 2
