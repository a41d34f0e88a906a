"""When those who wait look by themselves: once for all of them, and not for nothing."""

from collections.abc import AsyncIterator

import anyio
import attrs
import pytest

from letagents.adapters.rooms.bells import Bell
from letagents.adapters.rooms.lookout import Ask, Lookout

SOON = 5


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
    asked: int = 0
    lookout: Lookout = attrs.field(init=False)
    _moved: anyio.Event = attrs.field(factory=anyio.Event)

    def __attrs_post_init__(self) -> None:
        self.lookout = Lookout(lambda: self.beat, lambda: self.others, self._do)

    def _do(self, ask: Ask) -> None:
        ask()
        self.asked += 1
        self._moved.set()
        self._moved = anyio.Event()

    async def commits(self, *, by: object) -> None:
        """Let something be committed, and wait until it was asked who did it."""
        before = self.asked
        self.beat, self.others = (self.beat or 0) + 1, by
        with anyio.fail_after(SOON):
            while self.asked == before:
                await self._moved.wait()


@pytest.fixture
async def house() -> AsyncIterator[House]:
    house = House()
    yield house
    assert house.lookout._shifts == {}, "nothing goes on when nobody waits"


async def test_what_another_process_commits_makes_all_look_once(house: House) -> None:
    one, other = Waiter(), Waiter()

    with house.lookout.watching(one, 0.001), house.lookout.watching(other, 0.001):
        await house.commits(by="a rival")
        await house.commits(by="another rival")

    assert (one.looks, other.looks, house.asked) == (2, 2, 2)


async def test_what_this_process_commits_itself_makes_nobody_look(house: House) -> None:
    one = Waiter()

    with house.lookout.watching(one, 0.001):
        await house.commits(by="a rival")
        for _ in range(5):
            await house.commits(by="a rival")

    assert one.looks == 1


async def test_where_it_cannot_be_told_who_commits_all_look(house: House) -> None:
    one = Waiter()

    with house.lookout.watching(one, 0.001):
        await house.commits(by=None)
        await house.commits(by=None)

    assert one.looks == 2
