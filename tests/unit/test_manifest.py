"""The agents that a supervisor looks after, and who may change what is written of them."""

from datetime import UTC, datetime

import attrs
import pytest

from letagents.domain import manifest, recovery
from letagents.domain.bindings import Place
from letagents.domain.errors import Malformed
from letagents.domain.manifest import (
    Delivery,
    Ending,
    Entry,
    Execution,
    FenceLost,
    GenerationDamaged,
    ManifestRefused,
    Process,
)
from letagents.domain.recovery import Desired

NOW = datetime(2030, 1, 1, tzinfo=UTC)
ENTRY = Entry("e1", "workshop", "Ada", "codex", NOW)
FIRST = Execution("x1", "w1", 7, NOW)
PROCESS = Process("scripted", 4242, "birth-1")


@pytest.mark.rule("J50")
def test_each_generation_is_one_more() -> None:
    assert manifest.next_generation(None) == 1
    assert manifest.next_generation("7\n") == 8
    assert manifest.next_generation("0") == 1


@pytest.mark.rule("J50")
@pytest.mark.parametrize("text", ["", "\n", "seven", "-1", "7\n8", "07", " 7", "7" * 16])
def test_a_generation_that_cannot_be_read_is_not_guessed(text: str) -> None:
    with pytest.raises(GenerationDamaged) as damaged:
        manifest.next_generation(text)

    assert damaged.value.happened == (
        "Supervisor generation state is malformed; refusing to roll back fencing."
    )


@pytest.mark.rule("J51")
@pytest.mark.parametrize("text", ["8\n", "6\n", "", None, "x"])
def test_only_the_newest_generation_acts(text: str | None) -> None:
    manifest.check_fence(7, "7\n")

    with pytest.raises(FenceLost):
        manifest.check_fence(7, text)


@pytest.mark.rule("J52")
def test_an_agent_has_one_process() -> None:
    alive = manifest.begun(ENTRY, FIRST)

    assert alive.place == Place("e1", "workshop", "w1", "x1")
    with pytest.raises(ManifestRefused):
        manifest.begun(alive, attrs.evolve(FIRST, execution_id="x2"))


@pytest.mark.rule("J52")
def test_a_name_of_a_process_is_not_used_again() -> None:
    over = manifest.ended(manifest.begun(ENTRY, FIRST), "x1", Ending.CRASHED, now=NOW)

    assert over.place.has_ended
    with pytest.raises(ManifestRefused):
        manifest.begun(over, FIRST)
    assert manifest.begun(over, attrs.evolve(FIRST, execution_id="x2")).place.execution_id == "x2"


@pytest.mark.rule("J53")
def test_how_a_process_ended_stays() -> None:
    over = manifest.ended(manifest.begun(ENTRY, FIRST), "x1", Ending.CRASHED, now=NOW)

    for entry, execution_id in ((over, "x1"), (manifest.begun(ENTRY, FIRST), "x2"), (ENTRY, "x1")):
        with pytest.raises(ManifestRefused, match="append-only and immutable"):
            manifest.ended(entry, execution_id, Ending.STOPPED, now=NOW)


@pytest.mark.rule("J52")
def test_a_process_that_is_there_is_remembered_with_its_conversation() -> None:
    begun = manifest.begun(ENTRY, FIRST)
    there = manifest.started(manifest.born(begun, "x1", PROCESS), "c1")

    assert there.execution is not None
    assert there.execution.process == PROCESS
    assert there.continuation_id == "c1"
    over = manifest.ended(there, "x1", Ending.CRASHED, now=NOW)
    assert over.history.ends == (NOW,)
    for entry in (over, ENTRY, begun):
        with pytest.raises(ManifestRefused):
            manifest.started(entry, "c1")


@pytest.mark.rule("J47", "J48")
def test_a_process_is_known_before_it_runs_and_gone_on_with_once_it_has_a_conversation() -> None:
    begun = manifest.begun(ENTRY, FIRST)
    pending = attrs.evolve(begun, history=recovery.begun(begun.history, "x1"), continuation_id="c1")
    born = manifest.born(pending, "x1", PROCESS)

    assert born.execution == attrs.evolve(FIRST, process=PROCESS)
    assert manifest.came_to_nothing(born)
    assert not manifest.came_to_nothing(manifest.started(born, "c1"))
    for entry, name in ((born, "x1"), (pending, "x2"), (ENTRY, "x1")):
        with pytest.raises(ManifestRefused, match="no process that begins"):
            manifest.born(entry, name, PROCESS)


@pytest.mark.rule("J41", "J53")
def test_an_end_that_was_wanted_is_no_crash() -> None:
    over = manifest.ended(manifest.begun(ENTRY, FIRST), "x1", Ending.STOPPED, now=NOW)

    assert over.history.ends == ()


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
    over = manifest.ended(manifest.begun(ENTRY, FIRST), "x1", Ending.STOPPED, now=NOW)
    manifest.check_removable(over)

    with pytest.raises(ManifestRefused, match="already"):
        manifest.check_fresh(ENTRY, ENTRY)
    for entry in (manifest.begun(ENTRY, FIRST), attrs.evolve(ENTRY, desired=Desired.PAUSED)):
        with pytest.raises(ManifestRefused, match="is not stopped"):
            manifest.check_removable(entry)


@pytest.mark.rule("J38")
def test_an_agents_rooms_are_where_a_credential_may_go() -> None:
    assert ENTRY.api_url == "letagents-local://rooms"
    assert attrs.evolve(ENTRY, api_url="https://rooms.example").api_url == "https://rooms.example"
    for url in ("http://rooms.example", "", "rooms.example"):
        with pytest.raises(Malformed, match="on a server with HTTPS, or on this machine"):
            attrs.evolve(ENTRY, api_url=url)


@pytest.mark.rule("J140")
def test_the_newest_of_earlier_processes_are_remembered_and_all_are_counted() -> None:
    entry = manifest.begun(ENTRY, FIRST)
    for number in range(2, manifest.REMEMBERED + 3):
        last = entry.execution
        assert last is not None
        entry = manifest.ended(
            entry, last.execution_id, Ending.CRASHED, now=NOW, exit_code=-9, tail="x" * 9999
        )
        entry = manifest.begun(entry, attrs.evolve(FIRST, execution_id=f"x{number}"))

    assert entry.restarts == manifest.REMEMBERED + 1
    assert len(entry.earlier) == manifest.REMEMBERED
    assert [one.execution_id for one in entry.earlier[-2:]] == ["x20", "x21"]
    assert all(one.is_over and one.exit_code == -9 for one in entry.earlier)
    tails = [len(one.tail) for one in entry.earlier]
    assert tails == [*[0] * (manifest.REMEMBERED - 1), manifest.LONGEST_TAIL]


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
