"""Chats of clients that start no process: a server holds for each account what one would hold.

An account's workers, and the connections that it has for them, are in a state that the server keeps
for it. So a handle is good in any chat of its account, and is unknown in all others.
"""

from collections.abc import Callable

import attrs

from letagents.application.client import LetAgents
from letagents.application.server.account_rooms import AccountRooms
from letagents.application.server.hosting import Hosting
from letagents.domain import accounts, local_state
from letagents.domain.accounts import Account, Principal
from letagents.ports.forges import Forges
from letagents.ports.state import StateStore
from letagents.ports.surroundings import Checkouts, Surroundings


@attrs.frozen
class Elsewhere:
    """What is known here of those who call from elsewhere, and what is kept for them."""

    state_of: Callable[[Account], StateStore]
    surroundings: Surroundings
    checkouts: Checkouts
    forges: Forges


@attrs.frozen
class RemoteChats:
    """Opens the ways into rooms of those who call a server."""

    hosting: Hosting
    elsewhere: Elsewhere

    def of(self, principal: Principal, address: str) -> LetAgents:
        """Return what chats of that account, which calls from `address`, are opened from.

        Raises:
            NotSignedIn: there is no account.
        """
        hosting, account = self.hosting, accounts.signed_in(principal)
        boards = hosting.boards
        return LetAgents(
            state=self.elsewhere.state_of(account),
            rooms=AccountRooms(hosting, principal, address),
            surroundings=self.elsewhere.surroundings,
            clock=hosting.clock,
            ids=hosting.ids,
            longest_wait=hosting.longest_wait,
            registry=_Known(account),
            checkouts=self.elsewhere.checkouts,
            forges=self.elsewhere.forges,
            memory=lambda: hosting.memory,
            board=lambda: boards.board if boards else None,
            governance=lambda: boards.governance if boards else None,
            paths=lambda: boards.paths if boards else None,
            presence=lambda: hosting.roster,
            focus=lambda: hosting.focus,
            receipts=lambda: hosting.receipts,
            keeps_connections=True,
            may_look=lambda room_id: hosting.entrances.check_entered(principal, room_id),
            meaning=hosting.entrances.meant,
        )


@attrs.frozen
class _Known:
    """Who calls is known: the server has let them in."""

    _account: Account

    async def account(self) -> local_state.Account:
        known = self._account
        return local_state.Account(known.account_id, known.login, known.display_name)

    async def verified(self) -> local_state.Account:
        return await self.account()
