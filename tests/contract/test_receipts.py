"""Every adapter that keeps receipts keeps the promises of the port."""

from datetime import timedelta

import pytest
from tests.contract.kept_rooms import InMemory, InPostgres, KeptRooms, OnThisMachine
from tests.contract.served import Served

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.receipts import HostedReceipts
from letagents.adapters.rooms.kept.receipts import KeptReceipts
from letagents.domain.receipts import State
from letagents.domain.sessions import Connection
from letagents.ports.receipts import Receipts
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.attendance import coming
from letagents.testing.contracts.room_callers import ROOM, draft
from letagents.testing.contracts.room_receipts import ReceiptsContract
from letagents.testing.determinism import ManualClock


class _Kept(ReceiptsContract):
    @pytest.fixture
    def receipts(self, rooms: KeptRooms) -> Receipts:
        return KeptReceipts(rooms)

    @pytest.mark.rule("A74")
    async def test_who_loses_its_name_to_another_is_not_available_any_more(
        self, rooms: KeptRooms, receipts: Receipts, ada: Connection, clock: ManualClock
    ) -> None:
        holder = await rooms.connect(ROOM, coming(5, 5, name="Oak"))
        said = await rooms.post(ROOM, draft("@Oak look"), ada.fence)
        clock.pass_by(timedelta(hours=2))
        taker = await rooms.connect(ROOM, coming(6, 6, name="Oak"))
        [one] = await receipts.of(ROOM, said.id)

        assert taker.session.display_name == holder.session.display_name == "Oak"
        assert (one.session_id, one.state) == (holder.session.session_id, State.UNAVAILABLE)


class TestReceiptsInMemory(InMemory, _Kept):
    pass


class TestReceiptsOnThisMachine(OnThisMachine, _Kept):
    pass


class TestHostedReceipts(Served, ReceiptsContract):
    @pytest.fixture
    def receipts(self, calls: Calls) -> Receipts:
        return HostedReceipts(calls)

    @pytest.fixture
    def as_another(self, kept: KeptRooms) -> RoomTransport:
        return kept


@pytest.mark.long
class TestReceiptsInPostgres(InPostgres, _Kept):
    pass
