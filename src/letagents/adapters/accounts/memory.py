"""Accounts that last as long as the process: for tests, and for who embeds a server."""

from collections.abc import Mapping
from datetime import datetime, timedelta

import attrs

from letagents.domain import accounts, host_grants
from letagents.domain.accounts import (
    NOBODY,
    Account,
    Agent,
    Known,
    LoginTaken,
    Principal,
    Role,
    TokenKind,
)
from letagents.domain.host_grants import Given
from letagents.domain.ids import RoomId
from letagents.ports.clock import Clock


@attrs.define
class _Token:
    account_id: str
    kind: TokenKind
    expires_at: datetime | None = None
    used_at: datetime | None = None

    def opens(self, now: datetime) -> bool:
        return self.expires_at is None or self.expires_at > now


@attrs.define
class MemoryAccounts:
    """Accounts by the tokens that they hold. Who has the object may read and write all of it."""

    _clock: Clock
    _accounts: dict[str, Account] = attrs.field(factory=dict)
    _created: dict[str, datetime] = attrs.field(factory=dict)
    _tokens: dict[str, _Token] = attrs.field(factory=dict)
    _agents: dict[str, Agent] = attrs.field(factory=dict)
    _roles: dict[tuple[str, str], Role] = attrs.field(factory=dict)

    @classmethod
    def of(cls, clock: Clock, tokens: Mapping[str, Account]) -> "MemoryAccounts":
        """Return accounts, each under a token of its own."""
        made = cls(clock)
        for token, account in tokens.items():
            made._keep(account)
            made._tokens[accounts.digest(token)] = _Token(account.account_id, TokenKind.OWNER)
        return made

    def _keep(self, account: Account) -> Account:
        self._accounts[account.account_id] = account
        self._created.setdefault(account.account_id, self._clock.now())
        return account

    async def add(self, login: str, *, display_name: str | None = None) -> Account:
        """Make an account."""
        if self._named(login) is not None:
            raise taken(login)
        account_id = f"account_{len(self._accounts) + 1}"
        return self._keep(Account(account_id=account_id, login=login, display_name=display_name))

    async def admit(self, comer: Account) -> Account:
        """Return the account of who comes from another service, made or as it is there now."""
        for account in self._accounts.values():
            if (account.provider, account.provider_user_id) == (
                comer.provider,
                comer.provider_user_id,
            ):
                return self._keep(
                    attrs.evolve(
                        account, display_name=comer.display_name, avatar_url=comer.avatar_url
                    )
                )
        names = accounts.logins_for(comer)
        login = next(name for name in names if self._named(name) is None)
        account_id = f"account_{len(self._accounts) + 1}"
        return self._keep(attrs.evolve(comer, account_id=account_id, login=login))

    async def of_login(self, login: str) -> Account | None:
        """Return the account of that login."""
        return self._named(login)

    def _named(self, login: str) -> Account | None:
        key = accounts.login_key(login)
        found = (one for one in self._accounts.values() if accounts.login_key(one.login) == key)
        return next(found, None)

    async def known(self) -> tuple[Known, ...]:
        """Return the accounts, by their logins."""
        found = sorted(self._accounts.values(), key=lambda one: accounts.login_key(one.login))
        return tuple(self._known(one) for one in found)

    def _known(self, account: Account) -> Known:
        now = self._clock.now()
        held = [one for one in self._tokens.values() if one.account_id == account.account_id]
        usable = [one for one in held if one.kind is TokenKind.OWNER and one.opens(now)]
        used = [one.used_at for one in held if one.used_at is not None]
        created = self._created[account.account_id]
        return Known(account, created, len(usable), max(used, default=None))

    async def revoke(self, account: Account) -> int:
        """End all of the account's tokens; return how many there were."""
        held = [at for at, one in self._tokens.items() if one.account_id == account.account_id]
        for digest in held:
            del self._tokens[digest]
        return len(held)

    async def of_token(self, digest: str) -> Principal:
        """Return whose token of this digest is and of which kind; nobody's if it is unknown."""
        held, now = self._tokens.get(digest), self._clock.now()
        if held is None or held.kind in accounts.SHOW_NOBODY or not held.opens(now):
            return NOBODY
        held.used_at = now
        return Principal(self._accounts[held.account_id], held.kind)

    async def give(
        self, account: Account, digest: str, kind: TokenKind, *, lasts: timedelta | None = None
    ) -> None:
        """Let the token of this digest be the account's from now on."""
        until = self._clock.now() + lasts if lasts is not None else None
        self._tokens[digest] = _Token(account.account_id, kind, until)

    async def take(self, digest: str, kind: TokenKind) -> Account | None:
        """End the token, and return whose it was; None if it was of no use any more."""
        held = self._tokens.get(digest)
        if held is None or held.kind is not kind:
            return None
        del self._tokens[digest]
        return self._accounts[held.account_id] if held.opens(self._clock.now()) else None

    async def grant(self, digest: str) -> Given | None:
        """Return the host grant whose secret has this digest; None if it is of no use any more."""
        held = self._tokens.get(digest)
        if held is None or held.kind is not TokenKind.GRANT or held.expires_at is None:
            return None
        if not held.opens(self._clock.now()):
            return None
        login = self._accounts[held.account_id].login
        return Given(host_grants.id_of(digest), held.account_id, login, held.expires_at)

    async def prolong(self, digest: str, lasts: timedelta) -> Given | None:
        """Let a host grant last so long from now on; None if it was of no use any more."""
        if await self.grant(digest) is not None:
            self._tokens[digest].expires_at = self._clock.now() + lasts
        return await self.grant(digest)

    async def register_agent(
        self,
        account: Account,
        name: str,
        *,
        display_name: str | None = None,
        owner_label: str | None = None,
    ) -> Agent:
        """Return the account's agent of that name, made or with these labels from now on."""
        now, key = self._clock.now(), f"{account.login}/{name}"
        before = self._agents.get(key)
        agent = Agent(
            agent_id=before.agent_id if before else f"agent_{len(self._agents) + 1}",
            name=name,
            display_name=display_name or name,
            owner_id=account.account_id,
            owner_login=account.login,
            owner_label=owner_label or account.label,
            created_at=before.created_at if before else now,
            updated_at=now,
        )
        self._agents[key] = agent
        return agent

    async def agent(self, key: str) -> Agent | None:
        """Return the agent of that key."""
        return self._agents.get(key)

    async def agents_of(self, account: Account) -> tuple[Agent, ...]:
        """Return the account's agents, by their names."""
        found = [one for one in self._agents.values() if one.owner_id == account.account_id]
        return tuple(sorted(found, key=lambda one: one.name))

    async def enter(self, account: Account, room_id: RoomId) -> Role:
        """Note that the account has entered the room, and return what it is there."""
        place = str(room_id)
        admins = [at for at, role in self._roles.items() if at[0] == place and role is Role.ADMIN]
        role = accounts.role_on_entering(
            is_admin=(place, account.account_id) in admins, has_admins=bool(admins)
        )
        self._roles[place, account.account_id] = role
        return role

    async def role(self, account: Account, room_id: RoomId) -> Role | None:
        """Return what the account is in the room; None if it never entered it."""
        return self._roles.get((str(room_id), account.account_id))

    async def entered(self, account: Account) -> frozenset[RoomId]:
        """Return the rooms that the account has entered."""
        return frozenset(RoomId(room) for room, who in self._roles if who == account.account_id)

    async def prove(self) -> None:
        """Do nothing: there is no disk."""

    def is_admin(self, agent_key: str, room_id: RoomId) -> bool:
        """Whether whoever speaks under that key is an admin of the room."""
        account_id = self._owner_of(agent_key)
        return self._roles.get((str(room_id), account_id or "")) is Role.ADMIN

    def _owner_of(self, agent_key: str) -> str | None:
        agent = self._agents.get(agent_key)
        if agent is not None:
            return agent.owner_id
        login = accounts.login_of_person(agent_key)
        person = self._named(login) if login is not None else None
        return person.account_id if person is not None else None


def taken(login: str) -> LoginTaken:
    """Return the error for a login that somebody has."""
    return LoginTaken(
        f"There is an account with the login {login}.",
        remedy=f"Choose another login, or run `letagents accounts token {login}` to give that "
        "account one more token.",
    )
