"""The real clock and the real dice, and those that count in tests."""

import re
import subprocess
import sys
import uuid
from datetime import UTC, datetime, timedelta

import pytest

from letagents.adapters.system import SystemClock, SystemIds
from letagents.domain.ids import WorkerId
from letagents.domain.ticks import elapsed
from letagents.ports.clock import Clock
from letagents.ports.ids import Ids
from letagents.testing.determinism import CountingIds, ManualClock

MANY = 1000


@pytest.mark.rule("Y1")
@pytest.mark.parametrize("clock", [SystemClock(), ManualClock()], ids=["system", "manual"])
def test_a_moment_is_in_utc_to_the_millisecond(clock: Clock) -> None:
    now = clock.now()

    assert now.tzinfo is UTC
    assert now.microsecond % 1000 == 0


def test_a_manual_clock_moves_when_it_is_told() -> None:
    clock = ManualClock()
    before = clock.now()
    clock.pass_by(timedelta(minutes=5))

    assert before == clock.now() - timedelta(minutes=5) == datetime(2030, 1, 1, tzinfo=UTC)


@pytest.mark.rule("Y4")
def test_a_tick_is_the_same_for_every_process_and_no_wall_clock_moves_it() -> None:
    ask = "from letagents.adapters.system import SystemClock as C; t = C().tick()"
    before = SystemClock().tick()
    told = subprocess.run(
        [sys.executable, "-c", f"{ask}; print(t.boot, t.seconds)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.rsplit(maxsplit=1)
    after = SystemClock().tick()

    assert before.boot == told[0] == after.boot
    assert before.seconds <= float(told[1]) <= after.seconds
    manual = ManualClock()
    stood = manual.tick()
    manual.set_to(manual.now() - timedelta(hours=1))
    assert elapsed(stood, manual.tick()) == timedelta(0)
    manual.pass_by(timedelta(minutes=3))
    assert elapsed(stood, manual.tick()) == timedelta(minutes=3)
    manual.boot_again()
    assert manual.tick().boot != stood.boot


@pytest.mark.rule("Y2")
@pytest.mark.parametrize("ids", [SystemIds(), CountingIds()], ids=["system", "counting"])
def test_no_name_is_made_twice_and_each_is_well_formed(ids: Ids) -> None:
    for make in (ids.token, ids.worker_id, ids.uuid, ids.client_key, ids.invite_code):
        assert len({make() for _ in range(MANY)}) == MANY

    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", ids.token().value)
    assert WorkerId.fits(str(ids.worker_id()))
    assert uuid.UUID(ids.uuid()).version == 4
    assert re.fullmatch(r"[A-Z0-9]{4}-[A-Z0-9]{4}-[A-Z0-9]{4}", ids.invite_code())


@pytest.mark.rule("Y3")
def test_secrets_differ_everywhere_from_each_other() -> None:
    ids = SystemIds()
    made: list[list[str]] = [
        [ids.token().value for _ in range(MANY)],
        [ids.client_key().value for _ in range(MANY)],
        [ids.invite_code() for _ in range(MANY)],
    ]
    for texts in made:
        columns = list(zip(*texts, strict=True))
        free = [column for column in columns[:-1] if set(column) != {"-"}]

        assert all(len(set(column)) >= 36 for column in free)


def test_names_that_count_are_the_same_each_time() -> None:
    one, other, apart = CountingIds(), CountingIds(), CountingIds(first=1000)

    assert [one.token(), one.uuid(), one.worker_id()] == [
        other.token(),
        other.uuid(),
        other.worker_id(),
    ]
    assert apart.worker_id() != CountingIds().worker_id()
