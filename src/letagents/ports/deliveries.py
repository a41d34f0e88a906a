"""What a server needs to let rooms know who waits to be told of messages.

E55  Who waits is admitted first, and has an open delivery until its last request is over.
"""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from letagents.domain.deliveries import Delivery, Transport
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId, SessionId


class Deliveries(Protocol):
    """Keeps rooms told of the requests that wait in this server process."""

    def open(
        self, room_id: RoomId, fence: Fence, transport: Transport = Transport.LONG_POLL
    ) -> AbstractAsyncContextManager[None]:
        """Hold a delivery open for as long as the context lasts.

        Raises:
            UnknownRoom: the room is not there.
            ConnectionLost: `fence` does not admit.
            RoomsUnavailable: it cannot be had now.
        """
        ...

    async def of(self, room_id: RoomId, session_id: SessionId) -> Delivery | None:
        """Return what the room knows of a session's. Raises UnknownRoom, RoomsUnavailable."""
        ...
