"""Many processes on one board: one has a task, and nothing is written under an epoch of before."""

import asyncio
import sys
from pathlib import Path

import pytest
from tests.integration.board_processes import (
    OPERATIONS,
    PATIENCE,
    barrier_for,
    claim_when_told,
    faults,
    process,
    queue,
    record,
    with_tasks,
)

from letagents.domain.events import EventType

MANY = 100


@pytest.mark.rule("B2")
def test_of_a_hundred_processes_that_claim_at_once_one_has_it(tmp_path: Path) -> None:
    place = tmp_path / "rooms.db"
    asyncio.run(with_tasks(place, 1))
    barrier, told = barrier_for(MANY), queue()
    claiming = [
        process(claim_when_told, place, number, barrier, told) for number in range(1, MANY + 1)
    ]
    answers = [told.get() for _ in claiming]
    for one in claiming:
        one.join(PATIENCE)
    [winner] = [label for _, has_it, label in answers if has_it]
    losers = [text for _, has_it, text in answers if not has_it]

    assert len(losers) == MANY - 1
    assert all(winner in text for text in losers)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows pauses no process")
@pytest.mark.rule("B1", "L6", "L8")
@pytest.mark.parametrize("seed", [1, 2])
def test_a_recorded_history_is_one_that_can_be(tmp_path: Path, seed: int) -> None:
    history = record(tmp_path / "rooms.db", seed)

    assert faults(history) == []
    assert len(history.answered) >= OPERATIONS
    assert any(event.type is EventType.EXPIRED for event in history.events)
    assert any(note["what"] == "write" and note["refused"] for note in history.answered)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows pauses no process")
def test_a_build_without_the_fence_is_found_out(tmp_path: Path) -> None:
    history = record(tmp_path / "rooms.db", 3, 500, is_fenced=False)

    assert any("under an old epoch" in fault for fault in faults(history))
