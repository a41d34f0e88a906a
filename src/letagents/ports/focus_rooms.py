"""What the application needs of the rooms beside rooms, wherever they are kept.

R40  Of all who open a focus room for one task, or with one title, at once, from wherever, all are
     given the same room, and one is told that it made it.
R41  A focus room that was answered is there, as it was answered, for whoever opens the same place.
R42  Who opens or concludes one for a task holds the work lease of it, compared in the transaction
     of what is done; people need none.
R43  It is concluded and its summary said beside it in one transaction, once, however often it is
     asked for.
R44  What a session, a message, a task or anything else is called in one room means nothing in
     another, beside it or not.
"""

from typing import Protocol

import attrs

from letagents.domain.fencing import Fence
from letagents.domain.focus_rooms import Changes, Outcome
from letagents.domain.ids import RoomId
from letagents.domain.messages import Message
from letagents.domain.rooms import Room


@attrs.frozen
class Opened:
    """A focus room, and whether it was made now."""

    room: Room
    is_new: bool


@attrs.frozen
class Concluded:
    """A focus room that is over, and what was said of it in the room beside it, if anything."""

    room: Room
    message: Message | None = None


class FocusRooms(Protocol):
    """The focus rooms beside rooms. Where no fence is shown, the room's owner acts.

    `room_id` is always the parent. Every verb raises UnknownRoom and ConnectionLost as those of
    RoomTransport do, and UnknownRoom where a key names none.
    """

    async def beside(self, room_id: RoomId, viewer: Fence | None = None) -> tuple[Room, ...]:
        """Return the focus rooms beside the room, the newest first; at most 500."""
        ...

    async def of_key(self, room_id: RoomId, key: str, viewer: Fence | None = None) -> Room:
        """Return the focus room of that key."""
        ...

    async def open_for_task(
        self,
        room_id: RoomId,
        task_id: str,
        fence: Fence | None = None,
        *,
        display_name: str | None = None,
    ) -> Opened:
        """Return the open focus room of a task, made if there is none.

        Raises:
            UnknownTask, NoFocusRoomThere, ParentBoardReadOnly, Locked, LeaseMissing, LeaseHeld,
            Malformed: it is not opened.
        """
        ...

    async def open(
        self,
        room_id: RoomId,
        title: str,
        fence: Fence | None = None,
        *,
        display_name: str | None = None,
    ) -> Opened:
        """Return the open focus room of that title, made if there is none.

        Raises:
            NoFocusRoomThere, Malformed: it is not opened.
        """
        ...

    async def set(
        self, room_id: RoomId, key: str, changes: Changes, fence: Fence | None = None
    ) -> Room:
        """Set how it belongs to the room. Raises AdminRequired."""
        ...

    async def conclude(
        self, room_id: RoomId, key: str, outcome: Outcome, fence: Fence | None = None
    ) -> Concluded:
        """Conclude it; asked again, return what was answered then.

        Raises:
            FocusRoomConcluded, Malformed, Locked, LeaseMissing, LeaseHeld: it is not concluded.
        """
        ...
