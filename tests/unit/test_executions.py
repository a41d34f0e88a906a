"""The processes that an agent has had, one after another."""

from datetime import UTC, datetime

import attrs
import pytest

from letagents.domain import executions, recovery
from letagents.domain.bindings import Place
from letagents.domain.manifest import Ending, Entry, Execution, ManifestRefused, Process

NOW = datetime(2030, 1, 1, tzinfo=UTC)
ENTRY = Entry("e1", "workshop", "Ada", "codex", NOW)
FIRST = Execution("x1", "w1", 7, NOW)
PROCESS = Process("scripted", 4242, "birth-1")


@pytest.mark.rule("J52")
def test_an_agent_has_one_process() -> None:
    alive = executions.begun(ENTRY, FIRST)

    assert alive.place == Place("e1", "workshop", "w1", "x1")
    with pytest.raises(ManifestRefused):
        executions.begun(alive, attrs.evolve(FIRST, execution_id="x2"))


@pytest.mark.rule("J52")
def test_a_name_of_a_process_is_not_used_again() -> None:
    over = executions.ended(executions.begun(ENTRY, FIRST), "x1", Ending.CRASHED, now=NOW)

    assert over.place.has_ended
    with pytest.raises(ManifestRefused):
        executions.begun(over, FIRST)
    assert executions.begun(over, attrs.evolve(FIRST, execution_id="x2")).place.execution_id == "x2"


@pytest.mark.rule("J53")
def test_how_a_process_ended_stays() -> None:
    over = executions.ended(executions.begun(ENTRY, FIRST), "x1", Ending.CRASHED, now=NOW)

    for entry, execution_id in (
        (over, "x1"),
        (executions.begun(ENTRY, FIRST), "x2"),
        (ENTRY, "x1"),
    ):
        with pytest.raises(ManifestRefused, match="append-only and immutable"):
            executions.ended(entry, execution_id, Ending.STOPPED, now=NOW)


@pytest.mark.rule("J52")
def test_a_process_that_is_there_is_remembered_with_its_conversation() -> None:
    begun = executions.begun(ENTRY, FIRST)
    there = executions.started(executions.born(begun, "x1", PROCESS), "c1")

    assert there.execution is not None
    assert there.execution.process == PROCESS
    assert there.continuation_id == "c1"
    over = executions.ended(there, "x1", Ending.CRASHED, now=NOW)
    assert over.history.ends == (NOW,)
    for entry in (over, ENTRY, begun):
        with pytest.raises(ManifestRefused):
            executions.started(entry, "c1")


@pytest.mark.rule("J47", "J48")
def test_a_process_is_known_before_it_runs_and_gone_on_with_once_it_has_a_conversation() -> None:
    begun = executions.begun(ENTRY, FIRST)
    pending = attrs.evolve(begun, history=recovery.begun(begun.history, "x1"), continuation_id="c1")
    born = executions.born(pending, "x1", PROCESS)

    assert born.execution == attrs.evolve(FIRST, process=PROCESS)
    assert executions.came_to_nothing(born)
    assert not executions.came_to_nothing(executions.started(born, "c1"))
    for entry, name in ((born, "x1"), (pending, "x2"), (ENTRY, "x1")):
        with pytest.raises(ManifestRefused, match="no process that begins"):
            executions.born(entry, name, PROCESS)


@pytest.mark.rule("J41", "J53")
def test_an_end_that_was_wanted_is_no_crash() -> None:
    over = executions.ended(executions.begun(ENTRY, FIRST), "x1", Ending.STOPPED, now=NOW)

    assert over.history.ends == ()


@pytest.mark.rule("J41")
def test_an_end_is_a_crash_unless_it_came_with_that_of_the_supervisor() -> None:
    there = executions.begun(ENTRY, FIRST)
    found = {own: executions.ended(there, "x1", Ending.CRASHED, now=NOW, own=own) for own in (7, 8)}

    assert {own: len(over.history.ends) for own, over in found.items()} == {7: 1, 8: 0}


@pytest.mark.rule("J140")
def test_the_newest_of_earlier_processes_are_remembered_and_all_are_counted() -> None:
    entry = executions.begun(ENTRY, FIRST)
    for number in range(2, executions.REMEMBERED + 3):
        last = entry.execution
        assert last is not None
        entry = executions.born(entry, last.execution_id, PROCESS)
        entry = executions.ended(
            entry, last.execution_id, Ending.CRASHED, now=NOW, exit_code=-9, tail="x" * 9999
        )
        entry = executions.begun(entry, attrs.evolve(FIRST, execution_id=f"x{number}"))

    assert entry.restarts == executions.REMEMBERED + 1
    assert len(entry.earlier) == executions.REMEMBERED
    assert [one.execution_id for one in entry.earlier[-2:]] == ["x20", "x21"]
    assert all(one.is_over and one.exit_code == -9 for one in entry.earlier)
    tails = [len(one.tail) for one in entry.earlier]
    assert tails == [*[0] * (executions.REMEMBERED - 1), executions.LONGEST_TAIL]
    never_ran = executions.ended(entry, "x22", Ending.STOPPED, now=NOW)
    assert executions.begun(never_ran, attrs.evolve(FIRST, execution_id="x23")).earlier == (
        entry.earlier
    )
