"""What goes over HTTP of a room's memory comes back as it was; others' words are understood."""

from datetime import UTC, datetime
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.arbitrary import MOMENTS, NUMBERS, TEXTS, WORDS, of, several
from tests.unit.test_http_board import ARTIFACTS, FEW, sent

from letagents.domain import artifacts, guidelines, knowledge, reasoning, search
from letagents.domain.artifacts import Shared
from letagents.domain.authors import Author
from letagents.domain.errors import LetAgentsError, Malformed
from letagents.domain.guidelines import Guidelines, GuidelinesTooLong, InForce
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.knowledge import CATEGORIES, Entry, Section
from letagents.domain.reasoning import (
    ClosedReasoning,
    ForeignReasoning,
    Reasoning,
    Trace,
    UnknownReasoning,
    Update,
)
from letagents.domain.records import AlreadyAnswered, Archived, Conflict, Record, UnknownRecord
from letagents.domain.room_events import RepositoryEvent
from letagents.domain.search import Found, Hit, Query
from letagents.domain.tasks import Artifact
from letagents.domain.wake_arguments import CONCLUSIONS, STATUSES
from letagents.domain.wake_rules import (
    AlreadySo,
    Asked,
    ForeignWakeRule,
    TooManyWakeRules,
    UnknownWakeRule,
    WakeRule,
)
from letagents.wire.http import artifacts as wire_artifacts
from letagents.wire.http import guidelines as wire_guidelines
from letagents.wire.http import knowledge as wire_knowledge
from letagents.wire.http import problems
from letagents.wire.http import reasoning as wire_reasoning
from letagents.wire.http import search as wire_search
from letagents.wire.http import wakes as wire_wakes
from letagents.wire.http.reading import Fields, Unreadable

ROOM = RoomId("workshop")
AT = "2030-01-01T00:00:00.000Z"
RECORDS = of(Record)
SHARED = of(Shared, artifact=ARTIFACTS, task_ids=several(WORDS))
TRACES = of(Trace)
GUIDELINES = of(Guidelines)
IN_FORCE = st.just(InForce()) | st.builds(
    InForce, GUIDELINES, st.none() | st.just(RoomId("github.com/ada/engine"))
)
URLS = st.sampled_from([None, "https://example.com/a?b=c"])
TIMERS = st.fixed_dictionaries({"after_ms": st.integers(60_000, 10**8)}) | st.fixed_dictionaries(
    {"at": MOMENTS.map(datetime.isoformat)}
)
TASKS = st.fixed_dictionaries(
    {"task_id": NUMBERS.map("task_{}".format)},
    optional={"to": st.lists(st.sampled_from(STATUSES), min_size=1)},
)
CHECKS = st.fixed_dictionaries(
    {"branch": WORDS}, optional={"conclusions": st.lists(st.sampled_from(CONCLUSIONS), min_size=1)}
)
CLOSED = st.fixed_dictionaries({"pr": NUMBERS}, optional={"merged_only": st.booleans()})
ARGUMENTS = st.one_of(
    st.tuples(st.just("timer"), TIMERS),
    st.tuples(st.just("task.status_changed"), TASKS),
    st.tuples(st.just("github.check_completed"), CHECKS),
    st.tuples(st.just("github.pr_closed"), CLOSED),
    st.tuples(st.just("github.review_submitted"), st.just({"mine": True})),
)
NOTES = st.sampled_from([None, "look at @ada", "„ä“ 東 🙂"])


@st.composite
def asked(draw: st.DrawFn) -> Asked:
    """Return what an agent asks to be woken by, as a caller's words make it."""
    event, arguments = draw(ARGUMENTS)
    until = draw(st.none() | MOMENTS.map(datetime.isoformat))
    repeat = "at" not in arguments and draw(st.booleans())
    return Asked.of(event, arguments, note=draw(NOTES), repeat=repeat, expires_at=until)


@st.composite
def entries(draw: st.DrawFn) -> tuple[Section, Entry]:
    """Return what a record is to say, as a caller's words make it."""
    section = draw(st.sampled_from(Section))
    facts: dict[str, Any] = {
        "category": draw(st.sampled_from(CATEGORIES[section])),
        "title": draw(TEXTS),
        "body": draw(TEXTS),
        "recommendation": draw(st.none() | TEXTS),
        "unblocks": draw(st.none() | TEXTS),
        "source_url": draw(URLS),
        "source_message_id": draw(st.none() | NUMBERS.map("msg_{}".format)),
    }
    return section, knowledge.entry(section, **facts)


# --- there and back ----------------------------------------


