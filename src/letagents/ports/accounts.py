"""What a server needs to know of who may use it, wherever that is kept.

Q20  What was answered is kept: any process that opens the same place knows the account, its
     tokens and its agents.
Q21  A login names one account, whatever the case of its letters; a token's digest one account.
Q22  Registering an agent's name again gives the same agent, under the same key.
"""

from typing import Protocol

from letagents.domain.accounts import Account, Agent


class Accounts(Protocol):
    """Accounts, their tokens and their agents."""

    async def of_token(self, digest: str) -> Account | None:
        """Return the account that holds the token of this digest."""
        ...

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
