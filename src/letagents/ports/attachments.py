"""What the application needs of the files that go with messages.

R50  Whoever may read a room may have the files of its messages, and nobody may have one that waits.
"""

from typing import Protocol

from letagents.domain.attachments import Fetched, File, Upload
from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId


class Attachments(Protocol):
    """The files of rooms."""

    async def upload(self, room_id: RoomId, file: File, fence: Fence) -> Upload:
        """Let a file wait for a message of who uploads it.

        Raises:
            TooManyUploads: too many wait already.
            UnknownRoom, ConnectionLost: as RoomTransport.post.
        """
        ...

    async def fetch(
        self, room_id: RoomId, message_id: MessageId, place: int, viewer: Fence | None = None
    ) -> Fetched:
        """Return the file that stands at that place among those of a message, counted from 1.

        Raises:
            UnknownAttachment: there is none.
            UnknownRoom, ConnectionLost: as RoomTransport.read.
        """
        ...
