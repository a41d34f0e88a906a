"""What an agent says it does is heard on a server; that it is not heard stops nothing."""

from functools import partial

import anyio
import attrs
import pytest
from tests.contract.served import KeptRooms, Served

from letagents.adapters.rooms.book import Book
from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.presence import HostedPresence
from letagents.adapters.rooms.hosted.rooms import HostedRooms
from letagents.adapters.rooms.kept.whereabouts import KeptRoster
from letagents.application.presence import Presence
from letagents.domain.errors import Malformed, RoomsUnavailable
from letagents.domain.fencing import UNNUMBERED, Fence
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.messages import Latest
from letagents.domain.receipts import State
from letagents.domain.sessions import Connection
from letagents.domain.whereabouts import Said
from letagents.testing.contracts.room_callers import ADA, BOB, ROOM, arrival, draft
from letagents.testing.determinism import ManualClock

pytestmark = pytest.mark.anyio

_ALL = Latest()


def _state(book: Book, *, number: int) -> State:
    [receipt] = book.receipts(number)
    return receipt.state


@attrs.frozen
class Away:
    """Rooms that hear nothing: they are away, or never answer."""

    is_silent: bool

    async def note(self, room_id: RoomId, said: Said, fence: Fence) -> object:
        if self.is_silent:
            await anyio.sleep_forever()
        raise RoomsUnavailable("They are away.", remedy="Call again.")

    async def observed(
        self, room_id: RoomId, first: MessageId, last: MessageId, fence: Fence
    ) -> object:
        return await self.note(room_id, Said(), fence)


class TestSayingWhatOneDoes(Served):
    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture
    async def ada(self, rooms: HostedRooms) -> Connection:
        await rooms.join(ROOM)
        return await rooms.connect(ROOM, arrival(ADA, 1))

    @pytest.mark.rule("X20", "A71")
    async def test_it_is_heard_and_those_whom_it_keeps_waiting_are_told(
        self, kept: KeptRooms, calls: Calls, rooms: HostedRooms, ada: Connection
    ) -> None:
        presence = Presence(lambda: HostedPresence(calls))
        bob = await rooms.connect(ROOM, arrival(BOB, 2))
        said = await rooms.post(ROOM, draft("@Worker1 look"), bob.fence)
        await kept.read(ROOM, _ALL, ada.fence)
        states = []
        for line in ("stuck on the roof", "mending the roof"):
            with anyio.fail_after(30):
                await presence.posted(ada, line)
            found = await kept.look(ROOM, lambda book: book.receipts(said.id.number))
            states += [one.state for one in found]
        present = await KeptRoster(kept).present(ROOM)
        [seen] = [one for one in present if one.session.session_id == ada.session.session_id]

        assert states == [State.BLOCKED, State.RESPONDING]
        assert (seen.said.status, seen.said.text) == ("working", "mending the roof")

    @pytest.mark.rule("X40", "A71")
    async def test_what_was_observed_is_said_to_rooms_that_do_not_see_it_themselves(
        self, kept: KeptRooms, calls: Calls, rooms: HostedRooms, ada: Connection
    ) -> None:
        presence = Presence(lambda: HostedPresence(calls))
        bob = await rooms.connect(ROOM, arrival(BOB, 2))
        said = [await rooms.post(ROOM, draft(f"@Worker1 look {n}"), bob.fence) for n in range(3)]
        seen, last = said[0].id, said[1].id
        states = []
        for one in (ada, attrs.evolve(ada, fence=attrs.evolve(ada.fence, generation=UNNUMBERED))):
            with anyio.fail_after(30):
                await presence.observed(one, seen, last)
            found = [await kept.look(ROOM, partial(_state, number=one.id.number)) for one in said]
            states.append(found)
        with pytest.raises(Malformed, match="first_message_id"):
            await HostedPresence(calls).observed(ROOM, last, seen, ada.fence)

        assert states == [[State.QUEUED] * 3, [State.RESPONDING, State.RESPONDING, State.QUEUED]]

    @pytest.mark.parametrize("is_silent", [True, False])
    async def test_rooms_that_do_not_hear_it_stop_nobody(
        self, ada: Connection, is_silent: bool
    ) -> None:
        with anyio.fail_after(30):
            await Presence(lambda: Away(is_silent), patience=0.01).posted(ada, "mending the roof")

    async def test_where_nobody_asks_nothing_is_said(self, ada: Connection) -> None:
        await Presence(lambda: None).posted(ada, "mending the roof")
