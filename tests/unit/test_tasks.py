"""Which status follows which, and who may move a task."""

from datetime import UTC, datetime

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from letagents.domain import moves, tasks
from letagents.domain.errors import Malformed
from letagents.domain.ids import RoomId, SessionId
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
from letagents.domain.sessions import Session, SessionKind
from letagents.domain.tasks import (
    ADDRESS_LIMIT,
    ARTIFACT_BYTES,
    MOST_ARTIFACTS,
    MOVES,
    WORKING,
    AdminRequired,
    Artifact,
    ArtifactKind,
    Assignee,
    InvalidTransition,
    Patch,
    Proposal,
    Provider,
    Status,
    Task,
)

NOW = datetime(2030, 1, 1, tzinfo=UTC)
STATUSES = st.sampled_from(Status)


def session(name: str) -> Session:
    return Session(
        session_id=SessionId(f"session-{name}"),
        room_id=RoomId("workshop"),
        kind=SessionKind.WORKER,
        agent_key=f"grace/{name}",
        instance_id=name,
        display_name=name,
        base_name=name,
        owner_label="Grace",
        ide_label="Claude Code",
        runtime="claude-code",
        actor_label=f"{name} | Grace's agent | Claude Code",
        created_at=NOW,
        updated_at=NOW,
        last_seen_at=NOW,
    )


ADA, BOB = session("Ada"), session("Bob")


def task(status: Status, on_it: Session | None = None) -> Task:
    return Task(
        number=3,
        title="mend the roof",
        created_by="Grace",
        created_at=NOW,
        updated_at=NOW,
        status=status,
        assignee=Assignee.of(on_it) if on_it else None,
    )


def artifact(**facts: object) -> Artifact:
    return Artifact(provider=Provider.GITHUB, kind=ArtifactKind.ISSUE, **facts)  # type: ignore[arg-type]  # a test's shorthand


@pytest.mark.rule("T1")
def test_every_status_has_its_row_and_no_status_follows_itself() -> None:
    assert set(MOVES) == set(Status)
    assert all(status not in following for status, following in MOVES.items())
    assert all(MOVES[status] for status in Status), "no status is an end"


@pytest.mark.rule("T1")
@given(before=STATUSES, after=STATUSES)
def test_a_move_is_refused_exactly_where_the_table_has_it_not(
    before: Status, after: Status
) -> None:
    if after in MOVES[before]:
        tasks.check_move(task(before), after)
        return
    with pytest.raises(InvalidTransition) as refused:
        tasks.check_move(task(before), after)
    assert refused.value.happened.startswith(
        f"Invalid transition: {before.value} -> {after.value}. Allowed: "
    )
    assert all(one.value in refused.value.happened for one in MOVES[before])


@pytest.mark.rule("T2")
@given(status=STATUSES)
def test_only_an_admin_accepts_and_closes(status: Status) -> None:
    standing = task(Status.ASSIGNED, ADA)

    if status in FOR_ADMINS:
        with pytest.raises(AdminRequired):
            moves.check_change(standing, Patch(status=status), ADA, is_admin=False)
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


@pytest.mark.rule("T8")
def test_a_task_that_is_accepted_again_has_nobody_on_it() -> None:
    again = tasks.changed(task(Status.CANCELLED, ADA), Patch(status=Status.ACCEPTED), now=NOW)
    back = tasks.given_back(task(Status.IN_REVIEW, ADA), now=NOW)
    over = task(Status.MERGED, ADA)

    assert (again.status, again.assignee) == (Status.ACCEPTED, None)
    assert (back.status, back.assignee) == (Status.ACCEPTED, None)
    assert tasks.given_back(over, now=NOW) is over


def test_a_change_keeps_what_it_does_not_name_and_can_take_away() -> None:
    standing = attrs.evolve(task(Status.ASSIGNED, ADA), pr_url="https://x")
    moved = tasks.changed(standing, Patch(status=Status.IN_PROGRESS), now=NOW)
    cleared = tasks.changed(standing, Patch(pr_url="", assignee=Assignee("")), now=NOW)

    assert (moved.pr_url, moved.assignee) == ("https://x", Assignee.of(ADA))
    assert (cleared.pr_url, cleared.assignee) == (None, None)
    assert moved.revision == standing.revision + 1


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


@pytest.mark.rule("T10")
def test_a_proposal_is_kept_within_bounds() -> None:
    assert Proposal(title="  a  ", description="   ") == Proposal(title="a")
    for facts, field in (
        ({"title": ""}, "title"),
        ({"title": "x" * 301}, "title"),
        ({"title": "a\x00"}, "title"),
        ({"title": "a", "description": "x" * 16_385}, "description"),
        ({"title": "a", "client_task_id": "x" * 201}, "client_task_id"),
    ):
        with pytest.raises(Malformed, match=field):
            Proposal(**facts)  # type: ignore[arg-type]  # they are all texts


@pytest.mark.rule("T10")
@pytest.mark.parametrize(
    "wrong", ["a b", "x" * (ADDRESS_LIMIT + 1), "https://x/\n", "\x7f", "https://\ud800"]
)
def test_what_is_no_address_is_refused(wrong: str) -> None:
    with pytest.raises(Malformed, match="pr_url"):
        Patch(pr_url=wrong if wrong.strip() == wrong else f"{wrong}x")
    with pytest.raises(Malformed, match="workflow_artifacts"):
        artifact(url=wrong if wrong.strip() == wrong else f"{wrong}x")


@pytest.mark.rule("T10")
def test_so_many_artifacts_and_no_more_belong_to_a_task() -> None:
    Patch(artifacts=(artifact(),) * MOST_ARTIFACTS)

    with pytest.raises(Malformed, match="33 are too many"):
        Patch(artifacts=(artifact(),) * (MOST_ARTIFACTS + 1))
    with pytest.raises(Malformed, match="together"):
        Patch(artifacts=(artifact(title="x" * 300, url="x" * 1_000),) * (ARTIFACT_BYTES // 1_000))
    with pytest.raises(Malformed, match="title"):
        artifact(title="x" * 301)


@pytest.mark.rule("T10")
@given(text=st.text(max_size=30))
def test_a_task_id_is_one_or_is_refused(text: str) -> None:
    try:
        found = tasks.task_id_of(text)
    except Malformed as refused:
        told = refused.happened
        assert told.startswith("task_id:")
    else:
        assert found == text.strip()
        assert found.startswith("task_")
    assert tasks.task_id_of(" task_12 ") == "task_12"


def test_a_reason_is_bounded_and_may_be_none() -> None:
    assert tasks.reason_of("  because ") == "because"
    assert tasks.reason_of(None) is None
    with pytest.raises(Malformed, match="reason"):
        tasks.reason_of("x" * 2_001)
