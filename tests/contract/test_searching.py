"""Searching over rooms that cannot be searched, and with a connection that was lost."""

from typing import cast

import pytest

from letagents.adapters.rooms.memory import MemoryRooms
from letagents.application.connections import Connections
from letagents.application.searching import Searching
from letagents.domain.errors import ConnectionReplaced, NotAvailable
from letagents.domain.search import asked
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import ADA, ROOM, arrival

pytestmark = pytest.mark.anyio


@pytest.mark.rule("V15")
async def test_rooms_that_cannot_search_say_so() -> None:
    searching = Searching(cast("RoomTransport", object()), Connections())

    with pytest.raises(NotAvailable, match="cannot be searched"):
        await searching.search(ROOM, asked("lexer"))


@pytest.mark.rule("V14")
async def test_a_connection_that_a_search_finds_lost_is_not_held_any_more() -> None:
    rooms, held = MemoryRooms(), Connections()
    await rooms.join(ROOM)
    ada = await rooms.connect(ROOM, arrival(ADA, 1))
    worker_id = arrival(ADA, 1).worker_id
    assert worker_id is not None
    held.hold(worker_id, ROOM, ada, rooms=(ROOM,))
    await rooms.connect(ROOM, arrival(ADA, 2, after=ada))

    with pytest.raises(ConnectionReplaced):
        await Searching(rooms, held).search(ROOM, asked("lexer"), ada)
    assert held.held(worker_id, ROOM) is None
    with pytest.raises(ConnectionReplaced):
        await Searching(rooms, held).search(ROOM, asked("lexer"), ada)
