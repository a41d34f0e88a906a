"""What agents show each other: artifacts, events, reasoning."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.test_wake_rules import session

from letagents.domain import artifacts, reasoning, room_events
from letagents.domain.artifacts import MOST_LINKED, MOST_TASKS, Shared, artifact
from letagents.domain.authors import Author
from letagents.domain.errors import LetAgentsError, Malformed
from letagents.domain.reasoning import ForeignReasoning, trace

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
PULL: Mapping[str, object] = {"provider": "github", "kind": "pull_request", "number": 7}
BY = Author.of(session())


# --- artifacts -----------------------------------------------------------------------------------


@pytest.mark.rule("K42")
@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"provider": "sourceforge"}, "artifact.provider"),
        ({"provider": None}, "artifact.provider"),
        ({"kind": "poem"}, "artifact.kind"),
        ({"kind": 5}, "artifact.kind"),
        ({"number": 0}, "artifact.number"),
        ({"number": 2**31}, "artifact.number"),
        ({"number": 1.5}, "artifact.number"),
        ({"number": True}, "artifact.number"),
        ({"title": "x" * 301}, "artifact.title"),
        ({"title": "a\x00"}, "artifact.title"),
        ({"ref": "x" * 301}, "artifact.ref"),
        ({"state": "x" * 101}, "artifact.state"),
        ({"id": 5}, "artifact.id"),
        ({"url": "ftp://example.com"}, "artifact.url"),
        ({"url": "https://ada:secret@example.com"}, "artifact.url"),
        ({"url": "https://example.com/a b"}, "artifact.url"),
        ({"detail": {}}, "artifact"),
        ({"number": None}, "artifact"),
    ],
)
def test_a_field_that_does_not_fit_is_refused_by_its_name(
    fields: Mapping[str, object], field: str
) -> None:
    with pytest.raises(Malformed) as refused:
        artifact({**PULL, **fields})
    assert refused.value.happened.startswith(f"{field}: ")
    assert "secret" not in str(refused.value)


@pytest.mark.rule("K40")
def test_the_first_stable_thing_that_an_artifact_has_is_its_identity() -> None:
    names = {"url": "https://example.com/7", "id": "n7", "number": 7.0, "ref": "fix"}
    found = []
    for left_out in range(4):
        known = dict(list(names.items())[left_out:])
        made = artifact({"provider": "github", "kind": "merge", **known})
        found.append(artifacts.identity(made).removeprefix("github:merge:"))

    assert found == ["url:https://example.com/7", "id:n7", "number:7", "ref:fix"]


@pytest.mark.rule("K41")
def test_what_is_left_out_stays_as_it_was() -> None:
    def over(before: Shared | None, fields: Mapping[str, object], *tasks: str) -> Shared:
        later = NOW + timedelta(hours=1) if before else NOW
        given = artifact({**PULL, **fields})
        return artifacts.published(before, given, tasks, number=1, by=BY, now=later)

    first = over(None, {"title": "Gears", "state": "open"}, "task_1")
    again = over(first, {"title": " ", "state": None}, "task_1")
    second = over(first, {"state": "merged"}, "task_2", "task_1")

    assert again is first
    assert (second.artifact.title, second.artifact.state) == ("Gears", "merged")
    assert second.task_ids == ("task_1", "task_2")
    assert (second.first_seen_at, second.updated_at) == (NOW, NOW + timedelta(hours=1))
    assert (
        artifacts.published(None, artifact(PULL), (), number=1, by=Author.of(None), now=NOW).source
        == "human"
    )


@pytest.mark.rule("K43")
def test_tasks_are_named_once_each_and_not_too_many() -> None:
    assert artifacts.linked(None, []) == ()
    assert artifacts.linked("task_2", ["task_1", "task_2", "task_1"]) == ("task_2", "task_1")

    many = [f"task_{number}" for number in range(1, MOST_LINKED + 2)]
    for task, linked, field in (
        ("3", [], "task_id"),
        (None, ["task_1", "x"], "linked_task_ids[1]"),
        (None, many, "linked_task_ids"),
    ):
        with pytest.raises(Malformed) as refused:
            artifacts.linked(task, linked)
        assert refused.value.happened.startswith(field)

    full = artifacts.published(
        None,
        artifact(PULL),
        [f"task_{number}" for number in range(1, MOST_TASKS + 1)],
        number=1,
        by=BY,
        now=NOW,
    )
    with pytest.raises(Malformed):
        artifacts.published(full, artifact(PULL), ["task_500"], number=2, by=BY, now=NOW)


_ANY = st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.just("github")
_FIELDS = ("provider", "kind", "id", "number", "title", "url", "ref", "state")


@given(st.dictionaries(st.sampled_from(_FIELDS), _ANY))
@pytest.mark.rule("K42", "K40")
def test_whatever_is_published_it_has_an_identity_or_is_refused(fields: dict[str, object]) -> None:
    try:
        made = artifact({**PULL, **fields})
    except LetAgentsError as error:
        told = error.happened
    else:
        told = f"artifact {artifacts.identity(made)}"
        assert told.startswith(f"artifact {made.provider.value}:{made.kind.value}:")
    assert told.startswith("artifact")


# --- events --------------------------------------------------------------------------------------


@pytest.mark.rule("K50")
def test_events_are_asked_for_by_what_is_given() -> None:
    assert room_events.wanted({}) == room_events.Wanted()
    found = room_events.wanted(
        {"actor": " ada ", "event_type": "", "since": "2030-01-01T12:00:00Z", "limit": 5}
    )
    assert found == room_events.Wanted(actor="ada", since=NOW, limit=5)

    for fields, field in (
        ({"actor": "x" * 201}, "actor"),
        ({"since": "noon"}, "since"),
        ({"until": "2030-01-01"}, "until"),
        ({"since": "2030-01-02T00:00:00Z", "until": "2030-01-01T00:00:00Z"}, "until"),
        ({"limit": 0}, "limit"),
        ({"limit": 101}, "limit"),
        ({"limit": True}, "limit"),
        ({"limit": "5"}, "limit"),
    ):
        with pytest.raises(Malformed) as refused:
            room_events.wanted(fields)
        assert refused.value.happened.startswith(f"{field}: ")


# --- reasoning -----------------------------------------------------------------------------------


@pytest.mark.rule("K60")
def test_a_line_has_single_blanks_and_is_cut() -> None:
    made = trace({"summary": " a \n b\t c ", "goal": "x" * 281, "checking": " ", "blocker": None})

    assert (made.summary, made.goal) == ("a b c", "x" * 280)
    assert (made.checking, made.blocker) == (None, None)
    with pytest.raises(Malformed) as refused:
        trace({"summary": "a", "goal": "a\x00"})
    assert refused.value.happened.startswith("goal: ")


@pytest.mark.rule("K61")
def test_another_line_stands_in_for_the_summary() -> None:
    lines = {"blocker": "e", "hypothesis": "d", "checking": "c", "next_action": "b", "goal": "a"}

    for left in range(5):
        known = dict(list(lines.items())[: left + 1])
        assert trace(known).summary == list(known.values())[-1]
    with pytest.raises(Malformed) as refused:
        trace({"milestone": "m", "summary": " "})
    assert refused.value.happened == "summary is required"


@pytest.mark.rule("K62")
def test_confidence_is_a_share_in_hundredths() -> None:
    given = [0, 1, 0.333, 1.0, None]
    assert [trace({"summary": "a", "confidence": one}).confidence for one in given] == [
        0.0,
        1.0,
        0.33,
        1.0,
        None,
    ]

    for wrong in (-0.1, 1.01, "0.5", True, float("nan"), float("inf")):
        with pytest.raises(Malformed):
            trace({"summary": "a", "confidence": wrong})


def test_a_status_is_one_of_those_of_presence() -> None:
    given = [" Working ", "idle", "", None]
    assert [trace({"summary": "a", "status": one}).status for one in given] == [
        "working",
        "idle",
        None,
        None,
    ]
    for wrong in ("asleep", 5):
        with pytest.raises(Malformed):
            trace({"summary": "a", "status": wrong})


@pytest.mark.rule("K64")
def test_only_its_own_agent_closes_a_trace() -> None:
    opened = reasoning.opened(
        trace({"summary": "a"}), reasoning_id="rs_1", number=1, by=session(), now=NOW
    )
    gone = reasoning.closed(opened, by=session(), now=NOW)

    assert gone.closed_at == NOW
    assert reasoning.closed(gone, by=None, now=NOW + timedelta(hours=1)) == gone
    with pytest.raises(ForeignReasoning):
        reasoning.closed(opened, by=session("bob/elm"), now=NOW)
