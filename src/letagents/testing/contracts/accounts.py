"""What every Accounts does: inherit the suite and give it a fixture `accounts`."""

import pytest

from letagents.domain.accounts import Account, digest
from letagents.ports.accounts import Accounts

ADA = Account(account_id="account_1", login="ada", display_name="Ada")
BOB = Account(account_id="account_2", login="bob")
TOKENS = {"ada's token": ADA, "bob's token": BOB}


@pytest.mark.anyio
class AccountsContract:
    """Needs a fixture `accounts` that holds TOKENS; may have a fixture `elsewhere`."""

    @pytest.fixture
    def elsewhere(self, accounts: Accounts) -> Accounts:
        """Return another one on the place of `accounts`, where there can be one."""
        return accounts

    @pytest.mark.rule("Q21")
    async def test_a_token_names_its_account_and_an_unknown_one_none(
        self, accounts: Accounts
    ) -> None:
        assert await accounts.of_token(digest("ada's token")) == ADA
        assert await accounts.of_token(digest("bob's token")) == BOB
        assert await accounts.of_token(digest("a guess")) is None

    @pytest.mark.rule("Q20", "Q22")
    async def test_a_name_registered_again_is_the_same_agent(
        self, accounts: Accounts, elsewhere: Accounts
    ) -> None:
        first = await accounts.register_agent(ADA, "juniper")
        again = await elsewhere.register_agent(ADA, "juniper", display_name="Juniper")

        assert (first.key, first.display_name, first.owner_label) == (
            "ada/juniper",
            "juniper",
            "Ada",
        )
        assert (again.agent_id, again.key) == (first.agent_id, first.key)
        assert again.display_name == "Juniper"
        assert await accounts.agent("ada/juniper") == again

    @pytest.mark.rule("Q22")
    async def test_agents_are_listed_by_name_for_their_own_account(
        self, accounts: Accounts
    ) -> None:
        for name in ("willow", "juniper"):
            await accounts.register_agent(ADA, name)
        await accounts.register_agent(BOB, "juniper")

        assert [one.key for one in await accounts.agents_of(ADA)] == ["ada/juniper", "ada/willow"]
        assert await accounts.agent("ada/oak") is None
