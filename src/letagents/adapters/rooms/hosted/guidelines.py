"""What people wish from agents in rooms on a server. (Source: hosted-api 3.13.)"""

import attrs

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.lacking import there
from letagents.adapters.rooms.hosted.meant import about
from letagents.domain.fencing import Fence
from letagents.domain.guidelines import InForce, ReplyOrder
from letagents.domain.ids import RoomId
from letagents.wire.http import credentials, rooms
from letagents.wire.http import guidelines as wire

WHAT = "guidelines for agents"


@attrs.frozen
class HostedGuidelines:
    """The guidelines of rooms on one server, used by one account."""

    _calls: Calls

    async def in_force(self, room_id: RoomId, viewer: Fence | None = None) -> InForce:
        """Return what counts in the room."""
        asked = self._calls.get(
            _path(room_id), wire.in_force, headers=credentials.in_headers(viewer)
        )
        return await there(WHAT, asked)

    async def set(self, room_id: RoomId, text: str, fence: Fence | None = None) -> InForce:
        """Set a room's own, or give them up."""
        asked = {"guidelines": text} | credentials.in_body_of_anybody(fence)
        return await there(WHAT, self._calls.send("PUT", _path(room_id), asked, wire.in_force))

    async def set_reply_order(
        self, room_id: RoomId, order: ReplyOrder, fence: Fence | None = None
    ) -> InForce:
        """Set how the room's agents answer that are called together."""
        path = f"{rooms.path(room_id)}/agent-reply-order"
        asked = {"agent_reply_order": order.value} | credentials.in_body_of_anybody(fence)
        read = about(order.value, lambda found: found.reply_order.value, wire.ordered)
        return await there("an order of replies", self._calls.send("PUT", path, asked, read))


def _path(room_id: RoomId) -> str:
    return f"{rooms.path(room_id)}/agent-guidelines"
