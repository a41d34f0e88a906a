"""What gives a room another mark: all that could end a wait in it, and nothing else."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import attrs
import pytest
from tests.integration.postgres_processes import rooms_in

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.book import Book
from letagents.adapters.rooms.kept import dues
from letagents.adapters.rooms.kept.artifacts import CHANGES, Change
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.kept.deliveries import KeptDeliveries
from letagents.adapters.rooms.local import LocalRooms
from letagents.domain.ids import RoomId
from letagents.domain.messages import Latest
from letagents.domain.receipts import State
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Proposal
from letagents.testing.contracts.room_callers import ADA, BOB, ROOM, arrival, draft
from letagents.testing.determinism import CountingIds, ManualClock

OTHER = RoomId("harbour")


def mark(rooms: LocalRooms) -> object:
    return rooms._ledger().marks([OTHER, ROOM])[ROOM]


@attrs.frozen
class Room:
    """A room in which two are, and what can be done there."""

    rooms: LocalRooms
    ada: Connection
    bob: Connection

    async def say(self) -> None:
        await self.rooms.post(ROOM, draft("@Worker2 hello"), self.ada.fence)

    async def be_shown(self) -> None:
        await self.rooms.read(ROOM, Latest(), self.bob.fence)
        states = await self.rooms.note(ROOM, _states)  # in its turn, after what was shown
        assert states == [State.RESPONDING]

    async def propose(self) -> None:
        await KeptBoard(self.rooms, timedelta(minutes=15)).propose(ROOM, Proposal(title="mend it"))

    async def tell_of_an_artifact(self) -> None:
        change = Change(1, "github:pull_request:1")
        await self.rooms.change(ROOM, lambda book: book.put(CHANGES, change))

    async def take_over(self) -> None:
        await self.rooms.connect(ROOM, arrival(ADA, 11, self.ada))

    async def leave(self) -> None:
        await self.rooms.disconnect(ROOM, self.bob.fence)

    async def ask_for_something(self) -> None:
        at = ManualClock().now() + timedelta(hours=1)
        await self.rooms.change(ROOM, lambda book: dues.ask(book, "nothing", "of it", at))

    async def wait(self) -> None:
        waits = KeptDeliveries(self.rooms, CountingIds(first=8000), ManualClock())
        async with waits.open(ROOM, self.bob.fence):
            pass

    async def call(self) -> None:
        self.rooms.listen_for(ROOM, self.bob.fence)
        await self.rooms.read(ROOM, Latest(), self.bob.fence)


def _states(book: Book) -> list[State]:
    return [one.state for one in book.receipts(1)]


Do = Callable[[Room], Awaitable[None]]
MOVING: tuple[Do, ...] = (
    Room.say,
    Room.be_shown,
    Room.propose,
    Room.ask_for_something,
    Room.tell_of_an_artifact,
    Room.take_over,
    Room.leave,
)


@pytest.mark.parametrize("where", ["sqlite", "postgres"])
async def test_each_change_that_could_end_a_wait_gives_another_mark(
    where: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    place = request.getfixturevalue("postgres") if where == "postgres" else str(tmp_path / "r.db")
    rooms = rooms_in(place, NoNudges())
    for room_id in (ROOM, OTHER):
        await rooms.join(room_id)
    connections = [await rooms.connect(ROOM, arrival(who, who)) for who in (ADA, BOB)]
    room = Room(rooms, *connections)
    marks = [mark(rooms)]
    for do in MOVING:
        await do(room)
        marks.append(mark(rooms))

    assert len(set(marks)) == len(MOVING) + 1
    await rooms.post(OTHER, draft("elsewhere"), (await rooms.connect(OTHER, arrival(3, 3))).fence)
    assert mark(rooms) == marks[-1], "another room is another room"
    await rooms.aclose()


async def test_that_somebody_waits_or_is_there_gives_no_other_mark(tmp_path: Path) -> None:
    rooms = rooms_in(str(tmp_path / "rooms.db"), NoNudges())
    await rooms.join(ROOM)
    ada, bob = [await rooms.connect(ROOM, arrival(who, who)) for who in (ADA, BOB)]
    room, before = Room(rooms, ada, bob), mark(rooms)
    await room.wait()
    await room.call()

    assert mark(rooms) == before
    await rooms.aclose()
