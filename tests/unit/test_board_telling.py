"""What people are told of a task: how it came to stand where it does, and what can follow."""

from datetime import UTC, datetime, timedelta

import attrs
from tests.unit.test_leases import LEASE
from tests.unit.test_tasks import ADA, task

from letagents.domain.board import History, LeaseView, TaskView
from letagents.domain.events import Decision, Event, EventType
from letagents.domain.leases import LeaseKind
from letagents.domain.locks import Lock
from letagents.domain.tasks import Status, Task
from letagents.entrypoints.cli.board import explained, listed
from letagents.entrypoints.cli.printing import Surface

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def lease(
    *, is_held: bool, alive: bool | None, has_left: bool = False, silent: int = 5
) -> LeaseView:
    return LeaseView(
        lease=LEASE,
        is_held=is_held,
        alive=alive,
        has_left=has_left,
        silent_for=timedelta(seconds=silent),
        free_at=None,
    )


def told(one: Task, *leases: LeaseView, events: tuple[Event, ...] = ()) -> str:
    view = TaskView(task=one, leases=leases)
    history = History(view=view, events=events, more=False)
    return "\n".join(explained(history, Surface()))


def test_a_dead_holder_is_told_of_with_how_long_it_has_been_silent() -> None:
    text = told(task(Status.BLOCKED, ADA), lease(is_held=False, alive=False, silent=7_300))

    assert "Works on it: Ada | Grace's agent | Claude Code (work_lease_1, epoch 1)" in text
    assert "last sign 2 h ago, its process is gone: whoever claims it has it." in text
    assert "Any agent can claim it: claim_task." in text


def test_who_can_do_what_is_told_for_each_status() -> None:
    held = lease(is_held=True, alive=True)
    review = told(task(Status.IN_REVIEW, ADA), held)
    working = told(task(Status.IN_PROGRESS, ADA), held)

    assert "Ada can set it to in_progress." in review
    assert "Who reviews it can set it to blocked." in review
    assert "Who reviews it without working on it can set it to merged." in review
    assert "Anybody here can set it to done or cancelled." in review
    assert "Ada, or a person can set it to cancelled." in working
    assert "Another agent can review it: claim_task_review." in review
    assert "Ada can set it to blocked or in_review or done." in working
    assert "Any agent can claim it" not in working
    for is_held in (True, False):
        theirs = attrs.evolve(
            lease(is_held=is_held, alive=None), lease=attrs.evolve(LEASE, kind=LeaseKind.REVIEW)
        )
        reviewed = told(task(Status.IN_REVIEW, ADA), held, theirs)
        assert ("Another agent can review it" in reviewed) is not is_held
        theirs_alone = "Ada, who reviews it, or a person can set it to done or cancelled."
        assert (theirs_alone in reviewed) is is_held
    assert "Any agent can claim it: claim_task." in told(task(Status.ACCEPTED))
    assert "Anybody here can set it to accepted." in told(task(Status.DONE))


def test_what_cannot_be_known_is_said_to_be_unknown() -> None:
    assert "nobody can tell whether its process is there" in told(
        task(Status.ASSIGNED, ADA), lease(is_held=True, alive=None)
    )
    assert "its session has ended" in told(
        task(Status.ASSIGNED, ADA), lease(is_held=True, alive=True, has_left=True, silent=90)
    )


def test_an_event_is_one_line_and_steers_no_terminal() -> None:
    event = Event(
        number=1,
        task_id="task_3",
        type=EventType.REVIEW_DECIDED,
        at=NOW,
        actor=ADA.actor_label,
        detail="comment of abc",
        reason="line\n\x1b[31m" + "x" * 500,
    )
    recorded = attrs.evolve(event, type=EventType.EXPIRED, decision=Decision.RECORD, reason=None)
    text = told(task(Status.ACCEPTED), events=(event, recorded))
    [first, second] = [line for line in text.splitlines() if line.startswith("2030")]

    assert "\x1b" not in text
    assert first.startswith("2030-01-01T00:00:00.000Z review_verdict comment of abc by Ada (line ")
    assert first.endswith("...)")
    assert second.endswith("lease_expire comment of abc")


def test_a_board_is_listed_with_who_is_on_each_task() -> None:
    lock = Lock(number=1, created_by="Grace", created_at=NOW, task_id="task_3", message="rain")
    locked = TaskView(task=task(Status.ACCEPTED), locks=(lock,))
    gone = TaskView(task=task(Status.ASSIGNED, ADA), leases=(lease(is_held=False, alive=False),))
    lines = listed([locked, gone], Surface())
    why = "\n".join(explained(History(view=locked, events=(), more=False), Surface()))

    assert lines[0].split() == ["TASK", "STATUS", "WHO", "TITLE"]
    assert "accepted (locked)  -" in lines[1]
    assert "Ada (gone)" in lines[2]
    assert "lock_1 stops this task (human_stop, by Grace): rain" in why
    assert "claim_task" not in why
