"""The agents that a supervisor looks after, and who may change what is written of them."""

from datetime import UTC, datetime

import attrs
import pytest

from letagents.domain import executions, manifest
from letagents.domain.errors import Malformed
from letagents.domain.manifest import Delivery, Ending, Entry, Execution, ManifestRefused, Process
from letagents.domain.recovery import Desired

NOW = datetime(2030, 1, 1, tzinfo=UTC)
ENTRY = Entry("e1", "workshop", "Ada", "codex", NOW)
FIRST = Execution("x1", "w1", 7, NOW)
PROCESS = Process("scripted", 4242, "birth-1")


@pytest.mark.rule("J54")
def test_who_saw_something_else_changes_nothing() -> None:
    running = manifest.wanted(ENTRY, Desired.RUNNING, expected=Desired.STOPPED)

    assert running is not None
    assert running.desired is Desired.RUNNING
    assert manifest.wanted(running, Desired.PAUSED, expected=Desired.STOPPED) is None
    assert manifest.wanted(running, Desired.PAUSED) is not None


@pytest.mark.parametrize("name", ["", "-e", "two words", "../up", "e" * 101])
def test_an_agent_has_a_name_that_can_be_one(name: str) -> None:
    with pytest.raises(Malformed):
        attrs.evolve(ENTRY, entry_id=name)


def test_a_provider_is_one_that_is_known() -> None:
    with pytest.raises(Malformed, match="No such provider"):
        attrs.evolve(ENTRY, provider="other")


@pytest.mark.rule("J46")
def test_a_name_is_one_agents_and_only_what_is_stopped_is_forgotten() -> None:
    manifest.check_fresh(ENTRY, None)
    manifest.check_removable(ENTRY)
    over = executions.ended(executions.begun(ENTRY, FIRST), "x1", Ending.STOPPED, now=NOW)
    manifest.check_removable(over)

    with pytest.raises(ManifestRefused, match="already"):
        manifest.check_fresh(ENTRY, ENTRY)
    with pytest.raises(ManifestRefused, match="is not stopped"):
        manifest.check_removable(attrs.evolve(ENTRY, desired=Desired.PAUSED))
    with pytest.raises(ManifestRefused, match="is being stopped"):
        manifest.check_removable(executions.begun(ENTRY, FIRST))


@pytest.mark.rule("J38")
def test_an_agents_rooms_are_where_a_credential_may_go() -> None:
    assert ENTRY.api_url == "letagents-local://rooms"
    assert attrs.evolve(ENTRY, api_url="https://rooms.example").api_url == "https://rooms.example"
    for url in ("http://rooms.example", "", "rooms.example"):
        with pytest.raises(Malformed, match="on a server with HTTPS, or on this machine"):
            attrs.evolve(ENTRY, api_url=url)


def test_an_agent_is_called_only_what_can_be_shown() -> None:
    assert manifest.named(ENTRY, " Countess ").display_name == "Countess"
    with pytest.raises(Malformed):
        manifest.named(ENTRY, "a|b")


@pytest.mark.rule("J103")
def test_an_agent_polls_in_codex_on_a_server_alone() -> None:
    polls = attrs.evolve(ENTRY, delivery=Delivery.POLLING, api_url="https://rooms.example")
    for entry in (polls, ENTRY, attrs.evolve(ENTRY, provider="cursor")):
        manifest.check_polling(entry)
    with pytest.raises(ManifestRefused, match="agent of cursor does not wait"):
        manifest.check_polling(attrs.evolve(polls, provider="cursor"))
    with pytest.raises(ManifestRefused, match="has its room on a server"):
        manifest.check_polling(attrs.evolve(ENTRY, delivery=Delivery.POLLING))
    manifest.check_handed(ENTRY)
    with pytest.raises(ManifestRefused, match="is handed none"):
        manifest.check_handed(polls)
