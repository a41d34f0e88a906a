"""What a supervisor holds of host grants."""

from datetime import UTC, datetime, timedelta

import attrs
import pytest

from letagents.domain import executions, held_grants, host_grants, recovery
from letagents.domain.errors import Malformed
from letagents.domain.held_grants import EchoWrong, Grant, GrantCallFailed
from letagents.domain.ids import Credential, RoomId, SessionId
from letagents.domain.manifest import Admission, Delivery, Entry, Execution, ManifestRefused
from letagents.domain.sessions import Session, SessionKind

NOW = datetime(2030, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
FIELDS = {
    "entry_id": "e1",
    "room_id": "workshop",
    "agent_key": "ada/e1",
    "grant_id": "g",
    "supervisor_grant": "s",
    "api_url": "https://rooms.example",
    "host_id": "h",
    "installation_id": "i",
    "grant_expires_at": "soon",
}
GRANT = Grant(
    entry_id="e1",
    room_id="workshop",
    agent_key="ada/e1",
    grant_id="g",
    secret=Credential("s"),
    generation=2,
    api_url="https://rooms.example",
    host_id="h",
    installation_id="i",
    expires_at=NOW,
)
ASKED = {
    "room_id": "workshop",
    "agent_key": "ada/e1",
    "agent_instance_id": "daemon:e1",
    "display_name": "Juniper",
    "runtime": "codex",
    "ide_label": "Codex",
}
SESSION = Session(
    session_id=SessionId("s1"),
    room_id=RoomId("workshop"),
    kind=SessionKind.WORKER,
    agent_key="ada/e1",
    instance_id="daemon:e1",
    display_name="Juniper",
    base_name="Juniper",
    owner_label="Ada",
    ide_label="Codex",
    runtime="codex",
    actor_label="Juniper",
    created_at=NOW,
    updated_at=NOW,
    last_seen_at=NOW,
)


@pytest.mark.rule("J125")
def test_the_first_fault_is_told() -> None:
    def told(**more: str) -> str:
        with pytest.raises(Malformed) as refused:
            held_grants.check_asked({**FIELDS, **more}, credential_only=False, recovery_only=False)
        return refused.value.happened

    with pytest.raises(Malformed, match="cannot be both reconnect-only and recovery-only"):
        held_grants.check_asked({}, credential_only=True, recovery_only=True)
    for name in FIELDS:
        assert told(**{name: " "}) == f"Host grant {name} is required."
    for url in ("http://localhost:3001", "http://rooms.example", "https://a@b", "ftp://x"):
        expected = "Host grant api_url must be HTTPS or exact loopback HTTP."
        assert told(api_url=url) == expected
    for url in ("http://127.0.0.1:3001", "http://[::1]", "https://rooms.example/x"):
        asked = FIELDS | {"api_url": url}
        held_grants.check_asked(asked, credential_only=False, recovery_only=False)


@pytest.mark.rule("J126")
def test_of_one_grant_the_newer_is_kept() -> None:
    later = attrs.evolve(GRANT, expires_at=NOW + MINUTE)

    assert held_grants.is_older(GRANT, GRANT)
    assert held_grants.is_older(GRANT, later)
    assert not held_grants.is_older(later, GRANT)
    assert held_grants.is_older(attrs.evolve(later, generation=1), GRANT)
    assert not held_grants.is_older(GRANT, attrs.evolve(later, grant_id="other"))
    assert not held_grants.is_older(GRANT, None)


@pytest.mark.rule("J128")
def test_another_session_than_was_asked_for_is_not_taken() -> None:
    for taken in (SESSION, attrs.evolve(SESSION, display_name="Juniper 2")):
        held_grants.check_echo(taken, ASKED)
    for other in (
        {"room_id": RoomId("elsewhere")},
        {"agent_key": "ada/e2"},
        {"instance_id": "daemon:e2"},
        {"runtime": "cursor"},
        {"ide_label": "Cursor"},
        {"kind": SessionKind.CONTROLLER},
        {"ended_at": NOW},
    ):
        with pytest.raises(EchoWrong):
            held_grants.check_echo(attrs.evolve(SESSION, **other), ASKED)


@pytest.mark.rule("J129")
def test_a_bearer_is_fresh_until_a_minute_before_its_end() -> None:
    second = timedelta(seconds=1)

    assert held_grants.is_fresh(NOW + MINUTE + second, NOW, now=NOW)
    assert not held_grants.is_fresh(NOW + MINUTE, NOW, now=NOW)
    assert held_grants.is_fresh(None, NOW, now=NOW + 2 * MINUTE - second)
    assert not held_grants.is_fresh(None, NOW, now=NOW + 2 * MINUTE)
    assert held_grants.is_to_be_rotated(NOW + MINUTE, now=NOW)
    assert not held_grants.is_to_be_rotated(None, now=NOW)


@pytest.mark.rule("J123")
def test_a_grant_is_given_for_no_shorter_and_no_longer_than_makes_sense() -> None:
    assert host_grants.lasting(None) == timedelta(hours=24)
    assert host_grants.lasting(1) == timedelta(minutes=1)
    assert host_grants.lasting(10**18) == timedelta(days=30)
    with pytest.raises(Malformed):
        host_grants.lasting(0)


@pytest.mark.parametrize(
    ("status", "helps"),
    [(403, "Install a grant"), (404, "--create"), (503, "by itself"), (None, "by itself")],
)
def test_what_helps_follows_from_what_the_server_said(status: int | None, helps: str) -> None:
    error = held_grants.mint_failed(1, GrantCallFailed(status, "HTTP 404 Room not found"))

    assert error.happened.endswith("Room not found.")
    assert helps in error.remedy


@pytest.mark.rule("J131")
def test_a_grant_is_not_given_up_under_a_process_that_polls_by_it() -> None:
    place = Entry("e1", "workshop", "Ada", "codex", NOW, admission=Admission.GRANT)
    polling = attrs.evolve(place, delivery=Delivery.POLLING)
    alive = executions.begun(polling, Execution("x1", "w1", 7, NOW))

    held_grants.check_given_up(polling)
    held_grants.check_given_up(attrs.evolve(alive, delivery=Delivery.INBOX))
    with pytest.raises(ManifestRefused, match="polls by the session"):
        held_grants.check_given_up(alive)
    with pytest.raises(ManifestRefused, match="no host grant"):
        held_grants.check_given_up(attrs.evolve(place, admission=Admission.SIGN_IN))


@pytest.mark.rule("J131")
def test_who_is_let_in_by_the_sign_in_again_is_tried_at_once() -> None:
    failed = recovery.failed(recovery.History(), now=NOW)
    place = Entry("e1", "workshop", "Ada", "codex", NOW, admission=Admission.BLOCKED)
    again = held_grants.given_up(attrs.evolve(place, history=failed, last_error="It ended."))

    assert (again.admission, again.last_error) == (Admission.SIGN_IN, None)
    assert failed.not_before is not None
    assert again.history == attrs.evolve(failed, not_before=None)
