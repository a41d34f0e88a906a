"""What the processes of agents ask about their sessions: bound, verified, lent, and moved on.

(Source: supervisor 3.)
"""

import attrs

from letagents.application.agents.supervising import Supervising
from letagents.domain.bindings import BindingRefused, Claim, Lent
from letagents.domain.ids import Token
from letagents.entrypoints.daemon.table import Table
from letagents.wire import supervisor as wire
from letagents.wire.supervisor import Params, Request


@attrs.frozen
class Bindings:
    """The methods about sessions."""

    sessions: Supervising

    def table(self) -> Table:
        """Return the methods by their names."""
        return {
            wire.BIND: self._bind,
            wire.VERIFY: self._verify,
            wire.BORROW: self._borrow,
            wire.INSTALL: self._install,
            wire.CHECKPOINT: self._checkpoint,
        }

    async def _bind(self, request: Request) -> object:
        params = Params.of(request)
        claim, token = claim_of(params), _token(params)
        await self.sessions.check(claim)
        if token is None:
            raise BindingRefused(
                "Worker session token is not valid.", remedy="Register the session again."
            )
        await self.sessions.bind(claim, token)
        return {"bound": True, **_of_session(params)}

    async def _verify(self, request: Request) -> object:
        params = Params.of(request)
        await self.sessions.verify(claim_of(params), _token(params))
        return {"verified": True, **_of_session(params)}

    async def _borrow(self, request: Request) -> object:
        params = Params.of(request)
        generation, turn_id = params.number("daemon_generation"), params.text("provider_turn_id")
        lent, token = await self.sessions.lend(claim_of(params), generation, turn_id or None)
        if lent is Lent.AVAILABLE and token is not None:
            return {"status": lent.value, "credential": token.value}
        return {"status": lent.value}

    async def _install(self, request: Request) -> object:
        params = Params.of(request)
        generation = params.number("daemon_generation")
        claim, token = claim_of(params), _token(params)
        is_there = token is not None and await self.sessions.install(claim, generation, token)
        return {"status": "installed" if is_there else "stale"}

    async def _checkpoint(self, request: Request) -> object:
        params = Params.of(request)
        there = await self.sessions.checkpoint(claim_of(params), params.text("room_cursor"))
        return {
            "checkpointed": True,
            "entry_id": params.text("entry_id"),
            "room_cursor": str(there),
        }


def claim_of(params: Params) -> Claim:
    """Return which session of which entry a request says that it is about."""
    return Claim(
        entry_id=params.text("entry_id"),
        room_id=params.text("room_id"),
        work_attempt_id=params.text("work_attempt_id"),
        execution_id=params.text("execution_generation_id"),
        session_id=params.text("agent_session_id"),
        api_url=params.text("api_url"),
    )


def _token(params: Params) -> Token | None:
    text = params.text("agent_session_token")
    return Token(text) if Token.fits(text) else None


def _of_session(params: Params) -> dict[str, object]:
    names = ("entry_id", "agent_session_id")
    return {name: params.text(name) for name in names}
