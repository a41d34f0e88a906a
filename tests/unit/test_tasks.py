"""What a task is, and which status follows which."""

from datetime import UTC, datetime

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from letagents.domain import tasks
from letagents.domain.errors import Malformed
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.sessions import Session, SessionKind
from letagents.domain.tasks import (
    ARTIFACT_BYTES,
    MOST_ARTIFACTS,
    MOVES,
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


@pytest.mark.rule("T10", "K29")
@pytest.mark.parametrize(
    "wrong",
    [
        "a b",
        f"https://x/{'x' * 2_048}",
        "https://x/\nx",
        "https://\x7f",
        "https://\ud800",
        "javascript:alert(1)",
        "https://ada:secret-word@github.com/o/r/pull/1",
        "https://secret-word@github.com/o/r/pull/1",
        "ssh://github.com/o/r",
    ],
)
def test_what_is_no_address_for_everybody_to_see_is_refused_and_not_shown(wrong: str) -> None:
    with pytest.raises(Malformed, match="pr_url") as refused:
        Patch(pr_url=wrong)
    with pytest.raises(Malformed, match="workflow_artifacts"):
        artifact(url=wrong)

    assert "secret-word" not in str(refused.value)
    assert Patch(pr_url="https://github.com/o/r/pull/1").pr_url == "https://github.com/o/r/pull/1"


@pytest.mark.rule("T10")
def test_so_many_artifacts_and_no_more_belong_to_a_task() -> None:
    Patch(artifacts=(artifact(),) * MOST_ARTIFACTS)

    with pytest.raises(Malformed, match="33 are too many"):
        Patch(artifacts=(artifact(),) * (MOST_ARTIFACTS + 1))
    with pytest.raises(Malformed, match="together"):
        Patch(
            artifacts=(artifact(title="x" * 300, url="https://x/" + "x" * 1_000),)
            * (ARTIFACT_BYTES // 1_000)
        )
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
