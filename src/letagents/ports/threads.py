"""What is needed of the threads of rooms by who reads them one by one: people, by their accounts.

K123  What somebody has read is kept for them alone, wherever they read next.
"""

from collections.abc import Mapping
from typing import Protocol

from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.threads import PAGE, Summary, Threads


class ThreadsOf(Protocol):
    """The threads of rooms."""

    async def threads(
        self,
        room_id: RoomId,
        reader: str,
        *,
        unread_only: bool = False,
        before: MessageId | None = None,
        limit: int = PAGE,
        viewer: Fence | None = None,
    ) -> Threads:
        """Return threads of a room, the newest reply first; `before` is the root of the last one.

        Raises: as RoomTransport.read.
        """
        ...

    async def around(
        self, room_id: RoomId, first: MessageId, last: MessageId, reader: str
    ) -> Mapping[MessageId, Summary]:
        """Return the threads of the messages from `first` to `last`, each under its root (K127).

        Raises: as RoomTransport.read.
        """
        ...

    async def read(
        self,
        room_id: RoomId,
        thread: MessageId,
        reader: str,
        up_to: MessageId | None = None,
        *,
        viewer: Fence | None = None,
    ) -> Summary:
        """Note how far `reader` has read a thread, and return it.

        Raises:
            UnknownThread: there is no such message.
            Malformed: `up_to` is of another one.
            UnknownRoom, ConnectionLost: as RoomTransport.read.
        """
        ...
