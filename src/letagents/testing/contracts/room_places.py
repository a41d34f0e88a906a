"""Rooms themselves: made, entered, found and listed. A part of what every RoomTransport does."""

from datetime import timedelta

import pytest

from letagents.domain.errors import UnknownRoom
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.messages import After, Latest
from letagents.domain.sessions import Connection
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import (
    ADA,
    ROOM,
    SOON,
    RoomCallers,
    arrival,
    cursor,
    draft,
    secret,
)
from letagents.testing.determinism import ManualClock


@pytest.mark.anyio
class RoomPlacesContract(RoomCallers):
    """Needs a fixture `rooms`; may have a fixture `elsewhere`."""

    @pytest.mark.rule("K1")
    async def test_a_created_room_is_entered_by_its_code(self, rooms: RoomTransport) -> None:
        made = await rooms.create()

        assert made.code == str(made.room_id)
        assert await rooms.join(made.room_id) == made

    async def test_two_created_rooms_are_two(self, rooms: RoomTransport) -> None:
        assert await rooms.create() != await rooms.create()

    async def test_joining_makes_a_room_once(
        self, rooms: RoomTransport, elsewhere: RoomTransport
    ) -> None:
        made = await rooms.join(ROOM)

        assert made.display_name == str(ROOM)
        assert made.code is None
        assert await elsewhere.join(ROOM) == made

    @pytest.mark.rule("K4")
    @pytest.mark.parametrize("create", [True, False])
    async def test_no_room_is_made_for_a_code_that_nobody_gave(
        self, rooms: RoomTransport, create: bool
    ) -> None:
        with pytest.raises(UnknownRoom):
            await rooms.join(RoomId("AAAA-BBBB-CCCC"), create=create)

        assert await rooms.known() == ()

    async def test_joining_without_making_finds_only_what_is_there(
        self, rooms: RoomTransport
    ) -> None:
        with pytest.raises(UnknownRoom):
            await rooms.join(ROOM, create=False)

        made = await rooms.join(ROOM)
        assert await rooms.join(ROOM, create=False) == made

    async def test_rooms_are_known_latest_active_first(
        self, rooms: RoomTransport, ada: Connection, clock: ManualClock
    ) -> None:
        clock.pass_by(timedelta(minutes=1))
        other = await rooms.join(RoomId("other"))
        assert [room.room_id for room in await rooms.known()] == [other.room_id, ROOM]

        clock.pass_by(timedelta(minutes=1))
        await rooms.post(ROOM, draft("hello"), ada.fence)
        assert [room.room_id for room in await rooms.known()] == [ROOM, other.room_id]

    async def test_a_room_that_is_not_there_is_refused_everywhere(
        self, rooms: RoomTransport
    ) -> None:
        nowhere = RoomId("nowhere")
        fence = Fence(SessionId("local_x"), 1, secret(1))

        with pytest.raises(UnknownRoom):
            await rooms.connect(nowhere, arrival(ADA, 1))
        with pytest.raises(UnknownRoom):
            await rooms.disconnect(nowhere, fence)
        with pytest.raises(UnknownRoom):
            await rooms.post(nowhere, draft("hello"), fence)
        with pytest.raises(UnknownRoom):
            await rooms.read(nowhere, Latest())
        with pytest.raises(UnknownRoom):
            await rooms.wait(nowhere, After(), timeout=SOON)
        with pytest.raises(UnknownRoom):
            await rooms.message(nowhere, cursor(1))
        assert await rooms.known() == ()
