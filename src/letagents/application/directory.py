"""Who this client is at the server of its rooms: asked once for each token, and then remembered."""

import attrs

from letagents.application.credentials import Credentials, Shown
from letagents.domain.errors import AccountUnverified, LetAgentsError, NotSignedIn
from letagents.domain.local_state import Account
from letagents.ports.server import Server


@attrs.define
class Directory:
    """Knows accounts by the tokens that are shown."""

    credentials: Credentials
    server: Server
    _known: dict[str, Account] = attrs.field(factory=dict, repr=False)

    async def account(self) -> Account | None:
        """Return who is signed in, as far as it can be told."""
        try:
            return await self.verified()
        except LetAgentsError:
            return None

    async def verified(self) -> Account | None:
        """Return who is signed in; None if nobody is.

        Raises:
            AccountUnverified: somebody is, and who it is cannot be told now.
            NotSignedIn: the server knows the token that is shown no more.
        """
        shown = await self.credentials.shown()
        if shown is None:
            return None
        return shown.account or self._known.get(shown.token) or await self._asked(shown)

    async def _asked(self, shown: Shown) -> Account:
        try:
            account = await self.server.whoami()
        except NotSignedIn:
            raise
        except LetAgentsError as error:
            raise AccountUnverified(error.happened) from error
        self._known = {shown.token: account}
        return account
