"""How long a task has been waiting, as a board shows it."""

from datetime import UTC, datetime, timedelta

import attrs
import pytest

from letagents.domain.stale_tasks import Mute, look
from letagents.domain.tasks import Status, Task

THEN = datetime(2030, 1, 1, tzinfo=UTC)
TASK = Task(
    number=1,
    title="roof",
    created_by="Ada",
    status=Status.ACCEPTED,
    created_at=THEN,
    updated_at=THEN,
)


@pytest.mark.rule("D36")
@pytest.mark.parametrize(
    ("status", "minutes", "is_worked_on", "reason"),
    [
        (Status.ACCEPTED, 14, False, None),
        (Status.ACCEPTED, 15, False, "accepted_unclaimed"),
        (Status.ACCEPTED, 0, True, "accepted_with_work_lease"),
        (Status.MERGED, 0, True, "merged_with_work_lease"),
        (Status.MERGED, 99, False, None),
        (Status.ASSIGNED, 0, False, "missing_work_lease"),
        (Status.IN_PROGRESS, 99, True, None),
        (Status.BLOCKED, 0, False, "missing_work_lease"),
        (Status.BLOCKED, 30, False, "blocked_no_follow_up"),
        (Status.IN_REVIEW, 30, True, "in_review_no_follow_up"),
    ],
)
def test_a_task_is_stale_that_waits_too_long_or_is_at_odds_with_its_lease(
    status: Status, minutes: int, is_worked_on: bool, reason: str | None
) -> None:
    lasts = timedelta(minutes=minutes)
    found = look(attrs.evolve(TASK, status=status), THEN + lasts, is_worked_on=is_worked_on)

    assert (found.reason, found.lasts) == (reason, lasts if reason else None)


@pytest.mark.rule("D37")
def test_a_mute_is_of_the_task_as_it_stood() -> None:
    mute = Mute(task_id="task_1", number=1, stood_since=THEN, by="Ada", at=THEN)

    assert mute.holds(TASK)
    assert not mute.holds(attrs.evolve(TASK, updated_at=THEN + timedelta(seconds=1)))
    assert not attrs.evolve(mute, is_over=True).holds(TASK)
