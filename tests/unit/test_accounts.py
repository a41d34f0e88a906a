"""Who may use a server, and whose an agent is."""

from datetime import UTC, datetime

import pytest

from letagents.domain import accounts, rooms
from letagents.domain.accounts import (
    NOBODY,
    Account,
    Agent,
    NotYourAgent,
    Principal,
    Role,
    TokenKind,
)
from letagents.domain.errors import Malformed, NotSignedIn, UnknownRoom
from letagents.domain.ids import RoomId

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


@pytest.mark.rule("Q13")
@pytest.mark.parametrize("login", ["ada", "Ada-Lovelace_2", "a.b", " trimmed ", "x" * 64])
def test_a_login_is_plain(login: str) -> None:
    assert accounts.checked_login(login) == login.strip()


@pytest.mark.rule("Q13")
@pytest.mark.parametrize("login", ["", " ", "a/b", "-a", "a.", "human", "Human", "é", "x" * 65])
def test_what_a_key_could_not_begin_with_is_no_login(login: str) -> None:
    with pytest.raises(Malformed):
        accounts.checked_login(login)


@pytest.mark.rule("Q13")
@pytest.mark.parametrize("there", ["human", "a/b", "-", "", "x" * 200])
def test_whoever_comes_from_elsewhere_finds_a_login(there: str) -> None:
    comer = Account(account_id="", login=there, provider="github", provider_user_id="1")
    found = accounts.logins_for(comer)

    for login in (next(found), next(found), next(found)):
        assert accounts.checked_login(login) == login


@pytest.mark.rule("Q13")
def test_a_persons_key_tells_whose_it_is_and_an_agents_key_does_not() -> None:
    ada = Account(account_id="account_1", login="ada")

    assert accounts.login_of_person(accounts.person_key(ada)) == "ada"
    assert accounts.login_of_person("ada/juniper") is None


@pytest.mark.rule("Q14")
def test_two_sign_ins_at_once_are_nobodys() -> None:
    ada = Account(account_id="account_1", login="ada")
    session, owner = Principal(ada, TokenKind.SESSION), Principal(ada, TokenKind.OWNER)

    assert accounts.one_of(session, session, is_same=True) == session
    assert accounts.one_of(session, session, is_same=False) == NOBODY
    assert accounts.one_of(session, NOBODY, is_same=False) == session
    assert accounts.one_of(owner, session, is_same=False) == owner
    assert accounts.one_of(NOBODY, session, is_same=False) == NOBODY


@pytest.mark.rule("Q15")
def test_who_enters_a_room_without_admins_is_its_admin() -> None:
    assert accounts.role_on_entering(is_admin=False, has_admins=False) is Role.ADMIN
    assert accounts.role_on_entering(is_admin=False, has_admins=True) is Role.PARTICIPANT
    assert accounts.role_on_entering(is_admin=True, has_admins=True) is Role.ADMIN


@pytest.mark.rule("Q32")
def test_a_room_that_was_not_entered_is_as_if_it_were_not_there() -> None:
    accounts.check_entered(RoomId("shed"), has_entered=True)
    with pytest.raises(UnknownRoom) as told:
        accounts.check_entered(RoomId("shed"), has_entered=False)

    assert str(told.value) == str(rooms.missing(RoomId("shed")))
