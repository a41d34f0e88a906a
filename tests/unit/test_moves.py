"""Who may move a task, and what they have to hold for it."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.test_tasks import ADA, BOB, STATUSES, task

from letagents.domain import moves
from letagents.domain.moves import (
    FOR_ADMINS,
    Need,
    NotYours,
    ReviewDecisionOnly,
    ReviewRequired,
    ReviewWorkerRequired,
    WorksOnIt,
    WrongStatus,
)
from letagents.domain.tasks import (
    WORKING,
    AdminRequired,
    Assignee,
    InvalidTransition,
    Patch,
    Status,
)


@pytest.mark.rule("T2")
@given(status=STATUSES)
def test_only_an_admin_accepts_and_closes(status: Status) -> None:
    standing = task(Status.ASSIGNED, ADA)

    if status in FOR_ADMINS:
        with pytest.raises(AdminRequired):
            moves.check_change(standing, Patch(status=status), ADA, is_admin=False)
        with pytest.raises(AdminRequired):
            moves.check_change(
                standing, Patch(status=status), None, is_admin=False, has_approval=True
            )
        moves.check_change(standing, Patch(status=status), ADA, is_admin=False, has_approval=True)
    moves.check_change(standing, Patch(status=status), ADA, is_admin=True)


@pytest.mark.rule("T3")
@given(status=st.sampled_from(sorted(WORKING - {Status.ASSIGNED}, key=str)))
def test_who_is_not_on_a_task_does_not_move_it_on(status: Status) -> None:
    standing = task(Status.IN_PROGRESS, ADA)
    nobodys = task(Status.ACCEPTED)

    moves.check_change(standing, Patch(status=status), ADA, is_admin=True)
    with pytest.raises(NotYours, match="Ada"):
        moves.check_change(standing, Patch(status=status), BOB, is_admin=True)
    with pytest.raises(NotYours, match="nobody is on it"):
        moves.check_change(nobodys, Patch(status=status), BOB, is_admin=True)


@pytest.mark.rule("T3")
def test_an_agent_claims_for_itself_and_gives_nothing_away() -> None:
    claim = Patch(status=Status.ASSIGNED, assignee=Assignee.of(ADA))
    moves.check_change(task(Status.ACCEPTED), claim, ADA, is_admin=False)

    for other in (Assignee.of(BOB), Assignee(ADA.actor_label, "grace/other"), Assignee("Bob")):
        with pytest.raises(NotYours, match="for themselves"):
            moves.check_change(
                task(Status.ACCEPTED), attrs.evolve(claim, assignee=other), ADA, is_admin=True
            )
    with pytest.raises(NotYours, match="cannot reassign"):
        moves.check_change(
            task(Status.ASSIGNED, ADA), Patch(assignee=Assignee("")), ADA, is_admin=True
        )


def test_a_person_puts_on_a_task_whom_they_want() -> None:
    given_to_bob = Patch(status=Status.ASSIGNED, assignee=Assignee.of(BOB))

    moves.check_change(task(Status.ACCEPTED), given_to_bob, None, is_admin=True)


def test_who_is_on_a_task_is_known_by_key_or_by_label_where_no_key_is_kept() -> None:
    standing = task(Status.ASSIGNED)
    named = attrs.evolve(standing, assignee=Assignee(ADA.actor_label))
    keyed = attrs.evolve(standing, assignee=Assignee(ADA.actor_label, "grace/other"))

    assert named.is_on(ADA)
    assert not named.is_on(BOB)
    assert not keyed.is_on(ADA)
    assert not standing.is_on(ADA)


@pytest.mark.rule("T4")
def test_a_review_decision_stands_alone_and_is_a_workers() -> None:
    waiting = task(Status.IN_REVIEW, ADA)
    back = Patch(status=Status.BLOCKED)

    moves.check_change(waiting, back, BOB, is_admin=False)
    with pytest.raises(ReviewDecisionOnly):
        moves.check_change(waiting, attrs.evolve(back, pr_url="https://x"), BOB, is_admin=True)
    with pytest.raises(ReviewWorkerRequired):
        moves.check_change(waiting, back, None, is_admin=True)


@pytest.mark.rule("T5")
@pytest.mark.parametrize("reviewer", [None, ADA.agent_key])
def test_what_nobody_else_reviews_is_not_merged(reviewer: str | None) -> None:
    merge = Patch(status=Status.MERGED)
    with pytest.raises(ReviewRequired):
        moves.check_merge(task(Status.IN_REVIEW, ADA), merge, reviewer, ADA.agent_key)

    moves.check_merge(task(Status.IN_REVIEW, ADA), merge, BOB.agent_key, ADA.agent_key)
    moves.check_merge(task(Status.IN_REVIEW, ADA), Patch(status=Status.DONE), None, None)


@pytest.mark.rule("T6")
@pytest.mark.parametrize(
    ("before", "patch", "needed"),
    [
        (Status.ACCEPTED, Patch(status=Status.ASSIGNED), Need.CLAIM),
        (Status.ASSIGNED, Patch(status=Status.IN_PROGRESS), Need.WORK),
        (Status.ASSIGNED, Patch(status=Status.IN_REVIEW), Need.WORK),
        (Status.IN_PROGRESS, Patch(status=Status.BLOCKED), Need.WORK),
        (Status.IN_PROGRESS, Patch(status=Status.DONE), Need.WORK),
        (Status.IN_REVIEW, Patch(status=Status.BLOCKED), Need.REVIEW),
        (Status.IN_REVIEW, Patch(status=Status.DONE), Need.NOTHING),
        (Status.IN_REVIEW, Patch(status=Status.MERGED), Need.NOTHING),
        (Status.ASSIGNED, Patch(status=Status.CANCELLED), Need.NOTHING),
        (Status.DONE, Patch(status=Status.ACCEPTED), Need.NOTHING),
        (Status.ASSIGNED, Patch(pr_url="https://x"), Need.WORK),
        (Status.ASSIGNED, Patch(artifacts=()), Need.WORK),
        (Status.IN_REVIEW, Patch(status=Status.MERGED, pr_url="https://x"), Need.WORK),
    ],
)
def test_what_a_change_needs(before: Status, patch: Patch, needed: Need) -> None:
    assert moves.need(task(before, ADA), patch) is needed


@pytest.mark.rule("T7")
def test_a_task_is_claimed_from_whom_is_not_there() -> None:
    for status in WORKING:
        moves.check_claim(task(status, ADA), BOB, assignee_is_there=False)
        moves.check_claim(task(status, ADA), ADA, assignee_is_there=True)
        moves.check_claim(task(status), BOB, assignee_is_there=False)
        with pytest.raises(NotYours, match="Ada"):
            moves.check_claim(task(status, ADA), BOB, assignee_is_there=True)
    for status in set(Status) - WORKING - {Status.ACCEPTED}:
        with pytest.raises(InvalidTransition):
            moves.check_claim(task(status), BOB, assignee_is_there=False)


@pytest.mark.rule("T9")
@given(status=STATUSES)
def test_only_what_waits_is_reviewed_and_not_by_who_is_on_it(status: Status) -> None:
    standing = task(status, ADA)
    if status not in (Status.IN_REVIEW, Status.BLOCKED):
        with pytest.raises(WrongStatus, match=status.value):
            moves.check_review(standing, BOB, None)
        return
    moves.check_review(standing, BOB, ADA.agent_key)
    with pytest.raises(WorksOnIt):
        moves.check_review(standing, ADA, None)
    with pytest.raises(WorksOnIt):
        moves.check_review(task(status), ADA, ADA.agent_key)
