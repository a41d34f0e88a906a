"""Who holds a task when its holder's process works, stops, dies or is replaced: with real ones.

A term is a quarter of an hour here, and nobody waits for it: who wants the task looks at it later,
by a clock that is ahead of the holder's.
"""

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

import attrs
import pytest
from tests.integration.holding_processes import TERM, Holder, claim, holder, rooms_of
from tests.integration.test_processes import posix

from letagents.adapters.processes.locks import ProcessLocks
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.system import SystemClock, SystemIds
from letagents.domain.leases import LeaseHeld
from letagents.domain.tasks import Proposal
from letagents.domain.ticks import Tick
from letagents.testing.contracts.room_callers import BOB, ROOM, arrival

pytestmark = pytest.mark.anyio

AT_ONCE = timedelta(0)
LATER = timedelta(hours=1)
HOUR = timedelta(hours=1)


@attrs.frozen
class OtherClock:
    """The machine's clock as it will be `ahead` of now, its wall clock set wrong by `wrong`."""

    ahead: timedelta
    wrong: timedelta = timedelta(0)
    boot: str | None = None
    of: SystemClock = attrs.field(factory=SystemClock)

    def now(self) -> datetime:
        return self.of.now() + self.ahead + self.wrong

    def tick(self) -> Tick:
        if self.boot is not None:
            return Tick(self.boot, self.ahead.total_seconds())
        tick = self.of.tick()
        return Tick(tick.boot, tick.seconds + self.ahead.total_seconds())


@pytest.fixture
async def home(tmp_path: Path) -> Path:
    """A home with a room that has a task."""
    home = tmp_path / "home"
    async with rooms_later(home, OtherClock(AT_ONCE)) as rooms:
        await rooms.join(ROOM)
        await KeptBoard(rooms).propose(ROOM, Proposal(title="Mend the roof"))
    return home


@asynccontextmanager
async def rooms_later(home: Path, clock: OtherClock) -> AsyncIterator[LocalRooms]:
    processes = ProcessLocks(home / "run", SystemIds())
    rooms = rooms_of(home, processes, clock)
    yield rooms
    await rooms.aclose()
    processes.close()


async def is_held(home: Path, later: timedelta = LATER, **clock: object) -> bool:
    """Try to have the task, so much later; whether it is still somebody else's."""
    async with rooms_later(home, OtherClock(later, **clock)) as rooms:  # type: ignore[arg-type]
        arriving = attrs.evolve(arrival(BOB, 2), token=SystemIds().token(), insists=True)
        bob = await rooms.connect(ROOM, arriving)
        told: str | None = None
        try:
            await claim(rooms, "task_1", bob)
        except LeaseHeld as refused:
            told = refused.happened
        assert told is None or "Worker1" in told
        return told is not None


def at_work(one: Holder) -> Holder:
    """Let a holder claim the task, after which it calls no more."""
    assert one.told("task_1") == "has task_1"
    return one


@pytest.mark.rule("L1", "D20")
async def test_a_holder_that_works_for_an_hour_without_a_word_keeps_its_task(
    home: Path,
) -> None:
    with holder(home) as ada:
        at_work(ada)

        assert await is_held(home)


@posix
@pytest.mark.rule("L1", "D20")
async def test_a_holder_that_is_stopped_for_an_hour_keeps_its_task(home: Path) -> None:
    with holder(home) as ada:
        at_work(ada).signal(signal.SIGSTOP)

        assert await is_held(home)


@pytest.mark.rule("L2", "D21")
async def test_a_holder_that_was_killed_keeps_its_task_for_a_term_and_then_it_is_free(
    home: Path,
) -> None:
    with holder(home) as ada:
        at_work(ada).kill()

        assert await is_held(home, AT_ONCE)
        assert await is_held(home, TERM - timedelta(minutes=1))
        assert not await is_held(home, TERM)


@pytest.mark.rule("L2")
@pytest.mark.parametrize("kind", ["removed", "elsewhere"])
async def test_where_nothing_is_known_of_the_holders_process_its_silence_decides(
    kind: str, home: Path, tmp_path: Path
) -> None:
    with holder(home) as ada:
        at_work(ada)
        if kind == "removed":
            (home / "run" / "processes" / ada.name).unlink()
        else:
            (home / "run" / "processes").rename(tmp_path / "away")

        assert await is_held(home, TERM - timedelta(minutes=1))
        assert not await is_held(home, TERM)


@pytest.mark.rule("L1", "E8")
async def test_a_holder_that_comes_back_after_a_crash_has_its_task_and_keeps_it(
    home: Path,
) -> None:
    with holder(home) as crashed:
        at_work(crashed).kill()
    with holder(home) as back:
        assert back.told("resumed") == "task_1 (work)"
        assert await is_held(home)


@pytest.mark.rule("L1")
async def test_a_holder_keeps_its_task_by_its_newest_process(home: Path) -> None:
    with holder(home) as old, holder(home) as new:
        at_work(new)
        old.kill()
        held = await is_held(home)
        new.kill()

        assert held
        assert not await is_held(home)


@pytest.mark.rule("L1")
async def test_a_process_that_was_replaced_does_not_hold_for_its_successor(home: Path) -> None:
    with holder(home) as old:
        at_work(old)
        with holder(home) as new:
            new.kill()

        assert not await is_held(home)


@pytest.mark.rule("L3")
@pytest.mark.parametrize("wrong", [HOUR, -HOUR])
async def test_a_wall_clock_that_is_set_frees_nothing_and_holds_nothing(
    wrong: timedelta, home: Path
) -> None:
    with holder(home) as ada:
        at_work(ada).kill()

        assert await is_held(home, AT_ONCE, wrong=wrong)
        assert not await is_held(home, TERM, wrong=wrong)


@pytest.mark.rule("L3")
async def test_after_the_machine_started_anew_a_holder_has_a_term_to_come_back(
    home: Path,
) -> None:
    with holder(home) as ada:
        at_work(ada).kill()

        assert await is_held(home, TERM - timedelta(minutes=1), boot="the next")
        assert not await is_held(home, TERM, boot="the next")