@FEW
@given(several(RECORDS), st.booleans())
def test_records_come_back_as_they_were(found: tuple[Record, ...], more: bool) -> None:
    told = wire_knowledge.plain_page(found, ROOM, more=more)

    assert wire_knowledge.page(sent(told)) == (found, more)


@FEW
@given(entries())
def test_what_a_record_is_to_say_is_asked_for_as_it_is_meant(
    given_entry: tuple[Section, Entry],
) -> None:
    section, said = given_entry
    told = Fields(sent(wire_knowledge.plain_entry(said))).document

    assert wire_knowledge.entry(section, told) == said


@FEW
@given(IN_FORCE, st.booleans())
def test_guidelines_come_back_as_they_were(found: InForce, may: bool) -> None:
    told = wire_guidelines.plain(found, ROOM, can_manage=may)

    assert wire_guidelines.in_force(sent(told)) == found


@FEW
@given(several(SHARED), st.booleans())
def test_artifacts_come_back_as_they_were(found: tuple[Shared, ...], more: bool) -> None:
    told = wire_artifacts.plain_page(found, ROOM, more=more)

    assert wire_artifacts.page(sent(told)) == (found, more)


@FEW
@given(several(of(RepositoryEvent)), st.booleans(), st.none() | TEXTS)
def test_events_come_back_as_they_were(
    found: tuple[RepositoryEvent, ...], more: bool, note: str | None
) -> None:
    told = wire_artifacts.plain_events(found, ROOM, more=more, note=note)

    assert wire_artifacts.events(sent(told)) == (found, more, note)


@FEW
@given(
    ARTIFACTS.filter(lambda one: one.url or one.id or one.number or one.ref),
    st.lists(NUMBERS.map("task_{}".format), max_size=3, unique=True).map(tuple),
)
def test_an_artifact_is_published_as_it_is_meant(
    artifact: Artifact, task_ids: tuple[str, ...]
) -> None:
    told = Fields(sent(wire_artifacts.plain_publication(artifact, task_ids)))
    by_itself = Fields({**told.document["artifact"], "linked_task_ids": list(task_ids)})

    assert wire_artifacts.publication(told) == (artifact, task_ids)
    assert wire_artifacts.publication(by_itself) == (artifact, task_ids)


@FEW
@given(of(Reasoning, latest=TRACES))
def test_a_trace_comes_back_as_it_was(kept: Reasoning) -> None:
    assert wire_reasoning.reasoning(sent(wire_reasoning.plain(kept, ROOM))) == kept


@FEW
@given(of(Update, trace=TRACES))
def test_a_state_of_a_trace_comes_back_as_it_was(state: Update) -> None:
    assert wire_reasoning.update(sent(wire_reasoning.plain_update(state, ROOM))) == state


@FEW
@given(of(WakeRule, asked=asked()))
def test_a_wake_rule_comes_back_as_it_was(rule: WakeRule) -> None:
    assert wire_wakes.rule(sent(wire_wakes.plain(rule, ROOM))) == rule


@FEW
@given(asked())
def test_a_wake_rule_is_asked_for_as_it_is_meant(wanted: Asked) -> None:
    assert wire_wakes.asked(sent(wire_wakes.plain_asked(wanted))) == wanted


@FEW
@given(several(of(Hit)), st.booleans())
def test_hits_come_back_as_they_were(hits: tuple[Hit, ...], more: bool) -> None:
    found = Found(hits, more=more)

    assert wire_search.found(sent(wire_search.plain(found, ROOM))) == found


@FEW
@given(
    st.sampled_from([None, 'lexer "in a row" pars*', "迁移 @Ada", "ﷺ" * 15]),
    st.sampled_from([None, "Ada", "@@é", "Ada | Grace's agent | Codex"]),
    st.none() | NUMBERS,
    st.booleans(),
    st.integers(1, 50),
)
def test_what_is_searched_for_is_asked_for_as_it_is_meant(
    text: str | None, author: str | None, number: int | None, timed: bool, limit: int
) -> None:
    since = datetime(2030, 1, 1, 1, 2, 3, 45, tzinfo=UTC) if timed else None
    first = search.asked(text, author=author, since=since, limit=limit)
    query = attrs.evolve(first, below=MessageId(number) if number else None)
    told = {name: value for name, value in wire_search.plain_query(query).items() if value}

    assert read_query(told) == query


def read_query(told: dict[str, Any]) -> Query:
    given_texts = {name: str(value) for name, value in told.items() if name != "limit"}
    return wire_search.query(given_texts, str(told["limit"]))


