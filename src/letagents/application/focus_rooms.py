"""The rooms beside rooms for one client: found, opened, set and concluded."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs
import structlog

from letagents.application.connections import Connections
from letagents.domain.errors import NotAvailable
from letagents.domain.ids import RoomId
from letagents.domain.rooms import Room
from letagents.domain.sessions import Connection

if TYPE_CHECKING:  # a process that asks for nothing of this loads nothing of it
    from letagents.domain.focus_rooms import Changes, Outcome
    from letagents.ports.focus_rooms import Concluded, FocusRooms, Opened

log = structlog.get_logger()

FocusOpening = Callable[[], "FocusRooms | None"]
"""Returns what keeps focus rooms; None where rooms have none beside them."""


@attrs.frozen
class Beside:
    """The focus rooms of one client. Its verbs raise what those of the port do."""

    opening: FocusOpening
    connections: Connections

    @property
    def focus(self) -> "FocusRooms":
        """What keeps them. Raises NotAvailable where nothing does."""
        if (focus := self.opening()) is None:
            raise NotAvailable(
                "These rooms have none beside them.", remedy="Make another room: create_room."
            )
        return focus

    async def beside(self, room_id: RoomId) -> tuple[Room, ...]:
        """Return the focus rooms beside the room, the newest first."""
        return await self.focus.beside(room_id)

    async def open(
        self, by: Connection, *, task_id: str | None = None, title: str | None = None
    ) -> "Opened":
        """Return the open focus room of a task, called `title`, or of a title alone."""
        room_id, fence, focus = by.session.room_id, by.fence, self.focus
        if task_id is not None:
            asked = focus.open_for_task(room_id, task_id, fence, display_name=title)
        else:
            asked = focus.open(room_id, title or "", fence)
        opened = await self.connections.told(by, asked)
        if opened.is_new:
            log.info("room.opened", room_id=str(opened.room.room_id))
        return opened

    async def set(self, by: Connection, key: str, changes: "Changes") -> Room:
        """Set how a focus room belongs to the room beside it."""
        return await self.connections.told(
            by, self.focus.set(by.session.room_id, key, changes, by.fence)
        )

    async def conclude(self, by: Connection, key: str, outcome: "Outcome") -> "Concluded":
        """Conclude it."""
        asked = self.focus.conclude(by.session.room_id, key, outcome, by.fence)
        done = await self.connections.told(by, asked)
        log.info("room.concluded", room_id=str(done.room.room_id))
        return done
