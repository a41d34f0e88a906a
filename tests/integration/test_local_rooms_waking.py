"""Whether waiters wake when what should wake them is lost, late, or cannot be had."""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import anyio
import attrs
import pytest
from tests.integration.rooms_processes import rooms_at

from letagents.adapters.nudges.datagram import DatagramNudges
from letagents.adapters.rooms.bells import Nudges
from letagents.adapters.rooms.local import LocalRooms
from letagents.domain.ids import RoomId
from letagents.domain.messages import After
from letagents.domain.sessions import Connection
from letagents.testing.contracts.room_callers import ADA, ROOM, arrival, draft, texts
from letagents.testing.determinism import CountingIds

SOON = 5
LONG = timedelta(minutes=1)


@attrs.frozen
class Lost:
    """Nudges that never arrive."""

    kept: Nudges

    def nudge(self, room_id: RoomId) -> None:
        """Lose it."""

    def listening(
        self, room_id: RoomId, ring: Callable[[], None]
    ) -> contextlib.AbstractContextManager[float]:
        return self.kept.listening(room_id, ring)


@attrs.frozen
class Deaf:
    """Nudges whose sockets are gone before anybody can send to them."""

    kept: Nudges
    run_dir: Path

    def nudge(self, room_id: RoomId) -> None:
        self.kept.nudge(room_id)

    @contextlib.contextmanager
    def listening(self, room_id: RoomId, ring: Callable[[], None]) -> Iterator[float]:
        with self.kept.listening(room_id, ring) as rest:
            for path in self.run_dir.rglob("*"):
                if path.is_socket():
                    path.unlink()
            yield rest


@attrs.frozen
class Trusting:
    """Nudges of a waiter that never looks by itself."""

    kept: Nudges

    def nudge(self, room_id: RoomId) -> None:
        self.kept.nudge(room_id)

    @contextlib.contextmanager
    def listening(self, room_id: RoomId, ring: Callable[[], None]) -> Iterator[float]:
        with self.kept.listening(room_id, ring):
            yield LONG.total_seconds()


@attrs.frozen
class Late:
    """Nudges that begin to listen only after somebody has spoken, and a waiter that never looks."""

    speak: Callable[[], object]

    def nudge(self, room_id: RoomId) -> None:
        """Nobody is there to be woken."""

    @contextlib.contextmanager
    def listening(self, room_id: RoomId, ring: Callable[[], None]) -> Iterator[float]:
        with ThreadPoolExecutor(1) as another:
            another.submit(self.speak).result(SOON)
        yield LONG.total_seconds()


@pytest.fixture
def run_dir() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="w-") as folder:
        yield Path(folder)


@pytest.fixture
async def ours(tmp_path: Path, run_dir: Path) -> AsyncIterator[LocalRooms]:
    rooms = rooms_at(tmp_path / "rooms.db", nudges=nudges(run_dir, 1))
    yield rooms
    await rooms.aclose()


@pytest.fixture
async def ada(ours: LocalRooms) -> Connection:
    await ours.join(ROOM)
    return await ours.connect(ROOM, arrival(ADA, 1))


def nudges(run_dir: Path, process: int) -> DatagramNudges:
    return DatagramNudges(run_dir, CountingIds(first=process))


async def hears(waiting: LocalRooms, speaking: LocalRooms, ada: Connection) -> list[str]:
    """Return what a waiter hears of what is said while it waits."""
    heard: list[str] = []

    async def wait() -> None:
        heard.extend(texts(await waiting.wait(ROOM, After(), timeout=LONG)))

    with anyio.fail_after(SOON):
        async with anyio.create_task_group() as waiters:
            waiters.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await speaking.post(ROOM, draft("hello"), ada.fence)
    return heard


@pytest.mark.rule("R7")
async def test_a_waiter_whose_nudge_is_lost_looks_by_itself(
    tmp_path: Path, run_dir: Path, ours: LocalRooms, ada: Connection
) -> None:
    silent = rooms_at(tmp_path / "rooms.db", process=2, nudges=Lost(nudges(run_dir, 2)))

    assert await hears(ours, silent, ada) == ["hello"]
    await silent.aclose()


@pytest.mark.rule("R7")
async def test_a_waiter_whose_socket_was_taken_away_looks_by_itself(
    tmp_path: Path, run_dir: Path, ours: LocalRooms, ada: Connection
) -> None:
    deaf = rooms_at(tmp_path / "rooms.db", process=2, nudges=Deaf(nudges(run_dir, 2), run_dir))

    assert await hears(deaf, ours, ada) == ["hello"]
    await deaf.aclose()


@pytest.mark.rule("R7")
async def test_a_waiter_without_a_run_directory_looks_by_itself(
    tmp_path: Path, ours: LocalRooms, ada: Connection
) -> None:
    (tmp_path / "file").write_text("in the way")
    poor = rooms_at(tmp_path / "rooms.db", process=2, nudges=nudges(tmp_path / "file" / "run", 2))

    assert await hears(poor, ours, ada) == ["hello"]
    assert await hears(poor, poor, ada) == ["hello"]
    await poor.aclose()


@pytest.mark.rule("R6", "R7")
async def test_a_waiter_listens_before_it_looks(
    tmp_path: Path, ours: LocalRooms, ada: Connection
) -> None:
    def speak() -> object:
        return asyncio.run(ours.post(ROOM, draft("hello"), ada.fence))

    waiting = rooms_at(tmp_path / "rooms.db", process=2, nudges=Late(speak))

    with anyio.fail_after(SOON):
        assert texts(await waiting.wait(ROOM, After(), timeout=LONG)) == ["hello"]
    await waiting.aclose()


@pytest.mark.rule("R8")
async def test_waits_that_are_cancelled_leave_nothing_behind(
    run_dir: Path, ours: LocalRooms, ada: Connection
) -> None:
    with anyio.fail_after(SOON):
        async with anyio.create_task_group() as waiters:
            for _ in range(50):
                waiters.start_soon(lambda: ours.wait(ROOM, After(), timeout=LONG))
            await anyio.wait_all_tasks_blocked()
            assert len([path for path in run_dir.rglob("*") if path.is_socket()]) == 50
            waiters.cancel_scope.cancel()

    assert [path for path in run_dir.rglob("*") if path.is_socket()] == []
    assert ours._bells._hung == {}


@pytest.mark.rule("R7")
async def test_nothing_but_the_nudge_wakes_a_waiter_that_never_looks(
    tmp_path: Path, run_dir: Path, ours: LocalRooms, ada: Connection
) -> None:
    trusting = rooms_at(tmp_path / "rooms.db", process=2, nudges=Trusting(nudges(run_dir, 2)))

    assert await hears(trusting, ours, ada) == ["hello"]
    await trusting.aclose()
