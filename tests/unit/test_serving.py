"""Where a server may be reached, and which of this machine's sign-ins is for which server."""

import pytest

from letagents.domain import serving, sign_in
from letagents.domain.errors import Malformed, OutcomeUnknown, RoomsUnavailable
from letagents.domain.serving import Exposed, OwnSignIn


@pytest.mark.rule("Q16")
@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.0.1", "localhost", "LOCALHOST", "::1"])
def test_this_machine_alone_needs_no_accounts(host: str) -> None:
    assert serving.is_loopback(host)
    serving.check_reach(host, has_accounts=False, insists=False)


@pytest.mark.rule("Q16")
@pytest.mark.parametrize(
    "host", ["10.0.0.1", "::", "192.168.1.4", "rooms.example", "127.0.0.1.example", "localhost.x"]
)
def test_others_need_accounts_or_somebody_who_insists(host: str) -> None:
    with pytest.raises(Exposed):
        serving.check_reach(host, has_accounts=False, insists=False)
    serving.check_reach(host, has_accounts=True, insists=False)
    serving.check_reach(host, has_accounts=False, insists=True)


def own(url: str) -> OwnSignIn:
    return OwnSignIn(url, "server.db", "ada", "a secret")


@pytest.mark.rule("Q17")
@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:3001",
        "http://127.0.0.1:3001/",
        "http://[::1]:3001",
        "http://LocalHost:3001",
    ],
)
def test_a_loopback_address_is_known_however_it_is_spelled(url: str) -> None:
    assert serving.is_for(own("http://127.0.0.1:3001"), url)


@pytest.mark.rule("Q17")
@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:3002",
        "https://localhost:3001",
        "http://rooms.example:3001",
        "http://localhost:3001@rooms.example",
        "http://localhost:3001.rooms.example",
        "http://localhost:3001/#x",
        "",
        "not an address",
    ],
)
def test_no_other_server_is_shown_this_machines_sign_in(url: str) -> None:
    assert not serving.is_for(own("http://127.0.0.1:3001"), url)


@pytest.mark.rule("Q17")
def test_ports_that_are_usual_need_not_be_said() -> None:
    assert serving.place_of("http://rooms.example") == serving.place_of("http://rooms.example:80/")
    assert serving.place_of("https://rooms.example") == "https://rooms.example:443"


@pytest.mark.rule("Q28")
def test_a_stored_sign_in_is_for_the_server_where_it_was_made() -> None:
    made = {"api_url": "https://rooms.example"}

    assert sign_in.is_for(made, "https://rooms.example:443")
    assert not sign_in.is_for(made, "https://other.example")
    assert sign_in.is_for({}, "https://other.example")


KNOWN = ("https://rooms.example", "http://machine.lan:3001")


@pytest.mark.rule("Q18")
@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "LOCALHOST:3001", "127.0.0.1:8080", "192.168.1.5:3001", "[::1]:3001"),
        *("[fe80::1]", "rooms.example", "Rooms.Example:443", "machine.lan:3001"),
    ],
)
def test_a_server_goes_by_its_addresses_and_its_names(host: str) -> None:
    assert serving.names_us(host, KNOWN)


@pytest.mark.rule("Q18")
@pytest.mark.parametrize(
    "host",
    [
        *(None, "", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example"),
        *("evil.example:3001", "rooms.example.evil", "user@localhost", "localhost:3001/x"),
        *("localhost:port", "[::1", "a b", "2130706433"),
    ],
)
def test_a_server_goes_by_no_other_name(host: str | None) -> None:
    assert not serving.names_us(host, KNOWN)


@pytest.mark.rule("Q19")
@pytest.mark.parametrize(
    "origin",
    [
        *(None, "https://rooms.example", "https://rooms.example:443", "http://machine.lan:3001"),
        *("http://localhost:3001", "https://localhost:3001", "http://127.0.0.1:3001"),
    ],
)
def test_a_servers_own_pages_and_programs_without_one_may_call_it(origin: str | None) -> None:
    assert serving.is_our_page(origin, "localhost:3001", KNOWN)


@pytest.mark.rule("Q19")
@pytest.mark.parametrize(
    "origin",
    [
        *("null", "", "http://localhost:3002", "http://evil.example", "file://"),
        *("http://rooms.example", "https://rooms.example.evil", "http://192.168.1.5:3001"),
    ],
)
def test_no_other_page_may_call_a_server(origin: str) -> None:
    assert not serving.is_our_page(origin, "localhost:3001", KNOWN)


@pytest.mark.rule("Q34")
@pytest.mark.parametrize("kind", [RoomsUnavailable, OutcomeUnknown])
def test_others_are_not_told_of_the_place_and_know_what_to_do(
    kind: type[RoomsUnavailable | OutcomeUnknown],
) -> None:
    place = "/srv/server.db"
    told = serving.for_others(kind(f"{place} broke.", remedy=f"Look at {place}."))

    assert type(told) is kind
    assert place not in f"{told.happened} {told.remedy}"
    assert "all again" in told.remedy


@pytest.mark.rule("Q34")
def test_what_a_caller_did_wrong_is_told_as_it_is() -> None:
    error = Malformed("text is blank.", remedy="Pass text.")

    assert serving.for_others(error) is error
