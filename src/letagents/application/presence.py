"""Saying what an agent does, beside what it has done; whether that is heard changes nothing."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio
import attrs
import structlog

from letagents.domain import fencing
from letagents.domain.errors import LetAgentsError
from letagents.domain.ids import MessageId
from letagents.domain.sessions import Connection

if TYPE_CHECKING:  # a process that says nothing loads nothing of it
    from letagents.domain.tasks import Task
    from letagents.domain.whereabouts import Said
    from letagents.ports.whereabouts import Noticeboard

log = structlog.get_logger()

PATIENCE = 5.0
"""Seconds that a room may take to hear it."""

PresenceOpening = Callable[[], "Noticeboard | None"]
"""Returns where it is said; None where rooms ask nobody what they do."""


@attrs.frozen
class Presence:
    """What one client's agents say they do."""

    opening: PresenceOpening
    patience: float = PATIENCE

    async def posted(self, by: Connection, line: str) -> None:
        """Let it be known what a status line says of who posts it."""
        if self.opening() is not None:
            from letagents.domain import whereabouts

            await self._say(by, whereabouts.of_line(line))

    async def moved(self, by: Connection, task: "Task") -> None:
        """Let it be known what who has moved a task does now, as far as that tells it."""
        if self.opening() is not None:
            from letagents.domain import whereabouts

            if (said := whereabouts.of_task(task)) is not None:
                await self._say(by, said)

    async def observed(self, by: Connection, first: MessageId, last: MessageId) -> None:
        """Let it be known that who waited was shown messages, where the room does not see that."""
        if (board := self.opening()) is not None and not fencing.is_numbered(by.fence):
            await self._heard(by, board.observed(by.session.room_id, first, last, by.fence))

    async def _say(self, by: Connection, said: "Said") -> None:
        if (board := self.opening()) is not None:
            whole = attrs.evolve(said, host=by.session.host)
            await self._heard(by, board.note(by.session.room_id, whole, by.fence))

    async def _heard(self, by: Connection, told: Awaitable[object]) -> None:
        room_id = by.session.room_id
        try:
            with anyio.fail_after(self.patience):
                await told
        except (LetAgentsError, TimeoutError) as error:
            code = error.code if isinstance(error, LetAgentsError) else "timeout"
            log.info("presence.unheard", room_id=str(room_id), code=code)
