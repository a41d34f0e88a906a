"""Saying in rooms on a server what an agent does. (Source: hosted-api 3.7, mcp-tools 7.5, 12.2.)"""

import attrs

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.whereabouts import Said
from letagents.wire.http import credentials
from letagents.wire.http import rooms as wire_rooms
from letagents.wire.http import sessions as wire_sessions


@attrs.frozen
class HostedPresence:
    """What is said in rooms on one server. Older ones ask nobody, which does not matter."""

    _calls: Calls

    async def note(self, room_id: RoomId, said: Said, fence: Fence) -> None:
        """Say what a session does."""
        host = said.host and wire_sessions.plain_host(said.host)
        asked = {"status": said.status, "status_text": said.text, "liveness_observation": host}
        await self._calls.send(
            "POST",
            f"{wire_rooms.path(room_id)}/presence",
            asked | credentials.in_body(fence),
            lambda _answer: None,
        )

    async def observed(
        self, room_id: RoomId, first: MessageId, last: MessageId, fence: Fence
    ) -> None:
        """Say which messages a session was shown."""
        asked = {"first_message_id": str(first), "last_message_id": str(last)}
        await self._calls.send(
            "PUT",
            f"{wire_rooms.path(room_id)}/agents/self/observation",
            asked | credentials.in_body(fence),
            lambda _answer: None,
        )
