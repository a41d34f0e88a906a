"""Renewing host grants before they end, and their bearers before those do."""

import attrs
import structlog

from letagents.application.agents.granted_sessions import GrantedSessions, Held
from letagents.domain import held_grants
from letagents.domain.errors import LetAgentsError
from letagents.domain.generations import FenceLost
from letagents.domain.held_grants import HEARTBEAT, LASTS, Grant, GrantCallFailed

log = structlog.get_logger()


@attrs.frozen
class GrantRenewals:
    """Renews what is held of one supervisor's agents."""

    granted: GrantedSessions

    async def run(self) -> None:
        """Renew what is to be renewed, until this is cancelled."""
        while True:
            await self.granted.wait(HEARTBEAT)
            await self.beat()

    async def beat(self) -> None:
        """Look at each grant, and at its bearer, once."""
        for entry_id in self.granted.entry_ids:
            try:
                await self._looked_at(entry_id)
            except FenceLost:
                raise
            except LetAgentsError as error:
                log.warning("grant.unrenewed", entry_id=entry_id, code=error.code)
            except Exception:  # the other grants, which are in memory alone, are to be kept
                log.exception("grant.failed", entry_id=entry_id)

    async def _looked_at(self, entry_id: str) -> None:
        held, now = self.granted.of(entry_id), self.granted.supervising.clock.now()
        grant = held.grant
        if grant.expires_at <= now:
            await self.granted.block(entry_id, grant, "Its host grant is over.")
        elif held_grants.is_due(grant, now=now):
            await self._renew(entry_id, held, grant)
        elif held.made is not None and held_grants.is_to_be_rotated(held.ends, now=now):
            await self.granted.bound(entry_id, fresh=True)

    async def _renew(self, entry_id: str, held: Held, grant: Grant) -> None:
        try:
            answer = await self.granted.way_to(grant.api_url).server.renew(grant, LASTS)
        except GrantCallFailed as error:
            if error.is_definitive:
                why = f"Its host grant was refused: {error.happened}."
                await self.granted.block(entry_id, grant, why)
            raise
        renewed = held_grants.renewed(grant, answer, now=self.granted.supervising.clock.now())
        if renewed is None:
            why = "Its host grant was answered with another one."
            await self.granted.block(entry_id, grant, why)
            return
        if held.grant != grant:
            return  # a newer one was installed meanwhile
        held.grant = renewed
        log.info("grant.renewed", entry_id=entry_id)
        if held.made is not None:
            await self.granted.bound(entry_id, fresh=True)
