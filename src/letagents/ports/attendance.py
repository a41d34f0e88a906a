"""What the application needs of rooms on a server to prove that a process is there.

E40  Who attends is known to be there until it leaves, which closes its connection, or says that it
     exits. Of a session's connections only the newest counts, and only it can be closed.
E41  An attendance is over when its session ends, which it is told; when a newer one takes its
     place; and when the place that keeps it stops. The latter two say nothing of the process.
E42  An exit is kept only where it can be true: of the newest connection, or of one that is closed.
E43  Nothing here is a call of the agent: what an attendance shows is the process alone.
"""

import enum
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId, SessionId


class Over(enum.Enum):
    """How an attendance came to be over."""

    ENDED = "ended"
    """The session has ended."""
    CLOSED = "closed"
    """It says nothing of the session: who is there attends anew."""


class Attended(Protocol):
    """A connection of a process that is open."""

    @property
    def connection_id(self) -> str:
        """What the room calls it."""
        ...

    async def over(self) -> Over:
        """Return once it is over, and how."""
        ...


class Attendance(Protocol):
    """Keeps a room told that a process is there."""

    def attend(self, room_id: RoomId, fence: Fence) -> AbstractAsyncContextManager[Attended]:
        """Hold a connection open for as long as the context lasts.

        Raises:
            SessionEnded: the session has ended.
            ConnectionLost: `fence` does not admit.
            NoAttendance: the server knows of no such thing.
            RoomsUnavailable: it cannot be had now.
        """
        ...

    async def exited(self, room_id: RoomId, fence: Fence, connection_id: str | None) -> bool:
        """Say that the process exits; return whether that is kept (E42).

        `connection_id` is of its newest connection, and None where it knows of none.

        Raises: as `attend`, and OutcomeUnknown.
        """
        ...


class Roll(Attendance, Protocol):
    """All attendances that one server process holds open."""

    def ended(self, room_id: RoomId, sessions: Iterable[SessionId]) -> None:
        """Let those be over whose sessions have just ended."""
        ...

    def shut(self) -> None:
        """Let all be over, and those that come from now on at once; it says nothing of anybody."""
        ...
