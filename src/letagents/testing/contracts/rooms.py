"""What every RoomTransport does: inherit the suite and give it a fixture `rooms`.

    class TestMyRooms(RoomTransportContract):
        @pytest.fixture
        def rooms(self) -> RoomTransport:
            return MyRooms()

Where the place can be opened twice, a fixture `elsewhere` gives a second transport on it, as
another process would have; else the one transport plays both.
"""

from letagents.testing.contracts.room_audience import RoomAudienceContract
from letagents.testing.contracts.room_connections import RoomConnectionsContract
from letagents.testing.contracts.room_places import RoomPlacesContract
from letagents.testing.contracts.room_reading import RoomReadingContract
from letagents.testing.contracts.room_speaking import RoomSpeakingContract


class RoomTransportContract(
    RoomPlacesContract,
    RoomConnectionsContract,
    RoomSpeakingContract,
    RoomReadingContract,
    RoomAudienceContract,
):
    """Needs a fixture `rooms`; may have a fixture `elsewhere`."""
