"""The files of messages, for one client: attached to what it says, and had again."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import attrs

from letagents.domain.errors import NotAvailable
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.sessions import Connection

if TYPE_CHECKING:  # a process that attaches nothing loads nothing of it
    from letagents.domain.attachments import Fetched, File
    from letagents.ports.attachments import Attachments

AttachmentsOpening = Callable[[], "Attachments | None"]
"""Returns what keeps files; None where rooms keep none."""


def no_attachments() -> None:
    """Say that rooms keep no files."""


@attrs.frozen
class Files:
    """The files of messages. Its verbs raise what those of the port do, and NotAvailable."""

    opening: AttachmentsOpening

    async def upload(self, by: Connection, files: "Iterable[File]") -> tuple[str, ...]:
        """Let files wait for a message; return what it is to name."""
        kept = self._kept()
        made = [await kept.upload(by.session.room_id, one, by.fence) for one in files]
        return tuple(one.upload_id for one in made)

    async def fetch(self, room_id: RoomId, message_id: MessageId, place: int) -> "Fetched":
        """Return the file at that place among those of a message."""
        return await self._kept().fetch(room_id, message_id, place)

    def _kept(self) -> "Attachments":
        if (kept := self.opening()) is None:
            raise NotAvailable(
                "These rooms keep no files.", remedy="Say in the room where the file can be had."
            )
        return kept
