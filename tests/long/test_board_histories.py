"""Histories of many processes on one board, and orders of events, for which a gate has no time."""

import sys
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from tests.contract.test_lease_machine import InSqlite, LeaseMachine
from tests.integration.board_histories import KILLS, OPERATIONS, record
from tests.integration.board_model import faults

pytestmark = pytest.mark.long


@pytest.mark.skipif(sys.platform == "win32", reason="Windows pauses no process")
@pytest.mark.rule("B1")
@pytest.mark.parametrize("seed", range(10, 30))
def test_a_recorded_history_is_one_that_can_be(tmp_path: Path, seed: int) -> None:
    history = record(tmp_path / "rooms.db", seed)

    assert faults(history) == []
    assert len(history.effective) >= OPERATIONS
    assert len(history.killed) >= KILLS


@pytest.mark.rule("L4", "L6", "L8")
@pytest.mark.parametrize(("machine", "examples"), [(LeaseMachine, 500), (InSqlite, 100)])
def test_no_long_order_of_events_gives_a_task_two_holders(
    machine: type[LeaseMachine], examples: int
) -> None:
    options = settings(max_examples=examples, stateful_step_count=60, deadline=None)

    run_state_machine_as_test(machine, settings=options)
