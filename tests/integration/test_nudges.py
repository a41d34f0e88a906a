"""What only real sockets and folders can do to nudges."""

import asyncio
import contextlib
import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from letagents.adapters.nudges.datagram import OFTEN, SELDOM, DatagramNudges
from letagents.domain.ids import RoomId
from letagents.testing.determinism import CountingIds

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no sockets in folders there")

ROOM = RoomId("workshop")
SOON = 5


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose path leaves room for sockets, with a place for stand-ins in it."""
    with tempfile.TemporaryDirectory(prefix="n-") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


def nudges(run_dir: Path, process: int = 1) -> DatagramNudges:
    return DatagramNudges(run_dir, CountingIds(first=process))


def sockets(run_dir: Path) -> list[Path]:
    return [path for path in run_dir.rglob("*") if path.is_socket()]


async def rest_until_heard(waiting: DatagramNudges, sending: DatagramNudges) -> float:
    rung = anyio.Event()
    with waiting.listening(ROOM, rung.set) as rest:
        sending.nudge(ROOM)
        with anyio.fail_after(SOON):
            await rung.wait()
    return rest


async def test_a_nudge_is_heard_in_another_process_and_nothing_is_left(place: Path) -> None:
    assert await rest_until_heard(nudges(place, 1), nudges(place, 2)) == SELDOM
    assert sockets(place) == []


async def test_every_waiter_of_the_room_hears_and_no_other(place: Path) -> None:
    ours, theirs = nudges(place, 1), nudges(place, 2)
    heard: list[str] = []
    last = anyio.Event()

    with (
        ours.listening(RoomId("elsewhere"), lambda: heard.append("elsewhere")),
        ours.listening(ROOM, lambda: heard.append("first")),
        theirs.listening(ROOM, last.set),
    ):
        theirs.nudge(ROOM)
        with anyio.fail_after(SOON):
            await last.wait()
        await asyncio.sleep(0)

    assert heard == ["first"]


def test_a_nudge_in_an_empty_house_does_nothing(place: Path) -> None:
    nudges(place / "never made").nudge(ROOM)

    assert list(place.iterdir()) == []


async def test_the_socket_of_a_dead_process_is_taken_away(place: Path) -> None:
    living, sending = nudges(place, 1), nudges(place, 2)
    rung = anyio.Event()
    with living.listening(ROOM, rung.set):
        (alive,) = sockets(place)
        dead = alive.with_name("dead")
        left_over = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        left_over.bind(str(dead))
        left_over.close()

        sending.nudge(ROOM)
        with anyio.fail_after(SOON):
            await rung.wait()

        assert sockets(place) == [alive]


async def test_a_waiter_that_is_nudged_too_often_is_not_waited_for(place: Path) -> None:
    waiting, sending = nudges(place, 1), nudges(place, 2)
    rung = anyio.Event()
    with waiting.listening(ROOM, rung.set):
        for _ in range(2_000):
            sending.nudge(ROOM)
        with anyio.fail_after(SOON):
            await rung.wait()


@pytest.mark.parametrize("deep", [60, 120, 180])
async def test_a_long_path_is_no_hindrance(place: Path, deep: int) -> None:
    run_dir = place / ("d" * deep)

    assert await rest_until_heard(nudges(run_dir, 1), nudges(run_dir, 2)) == SELDOM
    assert nudges(run_dir).fault() is None


async def test_a_stand_in_that_is_somebody_elses_is_not_used(
    place: Path,
) -> None:
    waiting = nudges(place / ("d" * 120))
    with waiting.listening(ROOM, lambda: None):
        (stand_in,) = place.glob("letagents-*")
        assert stand_in.stat().st_mode & 0o777 == 0o700
    assert not stand_in.exists(), "nobody listens in it any more"

    stand_in.mkdir()
    stand_in.chmod(0o777)
    with waiting.listening(ROOM, lambda: None) as rest:
        assert rest == OFTEN
    assert "not ours alone" in str(waiting.fault())


async def test_where_no_folder_can_be_made_a_waiter_looks_more_often(place: Path) -> None:
    (place / "file").write_text("in the way")
    waiting = nudges(place / "file" / "run")

    with waiting.listening(ROOM, lambda: None) as rest:
        assert rest == OFTEN
    waiting.nudge(ROOM)
    assert waiting.fault() is not None


async def test_on_a_system_without_such_sockets_a_waiter_looks_more_often(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(socket, "AF_UNIX")
    waiting = nudges(place)

    with waiting.listening(ROOM, lambda: None) as rest:
        assert rest == OFTEN
    waiting.nudge(ROOM)
    assert "no sockets" in str(waiting.fault())


async def test_in_a_folder_that_may_not_be_written_a_waiter_looks_more_often(place: Path) -> None:
    waiting = nudges(place)
    (place / "nudges").mkdir(mode=0o500)

    with without_privileges():
        with waiting.listening(ROOM, lambda: None) as rest:
            assert rest == OFTEN
        waiting.nudge(ROOM)
        assert waiting.fault() is not None


@contextlib.contextmanager
def without_privileges() -> Iterator[None]:
    """Be nobody for a while, if we are root, whom no mode keeps out."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65_534)
    try:
        yield
    finally:
        os.seteuid(0)


async def test_two_thousand_waits_leave_no_descriptor_and_no_file(place: Path) -> None:
    waiting = nudges(place)
    with waiting.listening(ROOM, lambda: None):
        pass
    before = list(Path("/dev/fd").iterdir())

    for _ in range(2_000):
        with waiting.listening(ROOM, lambda: None):
            waiting.nudge(ROOM)

    assert len(list(Path("/dev/fd").iterdir())) == len(before)
    assert sockets(place) == []


async def test_folders_are_their_owners_alone(place: Path) -> None:
    run_dir = place / "home" / "run"
    with nudges(run_dir).listening(ROOM, lambda: None):
        made = [path for path in (place / "home").rglob("*") if path.is_dir()]

    assert len(made) == 3
    assert {path.stat().st_mode & 0o777 for path in (place / "home", *made)} == {0o700}
