"""The methods by which an agent is given a host grant, or gives it up. (Source: supervisor 3.3.)"""

from datetime import datetime

import attrs

from letagents.application.agents.granting import Grants, ProviderUnavailable, Stale
from letagents.domain import held_grants
from letagents.domain.deeds import Doer
from letagents.domain.held_grants import Grant
from letagents.domain.ids import Credential
from letagents.entrypoints.daemon import callers
from letagents.entrypoints.daemon.table import Table
from letagents.wire import moments
from letagents.wire import supervisor as wire
from letagents.wire.supervisor import Params, Request

_TEXTS = tuple(one.name for one in attrs.fields(Grant) if one.name not in ("secret", "generation"))


@attrs.frozen
class GrantMethods:
    """The methods about host grants."""

    grants: Grants

    def table(self) -> Table:
        """Return them by their names."""
        return {wire.INSTALL_GRANT: self._install, wire.GIVE_UP_GRANT: self._give_up}

    async def _give_up(self, request: Request) -> object:
        entry_id, by = Params.of(request).text("entry_id"), self._doer(request)
        left = await self.grants.give_up(entry_id, by=by)
        return {"given_up": True, "entry_id": left.entry_id}

    async def _install(self, request: Request) -> object:
        params = Params.of(request)
        only, recovers = params.flag("credential_only"), params.flag("recovery_only")
        grant, generation = grant_of(params), params.number("daemon_generation")
        if grant is None:
            return {"status": "stale"}
        try:
            session_id = await self.grants.install(
                grant,
                generation,
                credential_only=only,
                recovery_only=recovers,
                by=self._doer(request),
            )
        except Stale:
            return {"status": "stale"}
        except ProviderUnavailable:
            return {"status": "provider_unavailable"}
        return {"status": "installed"} | ({"agent_session_id": session_id} if session_id else {})

    def _doer(self, request: Request) -> Doer:
        sessions = self.grants.granted.supervising
        return callers.doer(request, sessions.clock.now(), sessions.hold.generation)


def grant_of(params: Params) -> Grant | None:
    """Return the grant that is handed over; None where its end cannot be read.

    Raises:
        Malformed: it is no grant.
    """
    names = (*_TEXTS, "supervisor_grant", "grant_expires_at")
    fields = {name: params.text(name).strip() for name in names}
    held_grants.check_asked(
        fields,
        credential_only=params.flag("credential_only"),
        recovery_only=params.flag("recovery_only"),
    )
    ends, secret = _moment(fields["grant_expires_at"]), fields["supervisor_grant"]
    if ends is None or not Credential.fits(secret):
        return None
    return Grant(
        entry_id=fields["entry_id"],
        room_id=fields["room_id"],
        agent_key=fields["agent_key"],
        grant_id=fields["grant_id"],
        secret=Credential(secret),
        generation=params.number("grant_generation"),
        api_url=fields["api_url"],
        host_id=fields["host_id"],
        installation_id=fields["installation_id"],
        expires_at=ends,
    )


def _moment(text: str) -> datetime | None:
    try:
        return moments.from_text(text)
    except ValueError:
        return None
