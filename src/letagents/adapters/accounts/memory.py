"""Accounts that last as long as the process: for tests, and for who embeds a server."""

from collections.abc import Mapping

import attrs

from letagents.domain import accounts
from letagents.domain.accounts import Account, Agent
from letagents.ports.clock import Clock


@attrs.define
class MemoryAccounts:
    """Accounts by the tokens that they hold. Who has the object may read and write all of it."""

    _clock: Clock
    _by_digest: dict[str, Account] = attrs.field(factory=dict)
    _agents: dict[str, Agent] = attrs.field(factory=dict)

    @classmethod
    def of(cls, clock: Clock, tokens: Mapping[str, Account]) -> "MemoryAccounts":
        """Return accounts, each under a token of its own."""
        return cls(clock, {accounts.digest(token): one for token, one in tokens.items()})

    async def of_token(self, digest: str) -> Account | None:
        """Return the account that holds the token of this digest."""
        return self._by_digest.get(digest)

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
