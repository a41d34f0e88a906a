"""What the application needs to let an agent's reasoning be seen.

K65  What was posted is kept, with every state before it, for any store opened on the same place.
K66  Of two posts at once by one agent that has no open trace, the second goes on with the first's.
"""

from typing import Protocol

from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.reasoning import UNNAMED, Reasoning, Subject, Trace, Update


class Reasonings(Protocol):
    """The traces of rooms."""

    async def post(
        self,
        room_id: RoomId,
        said: Trace,
        fence: Fence,
        *,
        reasoning_id: str | None = None,
        about: Subject = UNNAMED,
    ) -> tuple[Reasoning, Update]:
        """Go on with that trace; by default with the open one of who acts, or open one.

        It is `about` something from now on, where that names something.

        Raises:
            UnknownReasoning: there is no such one.
            ForeignReasoning, ClosedReasoning: as `domain.reasoning.gone_on`.
            UnknownTask, UnknownMessage: the room has not what it is to be about.
        """
        ...

    async def traces(
        self,
        room_id: RoomId,
        *,
        is_open: bool | None = True,
        agent_key: str | None = None,
        task_id: str | None = None,
        limit: int = 50,
        viewer: Fence | None = None,
    ) -> tuple[Reasoning, ...]:
        """Return traces, the newest first; None for open and closed ones."""
        ...

    async def trace(
        self, room_id: RoomId, reasoning_id: str, viewer: Fence | None = None
    ) -> Reasoning:
        """Return one trace.

        Raises:
            UnknownReasoning: there is no such one.
        """
        ...

    async def updates(
        self, room_id: RoomId, reasoning_id: str, *, limit: int = 100, viewer: Fence | None = None
    ) -> tuple[Update, ...]:
        """Return the states that a trace had, the newest first.

        Raises:
            UnknownReasoning: there is no such one.
        """
        ...

    async def relate(
        self, room_id: RoomId, reasoning_id: str, about: Subject, fence: Fence | None = None
    ) -> Reasoning:
        """Let a trace be about something else (K67).

        Raises:
            UnknownReasoning: there is no such one.
            ForeignReasoning: it is another agent's.
            UnknownTask, UnknownMessage: the room has not what it is to be about.
        """
        ...

    async def close(
        self, room_id: RoomId, reasoning_id: str, fence: Fence | None = None
    ) -> Reasoning:
        """Close a trace.

        Raises:
            UnknownReasoning: there is no such one.
            ForeignReasoning: it is another agent's.
        """
        ...
