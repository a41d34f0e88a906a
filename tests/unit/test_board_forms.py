"""Tasks as everybody may see them: short on the board, whole one by one, never too large."""

from datetime import UTC, datetime, timedelta

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.test_leases import LEASE
from tests.unit.test_tasks import ADA, artifact, task

from letagents.domain.board import LeaseView, TaskView
from letagents.domain.bounds import RESULT_LIMIT
from letagents.domain.events import Event, EventType
from letagents.domain.ids import MessageId
from letagents.domain.locks import Lock
from letagents.domain.tasks import DESCRIPTION_LIMIT, Artifact, Status, Task
from letagents.domain.verdicts import Record, Verdict, VerdictKind
from letagents.wire import board
from letagents.wire.bounds import size

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def lease_view(*, free_at: datetime | None = None) -> LeaseView:
    return LeaseView(
        lease=LEASE,
        is_held=True,
        alive=free_at is None,
        has_left=False,
        silent_for=timedelta(seconds=5),
        free_at=free_at,
    )


def view(one: Task, **more: object) -> TaskView:
    return TaskView(task=one, **more)  # type: ignore[arg-type]  # a test's shorthand


def whole(one: Task, described_from: int = 0) -> board.Plain:
    return board.task(view(one), "workshop", described_from=described_from)


def test_the_board_shows_the_newest_four_artifacts_and_how_many_there_are() -> None:
    runs = tuple(artifact(id=f"run-{number}") for number in range(12))
    row = board.row(view(attrs.evolve(task(Status.IN_REVIEW, ADA), artifacts=runs)))

    assert [one["id"] for one in row["workflow_artifacts"]] == [
        "run-8",
        "run-9",
        "run-10",
        "run-11",
    ]
    assert row["workflow_artifact_count"] == 12
    assert row["workflow_artifacts_truncated"] is True


def test_a_row_says_what_there_is_and_nothing_of_what_is_not() -> None:
    bare = board.row(view(task(Status.ACCEPTED)))
    lock = Lock(number=1, created_by="Grace", created_at=NOW)
    leased = task(Status.ASSIGNED, ADA)
    full = board.row(view(leased, leases=(lease_view(),), locks=(lock,)))

    assert set(bare) == {"id", "title", "status", "created_by", "updated_at"}
    assert full["assignee_agent_key"] == ADA.agent_key
    assert full["active_leases"] == [
        {
            "id": "work_lease_1",
            "kind": "work",
            "epoch": 1,
            "actor_label": ADA.actor_label,
            "is_held": True,
        }
    ]
    assert full["active_locks"] == [{"id": "lock_1", "scope": "room", "reason": "human_stop"}]


def test_a_row_previews_a_description() -> None:
    long = board.row(view(attrs.evolve(task(Status.ACCEPTED), description="x" * 500)))
    short = board.row(view(attrs.evolve(task(Status.ACCEPTED), description="short")))

    assert (len(long["description"]), long["description_truncated"]) == (board.PREVIEW, True)
    assert short["description"] == "short"
    assert "description_truncated" not in short


def test_a_whole_task_says_everything() -> None:
    lock = Lock(number=1, created_by="Grace", created_at=NOW, cleared_at=NOW, cleared_by="Bob")
    standing = attrs.evolve(task(Status.ASSIGNED, ADA), source_message=MessageId(7))
    shown = board.task(
        view(standing, leases=(lease_view(free_at=NOW), lease_view()), locks=(lock,)), "workshop"
    )

    assert (shown["id"], shown["room_id"], shown["source_message_id"]) == (
        "task_3",
        "workshop",
        "msg_7",
    )
    assert shown["assignee_agent_session_id"] == str(ADA.session_id)
    assert [one["expires_at"] for one in shown["active_leases"]] == [
        "2030-01-01T00:00:00.000Z",
        None,
    ]
    assert shown["active_locks"][0]["cleared_by"] == "Bob"
    assert shown["description"] is None


@settings(max_examples=15, deadline=None)
@given(description=st.text(st.sampled_from('a"\\\n🦊ü'), min_size=1, max_size=60).map(
    lambda text: (text * DESCRIPTION_LIMIT)[:DESCRIPTION_LIMIT]
))  # fmt: skip
def test_a_description_of_any_size_is_read_to_its_end(description: str) -> None:
    most = tuple(artifact(title='"' * 300) for _ in range(32))
    standing = attrs.evolve(task(Status.ACCEPTED), description=description, artifacts=most)
    read, offset = "", 0
    while True:
        shown = whole(standing, offset)
        assert size({"tasks": [shown], "success": True}) <= RESULT_LIMIT
        read += shown["description"]
        if "description_next_offset" not in shown:
            break
        assert shown["description_next_offset"] > offset
        offset = shown["description_next_offset"]

    assert read == description
    assert whole(standing, len(description) + 5)["description"] == ""


@pytest.mark.rule("T10")
def test_artifacts_of_any_kind_fit_beside_a_description() -> None:
    worst = Artifact(
        provider=artifact().provider,
        kind=artifact().kind,
        title='"' * 300,
        ref='"' * 84,
    )
    standing = attrs.evolve(
        task(Status.ACCEPTED), description="x" * DESCRIPTION_LIMIT, artifacts=(worst,) * 32
    )

    assert size(whole(standing)) <= RESULT_LIMIT


def test_an_event_and_a_verdict_have_their_forms() -> None:
    event = Event(number=1, task_id="task_3", type=EventType.CLAIMED, at=NOW, actor="Ada",
                  before="accepted", after="assigned", epoch=1)  # fmt: skip
    said = Verdict(kind=VerdictKind.APPROVE, head_sha="a" * 40, key="k")
    record = Record(number=1, task_id="task_3", verdict=said, by="Bob", by_key="grace/bob",
                    lease_id="review_lease_1", epoch=1, at=NOW)  # fmt: skip
    effect = board.effect(record)

    assert (board.event(event)["from"], board.event(event)["to"]) == ("accepted", "assigned")
    assert (effect["state"], effect["published"], effect["external_id"]) == (
        "succeeded",
        False,
        None,
    )
    assert board.moves(task(Status.DONE)) == ["accepted"]
