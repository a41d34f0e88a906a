"""Many processes on one board: one has a task, and nothing is written under an epoch of before."""

import asyncio
import sys
from pathlib import Path

import pytest
from tests.integration.board_histories import KILLS, OPERATIONS, Build, record
from tests.integration.board_model import faults
from tests.integration.board_processes import (
    PATIENCE,
    barrier_for,
    claim_when_told,
    process,
    queue,
    with_tasks,
)

from letagents.domain.events import EventType

MANY = 100
HISTORIES = 8


@pytest.mark.rule("B2")
def test_of_a_hundred_processes_that_claim_at_once_one_has_it(tmp_path: Path) -> None:
    place = tmp_path / "rooms.db"
    asyncio.run(with_tasks(place, 1))
    barrier, told = barrier_for(MANY), queue()
    claiming = [
        process(claim_when_told, place, number, barrier, told) for number in range(1, MANY + 1)
    ]
    answers = [told.get(timeout=PATIENCE) for _ in claiming]
    for one in claiming:
        one.join(PATIENCE)
    assert [text for _, text in answers if text.startswith("could not ask")] == []
    [winner] = [label for label, text in answers if text == "has it"]
    losers = [text for _, text in answers if text != "has it"]

    assert len(losers) == MANY - 1
    assert all(winner in text for text in losers)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows pauses no process")
@pytest.mark.rule("B1", "L6", "L8")
@pytest.mark.parametrize("seed", [1, 2])
def test_a_recorded_history_is_one_that_can_be(tmp_path: Path, seed: int) -> None:
    history = record(tmp_path / "rooms.db", seed)

    assert faults(history) == []
    assert len(history.effective) >= OPERATIONS
    assert len(history.killed) >= KILLS
    assert all(history.done(what) >= 100 for what in ("claim", "renewal", "write", "release"))
    assert all(history.refused(what) for what in ("claim", "write", "release"))
    assert any(event.type is EventType.EXPIRED for event in history.events)


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="Windows pauses no process")
@pytest.mark.parametrize(
    ("build", "found"),
    [
        (Build.UNFENCED, "a write under an old epoch"),
        (Build.WITHOUT_EPOCHS, "under an old epoch"),
        (Build.BLIND, "whose process was there"),
    ],
)
def test_a_build_without_a_part_of_the_fence_is_found_out(
    tmp_path: Path, build: Build, found: str
) -> None:
    """In one of several histories at the latest: what happens in which order is chance."""

    def is_found(seed: int) -> bool:
        place = tmp_path / str(seed)
        place.mkdir()
        history = record(place / "rooms.db", seed, 500, build=build)
        return any(found in fault for fault in faults(history))

    assert any(map(is_found, range(3, 3 + HISTORIES)))
