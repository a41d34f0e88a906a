"""The files of messages in rooms on a server. The routes are our own."""

import attrs

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.lacking import there
from letagents.adapters.rooms.hosted.projects import Absent
from letagents.domain import attachments
from letagents.domain.attachments import Fetched, File, Upload
from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId
from letagents.wire.http import attachments as wire
from letagents.wire.http import credentials, rooms

WHAT = "files"


@attrs.frozen
class HostedAttachments:
    """The files of rooms on one server, used by one account."""

    _calls: Calls

    async def upload(self, room_id: RoomId, file: File, fence: Fence) -> Upload:
        """Let a file wait for a message."""
        asked = self._calls.send(
            "POST",
            f"{rooms.path(room_id)}/attachments",
            wire.plain_file(file) | credentials.in_body(fence),
            lambda told: wire.upload(told, file),
        )
        return await there(WHAT, asked)

    async def fetch(
        self, room_id: RoomId, message_id: MessageId, place: int, viewer: Fence | None = None
    ) -> Fetched:
        """Return a file of a message."""
        path = f"{rooms.path(room_id)}/messages/{message_id}/attachments/att_{place}/content"
        try:
            return await self._calls.get(path, wire.fetched, headers=credentials.in_headers(viewer))
        except Absent:
            raise attachments.missing(f"att_{place}") from None
