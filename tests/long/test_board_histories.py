"""More recorded histories of many processes on one board than a gate has time for."""

import sys
from pathlib import Path

import pytest
from tests.integration.board_processes import OPERATIONS, faults, record

pytestmark = pytest.mark.long


@pytest.mark.skipif(sys.platform == "win32", reason="Windows pauses no process")
@pytest.mark.rule("B1")
@pytest.mark.parametrize("seed", range(10, 30))
def test_a_recorded_history_is_one_that_can_be(tmp_path: Path, seed: int) -> None:
    history = record(tmp_path / "rooms.db", seed)

    assert faults(history) == []
    assert len(history.answered) >= OPERATIONS
