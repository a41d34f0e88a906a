"""Whose credentials a process acts with."""

import attrs
import pytest

from letagents.domain.modes import Invalid, Mode, mode, refusal
from letagents.domain.surfaces import LOCAL_ROOMS, OFFERS, Caller, Profile

ALONE = (Profile.AUTONOMOUS_MCP_WORKER, Profile.INTERACTIVE_DESKTOP)
TURN = Caller(
    profile=Profile.SUPERVISED_ROOM_TURN, bounded=True, api_url="https://letagents.example"
)
POLL = Caller(profile=Profile.SUPERVISED_MCP_POLLING, api_url="https://letagents.example")
BEARER = Caller(has_bearer=True, api_url="https://letagents.example")


def reason(caller: Caller) -> str:
    decided = mode(caller)
    assert isinstance(decided, Invalid), decided
    assert decided.remedy
    return decided.reason


@pytest.mark.rule("U7")
@pytest.mark.parametrize("profile", Profile)
@pytest.mark.parametrize("bounded", [True, False])
def test_bounded_turns_and_their_profile_go_together(profile: Profile, bounded: bool) -> None:
    caller = attrs.evolve(POLL, profile=profile, bounded=bounded)
    if bounded == (profile is Profile.SUPERVISED_ROOM_TURN):
        assert isinstance(mode(caller), Mode)
    else:
        assert "LETAGENTS_SUPERVISED_BOUNDED_TURNS" in reason(caller)
        assert "LETAGENTS_EXECUTION_PROFILE" in reason(caller)
        assert "must be configured together" in reason(caller)


@pytest.mark.rule("U7")
def test_an_unfit_flag_is_told_before_any_credential() -> None:
    both = Caller(bounded=True, has_bearer=True, has_owner_token=True)

    assert "must be configured together" in reason(both)


@pytest.mark.rule("U8")
@pytest.mark.parametrize(
    "caller", [attrs.evolve(POLL, has_bearer=True), attrs.evolve(POLL, has_owner_token=True)]
)
def test_custodial_polling_refuses_credentials_of_the_environment(caller: Caller) -> None:
    assert reason(caller).startswith("Custodial polling refuses")


@pytest.mark.rule("U8")
def test_a_bounded_turn_refuses_a_bearer() -> None:
    assert "LETAGENTS_AGENT_SESSION_BEARER" in reason(attrs.evolve(TURN, has_bearer=True))


@pytest.mark.parametrize("profile", ALONE)
def test_without_credentials_or_a_supervisor_a_process_acts_as_its_owner(profile: Profile) -> None:
    assert mode(Caller(profile=profile)) is Mode.OWNER
    assert mode(Caller(profile=profile, has_owner_token=True)) is Mode.OWNER


def test_a_bearer_makes_a_worker_and_a_supervisor_a_supervised_process() -> None:
    assert mode(BEARER) is Mode.WORKER
    assert mode(TURN) is Mode.SUPERVISED
    assert mode(POLL) is Mode.SUPERVISED


@pytest.mark.rule("U9")
@pytest.mark.parametrize(
    "url",
    [
        "https://letagents.chat",
        "HTTPS://letagents.chat:8443/api?x=1",
        "http://localhost:3001",
        "http://127.0.0.1",
        "http://[::1]:80/",
    ],
)
def test_a_server_is_named_over_https_or_is_this_machine(url: str) -> None:
    assert mode(attrs.evolve(BEARER, api_url=url)) is Mode.WORKER


@pytest.mark.rule("U9")
@pytest.mark.parametrize(
    ("url", "why"),
    [
        (None, "requires an explicit LETAGENTS_API_URL"),
        ("", "requires an explicit LETAGENTS_API_URL"),
        ("http://letagents.chat", "requires HTTPS unless"),
        ("http://localhost.evil.example", "requires HTTPS unless"),
        ("http://127.0.0.1.example:80", "requires HTTPS unless"),
        ("http://localhost@evil.example", "to be a valid HTTP(S) URL"),
        ("http://user:secret@localhost", "to be a valid HTTP(S) URL"),
        ("ftp://localhost", "to be a valid HTTP(S) URL"),
        ("https://", "to be a valid HTTP(S) URL"),
        ("letagents.chat", "to be a valid HTTP(S) URL"),
        ("https://a b", "to be a valid HTTP(S) URL"),
        (LOCAL_ROOMS, "to be a valid HTTP(S) URL"),
    ],
)
def test_any_other_address_is_refused_to_a_worker_and_never_repeated(
    url: str | None, why: str
) -> None:
    told = reason(attrs.evolve(BEARER, api_url=url))

    assert why in told
    assert not url or url not in told


@pytest.mark.rule("U9")
def test_only_a_bounded_turn_is_at_home_in_a_supervisor_s_local_rooms() -> None:
    assert mode(attrs.evolve(TURN, api_url=LOCAL_ROOMS)) is Mode.SUPERVISED
    assert "valid HTTP(S) URL" in reason(attrs.evolve(POLL, api_url=LOCAL_ROOMS))
    assert "a supervisor keeps" in reason(Caller(api_url=LOCAL_ROOMS))
    for other in ("letagents-local://other", f"{LOCAL_ROOMS}/", f"{LOCAL_ROOMS}#a", "letagents-x:"):
        assert "valid HTTP(S) URL" in reason(attrs.evolve(TURN, api_url=other))


@pytest.mark.rule("U10")
def test_a_bearer_beside_an_owner_s_token_is_refused() -> None:
    assert "Remove the owner token" in str(mode(attrs.evolve(BEARER, has_owner_token=True)))


@pytest.mark.rule("U11")
@pytest.mark.parametrize(
    ("mode", "error"),
    [(Mode.WORKER, "worker_bearer_mode"), (Mode.SUPERVISED, "supervised_bounded_mode")],
)
def test_owners_tools_are_refused_to_others(mode: Mode, error: str) -> None:
    for offer in OFFERS:
        refused = refusal(offer.name, mode=mode)

        assert (refused is not None) == (offer.owners is not None)
        if refused is not None:
            assert refused.error == error
            assert refused.message.startswith(f"{offer.owners} is disabled ")


@pytest.mark.rule("U11")
def test_an_owner_is_refused_nothing() -> None:
    assert [offer for offer in OFFERS if refusal(offer.name, mode=Mode.OWNER)] == []
    assert refusal("nonsense", mode=Mode.WORKER) is None


@pytest.mark.rule("U11")
def test_waiting_is_the_daemon_s_in_a_bounded_turn() -> None:
    refused = refusal("wait_for_messages", mode=Mode.SUPERVISED, bounded=True)

    assert refused is not None
    assert refused.error == "supervised_bounded_delivery"
    assert refused.message == (
        "wait_for_messages is disabled because supervised room delivery is owned by the desktop "
        "daemon."
    )


@pytest.mark.rule("U12")
def test_what_needs_the_callers_machine_is_refused_from_afar_with_what_to_do_there() -> None:
    needed = {offer.name: offer.afar for offer in OFFERS if offer.afar is not None}
    for offer in OFFERS:
        refused = refusal(offer.name, mode=Mode.OWNER, is_afar=True)

        assert (refused is not None) == (offer.name in needed)
        if refused is not None:
            assert refused.error == "needs_your_machine"
            assert refused.message.startswith(offer.name)
            assert refused.message.endswith(needed[offer.name] or "?")
    assert {"check_repo", "initialize_repo", "start_device_auth"} <= needed.keys()
