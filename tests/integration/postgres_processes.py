"""What other processes do in rooms that a PostgreSQL keeps.

Run as `python -m tests.integration.postgres_processes ROLE PLACE [ARGUMENT]`.
"""

import asyncio
import contextlib
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

import attrs
from tests.integration.rooms_processes import tell

from letagents.adapters.nudges.postgres import PostgresNudges
from letagents.adapters.rooms.bells import Nudges
from letagents.adapters.rooms.local import LocalRooms
from letagents.domain.ids import ClientKey, RoomId
from letagents.domain.messages import After, Draft
from letagents.testing.contracts.room_callers import ROOM, arrival
from letagents.testing.determinism import CountingIds, ManualClock

if TYPE_CHECKING:
    from letagents.adapters.sql.opening import AnyDatabase

LONG = timedelta(minutes=1)


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


def rooms_in(place: "str | AnyDatabase", nudges: Nudges, *, process: int = 1) -> LocalRooms:
    """Return the rooms at `place` as the process of that number has them."""
    return LocalRooms(place, CountingIds(first=process * 1_000_000), ManualClock(), nudges)


async def speak(place: str, process: int, times: int, *, aloud: bool = False) -> None:
    """Register and say `times` messages, one after another; tell each number when it is known."""
    nudges = PostgresNudges(place)
    rooms = rooms_in(place, nudges, process=process)
    await rooms.join(ROOM)
    ours = await rooms.connect(ROOM, arrival(process, process))
    for at in range(1, times + 1):
        text = f"{at} from {process}"
        said = await rooms.post(ROOM, Draft(text, ClientKey(text)), ours.fence)
        if aloud:
            tell(f"{said.id.number} {text}")
    await rooms.aclose()
    nudges.close()


async def wait(place: str) -> None:
    """Wait for one message after another, and tell each; nothing but a nudge ends a rest."""
    nudges = PostgresNudges(place)
    rooms = rooms_in(place, Trusting(nudges), process=9)
    await rooms.join(ROOM)
    tell("waiting")
    after = None
    while True:
        for message in (await rooms.wait(ROOM, After(after), timeout=LONG)).messages:
            after = message.id
            tell(message.text)
            if message.text == "the end":
                await rooms.aclose()
                nudges.close()
                return


def main() -> None:
    role, place, *rest = sys.argv[1:]
    if role == "speak":
        asyncio.run(speak(place, 1, int(rest[0]), aloud=True))
    else:
        asyncio.run(wait(place))


if __name__ == "__main__":
    main()
