"""What the application needs to let agents be woken.

W60  A rule that was answered is kept: whoever keeps the room next, it wakes.
W61  A rule wakes in the transaction of the change that it waits for, once for each.
W62  A timer wakes soon after its time where somebody waits in the room, else as soon as one does.
"""

from typing import Protocol

import attrs

from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.wake_rules import Asked, WakeRule


@attrs.frozen
class Rules:
    """The rules of a room that wait, oldest first, and the latest that do so no more."""

    active: tuple[WakeRule, ...]
    recent: tuple[WakeRule, ...]


class Wakes(Protocol):
    """The wake rules of rooms."""

    async def add(self, room_id: RoomId, asked: Asked, fence: Fence) -> tuple[WakeRule, bool]:
        """Return the rule of who asks, and whether it was made now.

        Raises:
            Malformed, TooManyWakeRules, AlreadySo: as the rules have it.
            UnknownRoom, ConnectionLost: as for any verb of rooms.
        """
        ...

    async def rules(
        self, room_id: RoomId, *, agent_key: str | None = None, viewer: Fence | None = None
    ) -> Rules:
        """Return the rules of a room, or those of one agent in it."""
        ...

    async def cancel(self, room_id: RoomId, rule_id: str, fence: Fence | None = None) -> WakeRule:
        """Return the rule, cancelled if it waited.

        Raises:
            UnknownWakeRule: there is none of that id.
            ForeignWakeRule: it is another agent's.
        """
        ...
