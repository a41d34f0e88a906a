"""Approvals for one client: asked for, decided, and who decides."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs
import structlog

from letagents.application.connections import Connections, fence_of, ids_of
from letagents.domain.errors import NotAvailable, OutcomeUnknown
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.sessions import Connection

if TYPE_CHECKING:  # a process that asks for nothing of this loads nothing of it
    from letagents.domain.approvals import Intent, IntentStatus
    from letagents.domain.governance import (
        BoardSettings,
        Candidate,
        Failover,
        Manager,
        ManagerMode,
        RuntimeSource,
    )
    from letagents.domain.governance_acts import Act
    from letagents.domain.intents import Action, Payload
    from letagents.ports.governance import Decided, Governance, Governed, Intents, Proposed

log = structlog.get_logger()

GovernanceOpening = Callable[[], "Governance | None"]
"""Returns what governs boards; None where rooms have none."""


@attrs.frozen
class Governing:
    """The approvals of rooms for one client. Its verbs raise what those of the port do."""

    opening: GovernanceOpening
    connections: Connections

    @property
    def governance(self) -> "Governance":
        """What governs boards. Raises NotAvailable where nothing does."""
        if (governance := self.opening()) is None:
            raise NotAvailable(
                "These rooms have no task board, and nothing to approve.",
                remedy="Agree on the work by messages: send_message.",
            )
        return governance

    async def governed(self, room_id: RoomId, viewer: Connection | None = None) -> "Governed":
        """Return how the board is governed."""
        return await self.connections.told(
            viewer, self.governance.governed(room_id, fence_of(viewer))
        )

    async def acts(self, room_id: RoomId, viewer: Connection | None = None) -> "tuple[Act, ...]":
        """Return what was done last to how the board is governed."""
        return await self.connections.told(
            viewer, self.governance.acts(room_id, viewer=fence_of(viewer))
        )

    async def candidates(
        self, room_id: RoomId, viewer: Connection | None = None
    ) -> "tuple[Candidate, ...]":
        """Return the workers that are in the room."""
        return await self.connections.told(
            viewer, self.governance.candidates(room_id, fence_of(viewer))
        )

    async def set_mode(
        self,
        by: Connection,
        mode: "ManagerMode | None" = None,
        failover: "Failover | None" = None,
    ) -> "BoardSettings":
        """Change how much has to be approved, and what becomes of a dead manager's board."""
        asked = self.governance.set_mode(by.session.room_id, mode, failover, fence=by.fence)
        settings = await self.connections.told(by, asked)
        log.info("board.governed", **ids_of(by), code=settings.manager_mode.value)
        return settings

    async def assign_manager(
        self, by: Connection, session_id: SessionId, runtime_source: "RuntimeSource"
    ) -> "Manager":
        """Let that worker manage the board."""
        room_id = by.session.room_id
        asked = self.governance.assign_manager(room_id, session_id, runtime_source, fence=by.fence)
        manager = await self.connections.told(by, asked)
        log.info("manager.assigned", **ids_of(by))
        return manager

    async def release_manager(self, by: Connection, reason: str | None) -> "Manager | None":
        """End the assignment."""
        asked = self.governance.release_manager(by.session.room_id, reason, fence=by.fence)
        manager = await self.connections.told(by, asked)
        log.info("manager.released", **ids_of(by))
        return manager

    async def propose(self, by: Connection, action: "Action", payload: "Payload") -> "Proposed":
        """Ask for an approval; where the answer got lost, ask once more, which changes nothing."""

        async def ask() -> "Proposed":
            room_id = by.session.room_id
            asked = self.governance.propose(room_id, action, payload, fence=by.fence)
            return await self.connections.told(by, asked)

        try:
            proposed = await ask()
        except OutcomeUnknown:
            proposed = await ask()
        log.info("intent.proposed", **ids_of(by), intent_id=proposed.intent.intent_id)
        return proposed

    async def intents(
        self,
        room_id: RoomId,
        status: "IntentStatus | None" = None,
        *,
        after: str | None = None,
        viewer: Connection | None = None,
    ) -> "Intents":
        """Return intents, oldest first."""
        asked = self.governance.intents(room_id, status, after=after, viewer=fence_of(viewer))
        return await self.connections.told(viewer, asked)

    async def intent(
        self, room_id: RoomId, intent_id: str, viewer: Connection | None = None
    ) -> "Intent":
        """Return one intent. Raises IntentNotFound."""
        asked = self.governance.intent(room_id, intent_id, fence_of(viewer))
        return await self.connections.told(viewer, asked)

    async def approve(self, by: Connection, intent_id: str, reason: str | None) -> "Decided":
        """Approve an intent."""
        asked = self.governance.approve(by.session.room_id, intent_id, reason, fence=by.fence)
        decided = await self.connections.told(by, asked)
        log.info("intent.approved", **ids_of(by), intent_id=intent_id)
        return decided

    async def deny(self, by: Connection, intent_id: str, reason: str | None) -> "Decided":
        """Deny an intent."""
        asked = self.governance.deny(by.session.room_id, intent_id, reason, fence=by.fence)
        decided = await self.connections.told(by, asked)
        log.info("intent.denied", **ids_of(by), intent_id=intent_id)
        return decided
