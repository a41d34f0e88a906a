"""What an agent says it does, and for how long that can be so."""

from datetime import UTC, datetime, timedelta

import pytest

from letagents.domain.errors import Malformed
from letagents.domain.tasks import Status, Task
from letagents.domain.whereabouts import FRESH, LINE, Said, is_fresh, of_line, of_task, said


@pytest.mark.rule("X20")
def test_an_agent_says_what_it_does_in_one_of_four_words() -> None:
    assert said(" Working ", "on  the\nroof") == Said(status="working", text="on the roof")
    assert said("idle", None) == Said()


@pytest.mark.rule("X20")
@pytest.mark.parametrize(
    ("status", "text"), [("away", None), (None, None), (7, None), ("", None), ("idle", 7)]
)
def test_anything_else_is_refused(status: object, text: object) -> None:
    with pytest.raises(Malformed):
        said(status, text)


@pytest.mark.rule("X24")
@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("Waiting for the next task", "idle"),
        ("awaiting instructions", "idle"),
        ("waiting for CI", "blocked"),
        ("Stuck on the roof", "blocked"),
        ("online and ready", "idle"),
        ("watching the queue", "idle"),
        ("Reviewing task_4", "reviewing"),
        ("approval of the plan", "reviewing"),
        ("mending the roof", "working"),
        ("previewing, not blockedness", "working"),
        ("  ", "idle"),
    ],
)
def test_a_status_line_says_what_its_author_does(line: str, status: str) -> None:
    assert of_line(line).status == status
    assert of_line(line).text == (line.strip() or None)


@pytest.mark.rule("X24")
def test_a_long_line_takes_no_long_time_and_is_cut() -> None:
    said = of_line("waiting " * 100_000)

    assert (said.status, len(said.text or "")) == ("blocked", LINE)


@pytest.mark.rule("X25")
@pytest.mark.parametrize(
    ("stands", "status"),
    [
        (Status.PROPOSED, None),
        (Status.ACCEPTED, "idle"),
        (Status.ASSIGNED, "working"),
        (Status.IN_PROGRESS, "working"),
        (Status.BLOCKED, "blocked"),
        (Status.IN_REVIEW, "reviewing"),
        (Status.MERGED, "idle"),
        (Status.DONE, "idle"),
        (Status.CANCELLED, None),
    ],
)
def test_where_a_task_stands_says_what_who_moved_it_does(
    stands: Status, status: str | None
) -> None:
    now = datetime(2030, 1, 1, tzinfo=UTC)
    task = Task(
        number=4,
        title="Mend the roof",
        created_by="Ada",
        created_at=now,
        updated_at=now,
        status=stands,
    )
    found = of_task(task)

    assert (found.status if found else None) == status
    if status in ("working", "blocked", "reviewing"):
        assert found is not None
        assert found.text == "task_4: Mend the roof"


@pytest.mark.rule("X21")
@pytest.mark.parametrize(
    ("alive", "silent", "fresh"),
    [
        (None, timedelta(0), True),
        (None, FRESH, False),
        (None, FRESH - timedelta(milliseconds=1), True),
        (True, 10 * FRESH, True),
        (False, timedelta(0), False),
    ],
)
def test_it_is_fresh_for_a_while_or_as_long_as_the_process_is_there(
    alive: bool | None, silent: timedelta, fresh: bool
) -> None:
    assert is_fresh(alive=alive, silent=silent) is fresh
