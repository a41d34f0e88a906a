"""What every Accounts does: inherit the suite and give it fixtures `accounts` and `clock`."""

from datetime import timedelta

import anyio
import pytest

from letagents.domain.accounts import (
    NOBODY,
    Account,
    LoginTaken,
    Principal,
    Role,
    TokenKind,
    digest,
    person_key,
)
from letagents.domain.host_grants import Given
from letagents.domain.ids import RoomId
from letagents.ports.accounts import FORGOTTEN, Accounts
from letagents.testing.determinism import ManualClock

ROOM = RoomId("harbour")
OWNER, SESSION, CODE = TokenKind.OWNER, TokenKind.SESSION, TokenKind.CODE
GRANT = TokenKind.GRANT


def comer(number: str, login: str = "ada", name: str | None = None) -> Account:
    """Return who comes from a service elsewhere."""
    return Account(
        account_id="", login=login, display_name=name, provider="github", provider_user_id=number
    )


@pytest.mark.anyio
class AccountsContract:
    """Needs fixtures `accounts`, empty, and `clock`, its own; may have a fixture `elsewhere`."""

    @pytest.fixture
    def elsewhere(self, accounts: Accounts) -> Accounts:
        """Return another one on the place of `accounts`, where there can be one."""
        return accounts

    @pytest.mark.rule("Q20", "Q21")
    async def test_a_token_names_its_account_and_an_unknown_one_none(
        self, accounts: Accounts, elsewhere: Accounts
    ) -> None:
        ada = await accounts.add("ada", display_name="Ada")
        bob = await accounts.add("bob")
        await accounts.give(ada, digest("ada's token"), OWNER)
        await accounts.give(bob, digest("bob's token"), SESSION)

        assert await elsewhere.of_token(digest("ada's token")) == Principal(ada, OWNER)
        assert await elsewhere.of_token(digest("bob's token")) == Principal(bob, SESSION)
        assert await elsewhere.of_token(digest("a guess")) == NOBODY

    @pytest.mark.rule("Q21")
    async def test_a_login_is_had_once_whatever_its_case(
        self, accounts: Accounts, elsewhere: Accounts
    ) -> None:
        ada = await accounts.add("Ada")

        with pytest.raises(LoginTaken):
            await elsewhere.add("aDA")

        assert await elsewhere.of_login("ADA") == ada
        assert await elsewhere.of_login("bob") is None

    @pytest.mark.rule("Q23")
    async def test_revoked_tokens_open_nothing(
        self, accounts: Accounts, elsewhere: Accounts, clock: ManualClock
    ) -> None:
        ada = await accounts.add("ada")
        for token in ("one", "two"):
            await accounts.give(ada, digest(token), OWNER)
            await elsewhere.of_token(digest(token))

        ended = await accounts.revoke(ada)

        assert ended == 2
        assert await accounts.of_token(digest("one")) == NOBODY
        clock.pass_by(FORGOTTEN)
        assert await elsewhere.of_token(digest("two")) == NOBODY

    @pytest.mark.rule("Q23")
    async def test_a_session_ends_by_itself_and_by_being_taken(
        self, accounts: Accounts, clock: ManualClock
    ) -> None:
        ada = await accounts.add("ada")
        for token in ("left alone", "signed out"):
            await accounts.give(ada, digest(token), SESSION, lasts=timedelta(days=1))

        assert await accounts.take(digest("signed out"), SESSION) == ada
        assert await accounts.of_token(digest("signed out")) == NOBODY
        assert await accounts.of_token(digest("left alone")) == Principal(ada, SESSION)
        clock.pass_by(timedelta(days=1))
        assert await accounts.of_token(digest("left alone")) == NOBODY

    @pytest.mark.rule("J124")
    async def test_a_grant_is_nobody_and_lasts_on_until_it_is_ended(
        self, accounts: Accounts, elsewhere: Accounts, clock: ManualClock
    ) -> None:
        ada, day = await accounts.add("ada"), timedelta(days=1)
        secret = digest("a grant")
        await accounts.give(ada, secret, GRANT, lasts=day)
        await accounts.give(ada, digest("another"), GRANT, lasts=day)
        clock.pass_by(timedelta(hours=23))
        renewed = await accounts.prolong(secret, day)

        assert renewed == Given(f"grant_{secret}", ada.account_id, "ada", clock.now() + day)
        clock.pass_by(timedelta(hours=2))
        assert await elsewhere.grant(secret) == renewed
        assert await accounts.grant(digest("another")) is None
        assert await accounts.prolong(digest("another"), day) is None
        assert await elsewhere.of_token(secret) == NOBODY
        assert await accounts.take(secret, GRANT) == ada
        assert await accounts.grant(secret) is None
        clock.pass_by(FORGOTTEN)
        assert await elsewhere.grant(secret) is None

    @pytest.mark.rule("Q24")
    async def test_a_code_opens_one_thing_once(
        self, accounts: Accounts, elsewhere: Accounts, clock: ManualClock
    ) -> None:
        ada = await accounts.add("ada")
        await accounts.give(ada, digest("a code"), CODE, lasts=timedelta(hours=1))
        await accounts.give(ada, digest("an old code"), CODE, lasts=timedelta(seconds=1))
        found: list[Account | None] = []

        async def take(at: Accounts) -> None:
            found.append(await at.take(digest("a code"), CODE))

        assert await accounts.of_token(digest("a code")) == NOBODY
        assert await accounts.take(digest("a code"), SESSION) is None
        async with anyio.create_task_group() as takers:
            for at in (accounts, elsewhere, accounts):
                takers.start_soon(take, at)
        clock.pass_by(timedelta(seconds=1))

        assert sorted(found, key=str) == sorted([ada, None, None], key=str)
        assert await accounts.take(digest("an old code"), CODE) is None

    @pytest.mark.rule("Q26")
    async def test_who_comes_from_elsewhere_is_known_by_their_id_there(
        self, accounts: Accounts, elsewhere: Accounts
    ) -> None:
        own = await accounts.add("ada")

        first = await accounts.admit(comer("17"))
        again = await elsewhere.admit(comer("17", "countess", "Ada L."))
        another = await elsewhere.admit(comer("18"))

        assert len({own.account_id, first.account_id, another.account_id}) == 3
        assert first.login == "ada-github"
        assert (again.account_id, again.login) == (first.account_id, "ada-github")
        assert again.display_name == "Ada L."

    async def test_accounts_are_listed_with_what_opens_them(
        self, accounts: Accounts, clock: ManualClock
    ) -> None:
        bob, ada = await accounts.add("bob"), await accounts.add("ada")
        await accounts.give(ada, digest("a token"), OWNER)
        await accounts.give(bob, digest("a session"), SESSION, lasts=timedelta(days=1))

        known = await accounts.known()

        assert [(one.account, one.tokens) for one in known] == [(ada, 1), (bob, 0)]
        assert {one.created_at for one in known} == {clock.now()}

    @pytest.mark.rule("Q20", "Q22")
    async def test_a_name_registered_again_is_the_same_agent(
        self, accounts: Accounts, elsewhere: Accounts, clock: ManualClock
    ) -> None:
        ada = await accounts.add("ada", display_name="Ada")
        first = await accounts.register_agent(ada, "juniper")
        again = await elsewhere.register_agent(ada, "juniper", display_name="Juniper")

        labels = (first.key, first.display_name, first.owner_label)
        assert labels == ("ada/juniper", "juniper", "Ada")
        assert (again.agent_id, again.key) == (first.agent_id, first.key)
        assert again.display_name == "Juniper"
        clock.pass_by(FORGOTTEN)
        assert await accounts.agent("ada/juniper") == again

    @pytest.mark.rule("Q22")
    async def test_agents_are_listed_by_name_for_their_own_account(
        self, accounts: Accounts
    ) -> None:
        ada, bob = await accounts.add("ada"), await accounts.add("bob")
        for name in ("willow", "juniper"):
            await accounts.register_agent(ada, name)
        await accounts.register_agent(bob, "juniper")

        assert [one.key for one in await accounts.agents_of(ada)] == ["ada/juniper", "ada/willow"]
        assert await accounts.agent("ada/oak") is None

    @pytest.mark.rule("Q25")
    async def test_of_those_who_enter_a_room_at_once_one_is_its_admin(
        self, accounts: Accounts, elsewhere: Accounts
    ) -> None:
        people = [await accounts.add(login) for login in ("ada", "bob", "eve", "ann")]
        roles: dict[str, Role] = {}

        async def enter(at: Accounts, account: Account) -> None:
            roles[account.login] = await at.enter(account, ROOM)

        async with anyio.create_task_group() as entering:
            for number, account in enumerate(people):
                entering.start_soon(enter, (accounts, elsewhere)[number % 2], account)

        assert sorted(role.value for role in roles.values()) == ["admin"] + 3 * ["participant"]
        for account in people:
            assert await elsewhere.role(account, ROOM) is roles[account.login]
            assert await accounts.enter(account, ROOM) is roles[account.login]

    @pytest.mark.rule("Q25")
    async def test_agents_and_the_person_of_an_admin_are_admins_of_that_room_alone(
        self, accounts: Accounts, elsewhere: Accounts, clock: ManualClock
    ) -> None:
        ada, bob = await accounts.add("ada"), await accounts.add("bob")
        for account in (ada, bob):
            await accounts.register_agent(account, "juniper")
            await accounts.enter(account, ROOM)
        clock.pass_by(FORGOTTEN)

        for at in (accounts, elsewhere):
            assert at.is_admin("ada/juniper", ROOM)
            assert at.is_admin(person_key(ada), ROOM)
            assert not at.is_admin("bob/juniper", ROOM)
            assert not at.is_admin(person_key(bob), ROOM)
            assert not at.is_admin("ada/unheard-of", ROOM)
            assert not at.is_admin("ada/juniper", RoomId("elsewhere"))
        assert await accounts.role(ada, RoomId("elsewhere")) is None
