"""The receipts of rooms on a server."""

import attrs

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.meant import about
from letagents.adapters.rooms.hosted.projects import Absent
from letagents.domain.errors import UnknownMessage
from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.receipts import Receipt, State
from letagents.wire.http import credentials
from letagents.wire.http import receipts as wire
from letagents.wire.http import rooms as wire_rooms


@attrs.frozen
class HostedReceipts:
    """The receipts of rooms on one server, seen by one account."""

    _calls: Calls

    async def of(
        self, room_id: RoomId, message_id: MessageId, viewer: Fence | None = None
    ) -> tuple[Receipt, ...]:
        """Return the receipts of a message."""
        try:
            return await self._calls.get(
                f"{_path(room_id, message_id)}/info",
                wire.info,
                headers=credentials.in_headers(viewer),
            )
        except Absent:
            raise _not_there(message_id) from None

    async def declare(
        self, room_id: RoomId, message_id: MessageId, state: State, fence: Fence
    ) -> Receipt:
        """Note how far whoever `fence` is says that they are with a message."""
        try:
            return await self._calls.send(
                "PUT",
                f"{_path(room_id, message_id)}/agent-receipts/self",
                {"receipt_state": state.value} | credentials.in_body(fence),
                about(message_id, lambda one: one.message_id, wire.declared),
            )
        except Absent:
            raise _not_there(message_id) from None


def _path(room_id: RoomId, message_id: MessageId) -> str:
    return f"{wire_rooms.path(room_id)}/messages/{message_id}"


def _not_there(message_id: MessageId) -> UnknownMessage:
    return UnknownMessage(
        f"message_id: {message_id} does not exist in this room.",
        remedy="Call read_messages to see the ids of the room's messages.",
    )
