"""What a server needs to know of who may use it, wherever that is kept.

Q20  What was answered is kept: any process that opens the same place knows the account, its
     tokens and its agents.
Q21  A login names one account, whatever the case of its letters; a token's digest one account.
Q22  Registering an agent's name again gives the same agent, under the same key.
Q23  A token that ended, by itself or by being revoked, opens nothing any more: at once in the
     process that ended it, within FORGOTTEN in any other.
J124  A host grant shows nobody: it is found as a grant alone, and lasts on when it is renewed.
Q24  A code opens one thing, once, whoever asks at the same time.
Q25  A room has the admin who entered it first, whoever enters at the same time.
Q26  Who comes from another service is known by their id there, and gets no other's account.
"""

from datetime import timedelta
from typing import Protocol

from letagents.domain.accounts import Account, Agent, Known, Principal, Role, TokenKind
from letagents.domain.host_grants import Given
from letagents.domain.ids import RoomId

FORGOTTEN = timedelta(seconds=2)


class Agents(Protocol):
    """The agents that act for accounts."""

    async def register_agent(
        self,
        account: Account,
        name: str,
        *,
        display_name: str | None = None,
        owner_label: str | None = None,
    ) -> Agent:
        """Return the account's agent of that name, made or with these labels from now on."""
        ...

    async def agent(self, key: str) -> Agent | None:
        """Return the agent of that key."""
        ...

    async def agents_of(self, account: Account) -> tuple[Agent, ...]:
        """Return the account's agents, by their names."""
        ...


class Tokens(Protocol):
    """What accounts show when they call. Only digests come here."""

    async def of_token(self, digest: str) -> Principal:
        """Return whose token of this digest is and of which kind; nobody's if it is unknown."""
        ...

    async def give(
        self, account: Account, digest: str, kind: TokenKind, *, lasts: timedelta | None = None
    ) -> None:
        """Let the token of this digest be the account's from now on."""
        ...

    async def take(self, digest: str, kind: TokenKind) -> Account | None:
        """End the token, and return whose it was; None if it was of no use any more."""
        ...

    async def grant(self, digest: str) -> Given | None:
        """Return the host grant whose secret has this digest; None if it is of no use any more."""
        ...

    async def prolong(self, digest: str, lasts: timedelta) -> Given | None:
        """Let a host grant last so long from now on; None if it was of no use any more."""
        ...


class Members(Protocol):
    """What accounts are in rooms."""

    async def enter(self, account: Account, room_id: RoomId) -> Role:
        """Note that the account has entered the room, and return what it is there."""
        ...

    async def role(self, account: Account, room_id: RoomId) -> Role | None:
        """Return what the account is in the room; None if it never entered it."""
        ...

    async def entered(self, account: Account) -> frozenset[RoomId]:
        """Return the rooms that the account has entered."""
        ...

    def is_admin(self, agent_key: str, room_id: RoomId) -> bool:
        """Whether whoever speaks under that key is an admin of the room. Blocks; for any thread."""
        ...


class Accounts(Agents, Tokens, Members, Protocol):
    """All accounts of a server."""

    async def add(self, login: str, *, display_name: str | None = None) -> Account:
        """Make an account.

        Raises:
            LoginTaken: there is one of that login.
        """
        ...

    async def admit(self, comer: Account) -> Account:
        """Return the account of who comes from another service, made or as it is there now."""
        ...

    async def of_login(self, login: str) -> Account | None:
        """Return the account of that login."""
        ...

    async def known(self) -> tuple[Known, ...]:
        """Return the accounts, by their logins."""
        ...

    async def revoke(self, account: Account) -> int:
        """End all of the account's tokens; return how many there were."""
        ...

    async def prove(self) -> None:
        """See that something can be written now and kept.

        Raises:
            RoomsUnavailable, OutcomeUnknown: it cannot.
        """
        ...
