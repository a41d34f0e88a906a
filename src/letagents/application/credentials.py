"""With which token this machine calls the server of its rooms, and what a refusal of it changes.

The environment's token wins over a sign-in that was stored, and that over the one of a server which
this machine runs itself. (Source: mcp-tools 4.1, 4.2.)
"""

from collections.abc import Mapping

import attrs
import structlog

from letagents.domain import connections, serving, sign_in
from letagents.domain.errors import LetAgentsError
from letagents.domain.ids import SessionId, Token
from letagents.domain.local_state import Account, LocalState, account, stored_token
from letagents.ports.clock import Clock
from letagents.ports.own_sign_ins import OwnSignIns
from letagents.ports.state import StateStore

log = structlog.get_logger()

ENVIRONMENT, STORED, OWN = "env", "local_state", "own_server"


@attrs.frozen
class Shown:
    """A token, where it is from, and whose it is as far as that is known here."""

    token: str = attrs.field(repr=False)
    source: str
    account: Account | None = None


@attrs.define
class Credentials:
    """What this process shows to one server."""

    state: StateStore
    clock: Clock
    url: str
    environment: str | None = attrs.field(repr=False)
    own: OwnSignIns
    _found: Shown | None = None

    async def token(self) -> str | None:
        """Return the token to show, if there is any."""
        shown = await self.shown()
        return shown.token if shown is not None else None

    async def shown(self) -> Shown | None:
        """Return what is shown, if there is anything."""
        if self.environment is not None:
            return Shown(self.environment, ENVIRONMENT)
        return await self._stored() or await self._of_own_server()

    async def _stored(self) -> Shown | None:
        state, now = await self.state.read(), self.clock.now()
        auth = state.extra.get("auth")
        if not isinstance(auth, Mapping) or not sign_in.is_for(auth, self.url):
            return None
        token = stored_token(state, now=now)
        return Shown(token, STORED, account(state, now=now)) if token is not None else None

    async def _of_own_server(self) -> Shown | None:
        if self._found is None:
            fitting = [one for one in await self.own.all() if serving.is_for(one, self.url)]
            self._found = Shown(fitting[-1].token, OWN) if fitting else None
        return self._found

    async def refused(self, token: str) -> None:
        """Forget a stored sign-in whose token the server knows no more.

        Only what was shown is forgotten: somebody may have signed in since.
        """
        self._found = None
        now = self.clock.now()

        def forgotten(state: LocalState) -> tuple[LocalState, bool]:
            if stored_token(state, now=now) != token:
                return state, False
            kept = {name: value for name, value in state.extra.items() if name != "auth"}
            return attrs.evolve(state, extra=kept), True

        try:
            if self.environment is None and await self.state.transact(forgotten):
                log.warning("account.signed_out")
        except LetAgentsError as error:
            log.warning("state.unavailable", code=error.code)

    async def session_ended(self, session_id: SessionId, token: Token) -> None:
        """Note that the server ended a session. A failure here is no failure: it says so again."""

        def noted(state: LocalState) -> tuple[LocalState, object]:
            return connections.end_session(state, session_id, now=self.clock.now(), token=token)

        try:
            await self.state.transact(noted)
        except LetAgentsError as error:
            log.warning("state.unavailable", session_id=str(session_id), code=error.code)
