"""Who may use a server, and whose an agent is."""

from datetime import UTC, datetime

import pytest

from letagents.domain import accounts
from letagents.domain.accounts import (
    NOBODY,
    Account,
    Agent,
    NotSignedIn,
    NotYourAgent,
    Principal,
)
from letagents.domain.errors import Malformed

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
ADA = Account(account_id="account_1", login="ada")
BOB = Account(account_id="account_2", login="bob")
JUNIPER = Agent(
    agent_id="agent_1",
    name="juniper",
    display_name="Juniper",
    owner_id="account_1",
    owner_login="ada",
    owner_label="Ada",
    created_at=NOON,
    updated_at=NOON,
)


@pytest.mark.rule("Q10")
def test_an_agent_is_known_by_its_accounts_login_and_its_own_name() -> None:
    assert JUNIPER.key == "ada/juniper"


@pytest.mark.rule("Q11")
def test_an_agent_is_its_accounts_and_no_others() -> None:
    assert accounts.check_owns(ADA, JUNIPER) is JUNIPER
    with pytest.raises(NotYourAgent):
        accounts.check_owns(BOB, JUNIPER)
    with pytest.raises(NotYourAgent):
        accounts.check_owns(ADA, None)


@pytest.mark.rule("Q12")
def test_who_shows_no_token_is_nobody() -> None:
    assert accounts.signed_in(Principal(ADA)) is ADA
    with pytest.raises(NotSignedIn):
        accounts.signed_in(NOBODY)


@pytest.mark.rule("Q12")
def test_a_digest_says_nothing_of_its_token_and_is_always_the_same() -> None:
    assert accounts.digest("secret") == accounts.digest("secret") != accounts.digest("secret2")
    assert "secret" not in accounts.digest("secret")


@pytest.mark.parametrize("name", ["", "  ", "a/b", "x" * 65, "a\nb"])
def test_a_name_that_no_key_can_hold_is_refused(name: str) -> None:
    with pytest.raises(Malformed, match="name"):
        accounts.checked_name(name)
