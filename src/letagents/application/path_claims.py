"""The paths that are claimed in rooms, for one client: claimed, let go, and looked at."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import attrs
import structlog

from letagents.application.connections import Connections, fence_of, ids_of
from letagents.application.epochs import WORK, Known, epoch_of
from letagents.domain.errors import NotAvailable
from letagents.domain.ids import RoomId
from letagents.domain.sessions import Connection
from letagents.ports.surroundings import Checkouts

if TYPE_CHECKING:  # a process that asks for nothing of this loads nothing of it
    from letagents.domain.path_claims import Granted, Mode, PathClaim, Query
    from letagents.ports.path_claims import PathClaimPage, PathClaims

log = structlog.get_logger()

PathsOpening = Callable[[], "PathClaims | None"]
"""Returns what keeps claimed paths; None where rooms keep none."""


@attrs.frozen
class Paths:
    """The claimed paths of rooms, for one client. Its verbs raise what those of the port do.

    They show the epoch of the task's work lease that the session knows of when they begin, unless
    the call names one.
    """

    opening: PathsOpening
    connections: Connections
    checkouts: Checkouts

    @property
    def kept(self) -> "PathClaims":
        """What keeps them. Raises NotAvailable where nothing does."""
        if (kept := self.opening()) is None:
            raise NotAvailable(
                "In these rooms no paths can be claimed.",
                remedy="Say in the room what you work on: send_message.",
            )
        return kept

    async def claim(
        self,
        by: Connection,
        task_id: str,
        texts: Sequence[str],
        *,
        mode: "Mode",
        cwd: str | None = None,
        repository: str | None = None,
        epoch: int | None = None,
    ) -> "Granted":
        """Claim paths of the repository that is named, or else `cwd` is in, or else the room's."""
        from letagents.domain import path_claims

        kept, room_id, epochs = self.kept, by.session.room_id, self.connections.epochs
        patterns = path_claims.patterns_of(texts)
        named = path_claims.named_repository(repository) if repository is not None else None
        with epochs.shown(by, task_id, epoch) as known:
            checkout = (await self.checkouts.look(cwd)).checkout if named is None else None
            wanted = path_claims.Wanted(
                task_id=task_id,
                patterns=patterns,
                repository=named or path_claims.repository_of(checkout, room_id, cwd),
                mode=mode,
                root=checkout.root if checkout else None,
                epoch=epoch_of(known, task_id, WORK) if epoch is None else epoch,
            )
            granted = await self.connections.told(by, kept.claim(room_id, wanted, by.fence))
        epochs.learn(by, task_id, Known(WORK, granted.claim.lease.epoch), known)
        log.info("paths.claimed", **ids_of(by), task_id=task_id)
        return granted

    async def release(
        self,
        by: Connection,
        task_id: str,
        claim_id: str | None = None,
        *,
        epoch: int | None = None,
    ) -> "tuple[PathClaim, ...]":
        """Let one claim of a task go, or all that one has for it."""
        room_id, fence = by.session.room_id, by.fence
        with self.connections.epochs.shown(by, task_id, epoch) as known:
            shown = epoch_of(known, task_id, WORK) if epoch is None else epoch
            asked = self.kept.release(room_id, task_id, claim_id=claim_id, epoch=shown, fence=fence)
            released = await self.connections.told(by, asked)
        log.info("paths.released", **ids_of(by), task_id=task_id)
        return released

    async def claims(
        self, room_id: RoomId, query: "Query", viewer: Connection | None = None
    ) -> "PathClaimPage":
        """Return a page of the claims that have not ended."""
        asked = self.kept.claims(room_id, query, fence_of(viewer))
        return await self.connections.told(viewer, asked)
