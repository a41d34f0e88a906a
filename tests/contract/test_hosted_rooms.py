"""Rooms on a server keep the promises of the port, whatever the server keeps them in."""

import pytest
from tests.contract.served import Served, in_memory, in_postgres, in_sqlite

from letagents.testing.contracts.rooms import RoomTransportContract


@pytest.mark.parametrize("kept", [in_memory, in_sqlite, in_postgres], indirect=True)
class TestHostedRooms(Served, RoomTransportContract):
    pass
