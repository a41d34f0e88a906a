"""Wake rules, in memory, on this machine and in PostgreSQL."""

import pytest
from tests.contract.kept_rooms import InMemory, InPostgres, KeptRooms, OnThisMachine

from letagents.adapters.rooms.kept import doing
from letagents.adapters.rooms.kept import wakes as kept_wakes
from letagents.adapters.rooms.kept.wakes import KeptWakes
from letagents.ports.rooms import RoomTransport
from letagents.ports.wakes import Wakes
from letagents.testing.contracts.room_callers import ROOM
from letagents.testing.contracts.wakes import WakesContract


class _Kept(WakesContract):
    @pytest.fixture
    def wakes(self, rooms: KeptRooms) -> Wakes:
        self.kept_rooms = rooms
        return KeptWakes(rooms)

    @pytest.fixture
    def wakes_elsewhere(self, elsewhere: KeptRooms) -> Wakes:
        return KeptWakes(elsewhere)

    async def move(self, before: str, after: str, task_id: str = "task_1") -> None:
        await self.kept_rooms.change(
            ROOM, lambda book: kept_wakes.task_moved(book, task_id, before, after)
        )

    async def let_time_be(self, rooms: RoomTransport) -> None:
        await doing.done(self.kept_rooms, ROOM)


class TestWakesInMemory(InMemory, _Kept):
    pass


class TestWakesOnThisMachine(OnThisMachine, _Kept):
    pass


class TestWakesInPostgres(InPostgres, _Kept):
    pass
