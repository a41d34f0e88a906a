"""The time that all who keep their rooms in one server have in common."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from letagents.adapters.sql.server_clock import BOOT, ServerClock
from letagents.domain.ids import RoomId
from letagents.domain.messages import Latest
from letagents.domain.ticks import elapsed
from letagents.settings import Settings
from letagents.testing.contracts.room_callers import ADA, arrival, draft
from letagents.testing.determinism import ManualClock
from letagents.wiring.client import open_letagents

LATER = datetime(2040, 5, 17, 12, tzinfo=UTC)


def test_before_the_server_was_asked_this_machine_tells_the_time() -> None:
    here = ManualClock()
    clock = ServerClock(here)

    assert (clock.now(), clock.tick()) == (here.now(), here.tick())


def test_two_machines_of_which_each_has_its_own_time_agree() -> None:
    one, other = ManualClock(), ManualClock()
    one.pass_by(timedelta(days=100))
    other.boot_again()
    clocks = [ServerClock(one), ServerClock(other)]
    for clock in clocks:
        clock.set_to(LATER.timestamp())
    since = clocks[0].tick()
    for here in (one, other):
        here.pass_by(timedelta(minutes=3))
    one.set_to(datetime(1999, 1, 1, tzinfo=UTC))

    assert {clock.now() for clock in clocks} == {LATER + timedelta(minutes=3)}
    assert {clock.tick().boot for clock in clocks} == {BOOT}
    assert elapsed(since, clocks[1].tick()) == timedelta(minutes=3)


async def test_rooms_on_a_server_have_its_time(postgres: str, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, rooms_db=postgres)
    room_id = RoomId("workshop")
    async with open_letagents(settings, clock=ManualClock()) as letagents:
        await letagents.rooms.join(room_id)
        ada = await letagents.rooms.connect(room_id, arrival(ADA, 1))
        await letagents.rooms.post(room_id, draft("hello"), ada.fence)
        [said] = (await letagents.rooms.read(room_id, Latest())).messages

    assert ada.session.seen is not None
    assert ada.session.seen.boot == BOOT
    assert said.said_at < ManualClock().now(), "the time of the machine would be that"
