"""Every adapter that keeps receipts keeps the promises of the port."""

import pytest
from tests.contract.kept_rooms import InMemory, InPostgres, KeptRooms, OnThisMachine
from tests.contract.served import Served

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.receipts import HostedReceipts
from letagents.adapters.rooms.kept.receipts import KeptReceipts
from letagents.ports.receipts import Receipts
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_receipts import ReceiptsContract


class _Kept(ReceiptsContract):
    @pytest.fixture
    def receipts(self, rooms: KeptRooms) -> Receipts:
        return KeptReceipts(rooms)


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
