"""What the application needs to hear from the programs that run agents.

X28  A session's program reports of its own session alone; a report is a sign of its life.
X29  Whoever ever worked in a room is told of, those who came last first, page by page.
"""

from typing import Protocol

from letagents.domain.activity import Activity, Report
from letagents.domain.failures import Failure
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.messages import Message
from letagents.domain.whereabouts import Whereabouts


class Reports(Protocol):
    """Where what a program does for its agent is reported, if only that is to be done."""

    async def report(self, room_id: RoomId, found: Report, fence: Fence) -> object:
        """Keep a report. Raises: as `Activities.report`, and NotAvailable."""
        ...


class Activities(Protocol):
    """What agents are seen to do."""

    async def failed(self, room_id: RoomId, told: Failure, fence: Fence) -> Message:
        """Let the room say why an agent cannot go on; return what it says, or said before.

        Raises:
            UnknownRoom, ConnectionLost: as RoomTransport.post.
            WorkerRequired: it is no worker's.
        """
        ...

    async def report(self, room_id: RoomId, found: Report, fence: Fence) -> tuple[Activity, bool]:
        """Keep a report; return the one that counts, and whether that is this one.

        Raises:
            UnknownRoom, ConnectionLost: as RoomTransport.post.
            WorkerRequired: it is no worker's.
            Malformed: it is not of now (X26).
        """
        ...

    async def history(
        self,
        room_id: RoomId,
        *,
        limit: int,
        before: SessionId | None = None,
        viewer: Fence | None = None,
    ) -> tuple[tuple[Whereabouts, ...], bool]:
        """Return those who came before a session, and whether there are more.

        Raises: UnknownRoom, ConnectionLost.
        """
        ...
