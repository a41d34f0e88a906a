"""Rooms on a server keep the promises of the port, whatever the server keeps them in."""

from tests.contract.served import Served

from letagents.testing.contracts.rooms import RoomTransportContract


class TestHostedRooms(Served, RoomTransportContract):
    pass
