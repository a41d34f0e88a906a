"""What a server needs to tell somebody of all that happens in a room, as it happens.

X12  What happens after the cursor is told soon after it happened, wherever it was done.
X13  Who was replaced is told nothing more; that is noticed when something happens, or at the end of
     the waiting.
X14  To be told is no sign that an agent is there: its program reads on, whatever became of it.
"""

from datetime import timedelta
from typing import Protocol

from letagents.domain.feeds import Begun, Cursor, Happened
from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId


class Feed(Protocol):
    """Tells what happens in rooms."""

    async def begin(
        self, room_id: RoomId, asked: Cursor | MessageId | None, viewer: Fence | None = None
    ) -> Begun:
        """Return where the telling begins for who knows all up to `asked`: now, where it is None.

        Raises:
            UnknownRoom: the room is not there.
            ConnectionLost: `viewer` does not admit.
        """
        ...

    async def after(
        self, room_id: RoomId, cursor: Cursor, *, timeout: timedelta, viewer: Fence | None = None
    ) -> tuple[Happened, ...]:
        """Return what happened after `cursor`, as soon as anything did; nothing after `timeout`.

        Raises: as `begin`.
        """
        ...
