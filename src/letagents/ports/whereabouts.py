"""What the application needs to tell who is in a room, and what they say they do.

X22  Those are told of whose session has not ended, the oldest first.
X23  What somebody says they do is said by a session alone, and is its own.
X40  Whoever says that it was shown messages has been shown them, as by a read of the room (A71).
"""

from typing import Protocol

from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.whereabouts import LIMIT, Said, Whereabouts


class Noticeboard(Protocol):
    """Where agents say what they do."""

    async def note(self, room_id: RoomId, said: Said, fence: Fence) -> object:
        """Keep what a session says it does. Raises as Roster.note."""
        ...

    async def observed(
        self, room_id: RoomId, first: MessageId, last: MessageId, fence: Fence
    ) -> object:
        """Keep that a session was shown the messages from one to another, at most 500.

        Rooms of ours note by themselves what they show; to those of others it has to be said.

        Raises: as Roster.note, and Malformed where these are not in order, or too many.
        """
        ...


class Roster(Noticeboard, Protocol):
    """Who is in rooms."""

    async def note(self, room_id: RoomId, said: Said, fence: Fence) -> Whereabouts:
        """Keep what a session says it does.

        Raises:
            UnknownRoom: the room is not there.
            ConnectionLost: `fence` does not admit.
            WorkerRequired: it is no worker's.
        """
        ...

    async def observed(
        self, room_id: RoomId, first: MessageId, last: MessageId, fence: Fence
    ) -> bool:
        """Keep that a session was shown messages; return whether that is news.

        Raises: as Noticeboard.observed.
        """
        ...

    async def present(
        self, room_id: RoomId, *, limit: int = LIMIT, viewer: Fence | None = None
    ) -> tuple[Whereabouts, ...]:
        """Return who is there. Raises UnknownRoom, ConnectionLost."""
        ...