# --- refusals ----------------------------------------


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (Conflict, 409),
        (UnknownRecord, 404),
        (AlreadyAnswered, 409),
        (Archived, 409),
        (UnknownReasoning, 404),
        (ForeignReasoning, 403),
        (ClosedReasoning, 409),
        (UnknownWakeRule, 404),
        (ForeignWakeRule, 403),
        (TooManyWakeRules, 409),
        (AlreadySo, 409),
    ],
)
def test_a_refusal_comes_back_as_it_was_raised(kind: type[LetAgentsError], status: int) -> None:
    told, document = problems.plain(kind("It was so.", remedy="Look."))
    raised = problems.error(sent(document))

    assert told == status
    assert type(raised) is kind
    assert str(raised) == "It was so. Look."


def test_guidelines_that_are_too_long_are_told_with_their_bytes() -> None:
    with pytest.raises(GuidelinesTooLong) as refused:
        guidelines.normal("ü" * 4001)
    status, document = problems.plain(refused.value, wire_guidelines.SETTING)

    assert (status, document["bytes"], document["max_bytes"]) == (413, 8002, 8000)
    assert str(problems.error(sent(document))) == str(refused.value)


@pytest.mark.parametrize(
    "given_query",
    [
        {"thread": "x"},
        {"before": "latest"},
        {"since": "yesterday"},
        {"words": " "},
        {"author": ""},
        {"since": "2030-01-02T00:00:00Z", "until": "2030-01-01T00:00:00Z"},
    ],
)
def test_what_cannot_be_searched_for_is_refused(given_query: dict[str, str]) -> None:
    with pytest.raises(Malformed):
        wire_search.query(given_query, None)


@pytest.mark.parametrize("limit", ["0", "51", "-1", "ten", "9" * 20])
def test_no_other_number_of_hits_is_given(limit: str) -> None:
    with pytest.raises(Malformed, match="limit"):
        wire_search.query({"words": "lexer"}, limit)


@pytest.mark.parametrize(
    "document",
    [7, {}, {"event": "timer", "arguments": [1]}, {"event": "timer", "repeat": "yes"}],
)
def test_what_is_no_wish_to_be_woken_is_refused(document: object) -> None:
    with pytest.raises((Malformed, Unreadable)):
        wire_wakes.asked(document)


# --- other servers ----------------------------------------


def test_another_servers_record_is_understood() -> None:
    told = {
        "id": "tabs_or_spaces",
        "room_id": "workshop",
        "type": "memory",
        "category": "decision",
        "title": "We use tabs",
        "body": "All of us.",
        "recommendation": None,
        "unblocks": None,
        "source_url": None,
        "source_message_id": None,
        "version": 1,
        "author": {"id": "ada/sage", "label": "Sage", "kind": "agent"},
        "updated_by": "Grace",
        "created_at": AT,
        "updated_at": AT,
        "archived": False,
        "response": None,
    }
    (record,), more = wire_knowledge.page({"records": [told], "truncated": True})

    assert more
    assert record.author == Author("ada/sage", "Sage", "agent")
    assert record.updated_by.label == "Grace"
    assert not wire_knowledge.goes_on({"records": [], "truncated": True})


def test_another_servers_guidelines_are_understood() -> None:
    told = {"guidelines": "Write tests.", "updated_by": "Grace", "updated_at": AT}
    found = wire_guidelines.in_force(told | {"inherited_from_room_id": None})

    assert found.guidelines is not None
    assert (found.guidelines.text, found.guidelines.updated_by.label) == ("Write tests.", "Grace")
    assert wire_guidelines.in_force({"guidelines": None, "updated_by": None}) == InForce()


def test_another_servers_artifacts_are_understood_as_far_as_they_are_known() -> None:
    told = {
        "identity_key": "github:pull_request:number:7",
        "provider": "github",
        "kind": "pull_request",
        "artifact_id": None,
        "artifact_number": 7,
        "source": "agent",
        "first_seen_at": AT,
        "updated_at": AT,
        "linked_task_ids": ["task_1"],
    }
    unknown = {**told, "provider": "forge"}
    (shared,), more = wire_artifacts.page({"artifacts": [unknown, told]})

    assert (shared.artifact.number, shared.task_ids, more) == (7, ("task_1",), False)
    assert artifacts.identity(shared.artifact) == shared.identity


def test_another_servers_trace_is_understood() -> None:
    told = {
        "id": "rs_0",
        "actor_label": "Ada",
        "agent_key": None,
        "summary": "mend the roof",
        "status": "working",
        "latest_payload": None,
        "created_at": AT,
        "updated_at": AT,
        "closed_at": None,
    }
    kept = wire_reasoning.reasoning(told)

    assert kept.latest == reasoning.Trace(summary="mend the roof", status="working")
    assert not wire_reasoning.is_ours(told)
