"""When a room tells that its board stands still."""

from datetime import UTC, datetime, timedelta

import pytest

from letagents.domain import stalls
from letagents.domain.tasks import Status, Task

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def task(number: int, status: Status, minutes: float) -> Task:
    since = NOW - timedelta(minutes=minutes)
    return Task(
        number=number,
        title="Mend the roof",
        created_by="Ada",
        created_at=since,
        updated_at=since,
        status=status,
    )


@pytest.mark.rule("D35")
@pytest.mark.parametrize(
    ("status", "longest"),
    [(Status.ACCEPTED, 15), (Status.BLOCKED, 30), (Status.IN_REVIEW, 30)],
)
def test_a_task_waits_too_long_after_its_time(status: Status, longest: int) -> None:
    assert stalls.waits(task(1, status, longest), NOW)
    assert not stalls.waits(task(1, status, longest - 0.1), NOW)


@pytest.mark.rule("D35")
@pytest.mark.parametrize("status", [one for one in Status if one not in stalls.WAITING])
def test_what_somebody_is_at_or_what_is_done_does_not_wait(status: Status) -> None:
    assert not stalls.waits(task(1, status, 10_000), NOW)


@pytest.mark.rule("D35")
def test_the_longest_waiting_comes_first_and_says_what_can_be_done() -> None:
    found = stalls.waiting(
        [task(1, Status.ACCEPTED, 16), task(2, Status.IN_REVIEW, 45), task(3, Status.BLOCKED, 5)],
        NOW,
    )
    told = [stalls.told(one, NOW) for one in found]

    assert [one.task_id for one in found] == ["task_2", "task_1"]
    assert told[0] == (
        "[status] task_2 has been waiting for a review for 45 minutes: “Mend the roof”. "
        "claim_task_review(task_id='task_2')"
    )
    assert "was accepted 16 minutes ago" in told[1]
    assert stalls.reason(found[1]) == "accepted_unclaimed"
