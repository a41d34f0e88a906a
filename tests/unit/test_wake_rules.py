"""What an agent can let itself be woken by, and when it is."""

import itertools
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from letagents.domain import wake_arguments, wake_rules, waking
from letagents.domain.errors import LetAgentsError, Malformed
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.sessions import Session, SessionKind
from letagents.domain.wake_arguments import STATUSES, Event, Wanted
from letagents.domain.wake_rules import (
    ACTIVE_LIMIT,
    AlreadySo,
    Asked,
    Change,
    ForeignWakeRule,
    State,
    TooManyWakeRules,
    WakeRule,
)

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
TIMER, TASK = "timer", "task.status_changed"


def session(key: str = "ada/sage", kind: SessionKind = SessionKind.WORKER) -> Session:
    return Session(
        session_id=SessionId(f"s-{key.replace('/', '-')}"),
        room_id=RoomId("workshop"),
        kind=kind,
        agent_key=key,
        instance_id="one",
        display_name="Sage",
        base_name="Sage",
        owner_label="Ada",
        ide_label="Codex",
        runtime="codex",
        actor_label="Sage | Ada's agent | Codex",
        created_at=NOW,
        updated_at=NOW,
        last_seen_at=NOW,
    )


def asked(
    event: str = TIMER, arguments: Mapping[str, object] | None = None, **more: object
) -> Asked:
    return Asked.of(event, {"after_ms": 60_000} if arguments is None else arguments, **more)  # type: ignore[arg-type]  # as a caller's words come


def made(what: Asked, now: datetime = NOW) -> WakeRule:
    return wake_rules.made(what, number=1, rule_id="wake_1", by=session(), now=now)


def on_task(to: str | None = None, *, repeat: bool = False) -> WakeRule:
    return made(asked(TASK, {"task_id": "task_3", "to": to}, repeat=repeat))


def change(after: str = "done", task_id: str = "task_3") -> Change:
    return Change(task_id, "in_review", after)


def refusal(event: str, arguments: Mapping[str, object], **more: object) -> str:
    with pytest.raises(Malformed) as refused:
        made(asked(event, arguments, **more))
    return refused.value.happened


# --- what may be asked for -----------------------------------------------------------------------


@pytest.mark.rule("W51", "W49")
@pytest.mark.parametrize(
    ("event", "arguments", "field"),
    [
        ("sunrise", {"at": "2030-01-02T00:00:00Z"}, "event"),
        (TIMER, {}, "arguments"),
        (TIMER, {"at": None, "after_ms": None}, "arguments"),
        (TIMER, {"at": "2030-01-01T13:00:00Z", "after_ms": 60_000}, "arguments"),
        (TIMER, {"after_ms": 60_000, "task_id": "task_1"}, "arguments: 'task_id'"),
        (TIMER, {"after_ms": "soon"}, "arguments.after_ms"),
        (TIMER, {"after_ms": 0}, "arguments.after_ms"),
        (TIMER, {"after_ms": True}, "arguments.after_ms"),
        (TIMER, {"after_ms": 60_000.5}, "arguments.after_ms"),
        (TIMER, {"after_ms": 10**12}, "arguments.after_ms"),
        (TASK, {"to": ["done"]}, "arguments"),
        (TASK, {"task_id": "task_0"}, "arguments.task_id"),
        (TASK, {"task_id": 3}, "arguments.task_id"),
        (TASK, {"task_id": "task_3", "to": []}, "arguments.to"),
        (TASK, {"task_id": "task_3", "to": 5}, "arguments.to"),
        (TASK, {"task_id": "task_3", "to": ["ready"]}, "arguments.to"),
        (TASK, {"task_id": "task_3", "to": [["done"]]}, "arguments.to"),
        ("github.check_completed", {"branch": "main", "mine": True}, "arguments"),
        ("github.check_completed", {"branch": "ma in"}, "arguments.branch"),
        ("github.check_completed", {"branch": "x" * 256}, "arguments.branch"),
        ("github.check_completed", {"pr": 0}, "arguments.pr"),
        ("github.check_completed", {"pr": 1, "conclusions": ["fine"]}, "arguments.conclusions"),
        ("github.review_submitted", {"branch": "main"}, "arguments: 'branch'"),
        ("github.review_submitted", {"pr": 1, "states": "happy"}, "arguments.states"),
        ("github.pr_closed", {"mine": "yes"}, "arguments.mine"),
        ("github.pr_closed", {"pr": 2, "merged_only": 1}, "arguments.merged_only"),
    ],
)
def test_an_argument_that_does_not_fit_is_refused_by_its_name(
    event: str, arguments: Mapping[str, object], field: str
) -> None:
    assert refusal(event, arguments).startswith(field)


@pytest.mark.rule("W51")
@pytest.mark.parametrize(
    ("event", "arguments", "wanted"),
    [
        (TIMER, {"after_ms": 60_000.0}, Wanted(after_ms=60_000)),
        (TASK, {"task_id": " task_3 ", "to": "done"}, Wanted(task_id="task_3", to=("done",))),
        (TASK, {"task_id": "task_3", "to": None}, Wanted(task_id="task_3")),
        (
            "github.check_completed",
            {"mine": True, "pr": None, "conclusions": ["failure", "success", "failure"]},
            Wanted(mine=True, conclusions=("success", "failure")),
        ),
        ("github.check_completed", {"branch": "fix/gears"}, Wanted(branch="fix/gears")),
        ("github.pr_closed", {"pr": 7, "merged_only": False}, Wanted(pr=7)),
        ("github.pr_closed", {"pr": 7, "merged_only": True}, Wanted(pr=7, merged_only=True)),
    ],
)
def test_each_event_takes_its_own_arguments(
    event: str, arguments: Mapping[str, object], wanted: Wanted
) -> None:
    assert asked(event, arguments).wanted == wanted


@pytest.mark.rule("W52")
@pytest.mark.parametrize(
    "text", ["2030-01-02T00:00:00", "2030-01-02", "tomorrow", "", "0001-01-01T00:00:00+23:00"]
)
def test_a_moment_without_a_zone_is_refused(text: str) -> None:
    assert refusal(TIMER, {"at": text}).startswith("arguments.at")
    assert refusal(TIMER, {"after_ms": 60_000}, expires_at=text).startswith("expires_at")


@pytest.mark.rule("W52")
def test_a_moment_is_read_in_its_zone() -> None:
    found = wake_arguments.moment("2030-01-02T01:30:00+01:30", "at")

    assert found == datetime(2030, 1, 2, tzinfo=UTC)
    assert wake_arguments.shown(found) == "2030-01-02T00:00:00Z"


@pytest.mark.rule("W48")
def test_only_timers_and_tasks_happen_in_a_room_of_one_machine() -> None:
    assert {event for event in Event if event.happens_here} == {Event.TIMER, Event.TASK}


@pytest.mark.rule("W44")
@pytest.mark.parametrize(
    ("arguments", "more", "field"),
    [
        ({"after_ms": 29_999}, {}, "arguments.after_ms"),
        ({"at": "2030-01-01T12:00:29Z"}, {}, "arguments.at"),
        ({"at": "2029-01-01T12:00:00Z"}, {}, "arguments.at"),
        ({"at": "2030-01-08T12:00:01Z"}, {}, "arguments.at"),
        ({"at": "2030-01-02T12:00:00Z"}, {"repeat": True}, "repeat"),
        ({"after_ms": 59_999}, {"repeat": True}, "arguments.after_ms"),
        ({"after_ms": 60_000}, {"expires_at": "2030-01-01T12:00:59Z"}, "expires_at"),
    ],
)
def test_a_timer_that_is_too_soon_or_too_often_is_refused(
    arguments: Mapping[str, object], more: Mapping[str, object], field: str
) -> None:
    assert refusal(TIMER, arguments, **more).startswith(field)


@pytest.mark.rule("W43")
def test_a_rule_waits_a_day_or_as_long_as_it_says_and_a_week_at_most() -> None:
    week = 7 * 24 * 60 * 60 * 1000
    assert on_task().expires_at == NOW + DAY
    assert made(asked()).expires_at == NOW + DAY
    assert made(asked(arguments={"after_ms": week})).expires_at == NOW + 7 * DAY + 10 * MINUTE
    until = "2030-01-03T12:00:00Z"
    assert made(asked(TASK, {"task_id": "task_3"}, expires_at=until)).expires_at == NOW + 2 * DAY

    for moment in ("2030-01-08T12:00:01Z", "2030-01-01T12:00:10Z"):
        told = refusal(TASK, {"task_id": "task_3"}, expires_at=moment)
        assert told.startswith("expires_at")


@pytest.mark.rule("W49")
def test_a_note_that_is_too_long_is_refused() -> None:
    assert refusal(TIMER, {"after_ms": 60_000}, note="x" * 281).startswith("note: 281")
    assert asked(note="  ").note is None


@pytest.mark.rule("W41")
def test_what_counts_from_now_is_new_each_time() -> None:
    at = {"at": "2030-01-01T13:00:00Z"}

    assert wake_rules.is_the_same(made(asked(TIMER, at)), asked(TIMER, at))
    assert wake_rules.is_the_same(made(asked(repeat=True)), asked(repeat=True))
    assert not wake_rules.is_the_same(made(asked()), asked())
    assert not wake_rules.is_the_same(on_task(), asked(TASK, {"task_id": "task_4"}))


@pytest.mark.rule("W42")
def test_no_agent_has_more_rules_than_it_may() -> None:
    wake_rules.check_count(ACTIVE_LIMIT - 1)

    with pytest.raises(TooManyWakeRules):
        wake_rules.check_count(ACTIVE_LIMIT)


@pytest.mark.rule("W47")
def test_what_is_the_case_already_is_not_waited_for() -> None:
    for_done = asked(TASK, {"task_id": "task_3", "to": ["done", "cancelled"]})
    wake_rules.check_status(for_done, "in_review")
    wake_rules.check_status(asked(TASK, {"task_id": "task_3"}), "done")

    with pytest.raises(AlreadySo) as refused:
        wake_rules.check_status(for_done, "done")
    assert "task_3 is done already" in refused.value.happened


# --- waking --------------------------------------------------------------------------------------


@pytest.mark.rule("W47")
@pytest.mark.parametrize(
    ("to", "happened", "wakes"),
    [
        (None, change("blocked"), True),
        ("done", change("done"), True),
        ("done", change("blocked"), False),
        ("done", change("done", "task_4"), False),
    ],
)
def test_a_tasks_rule_waits_for_that_task_and_those_statuses(
    to: str | None, happened: Change, wakes: bool
) -> None:
    step = waking.moved(on_task(to), happened, NOW)

    assert (step.says is not None) is wakes
    assert (step.rule.state is State.FIRED) is wakes


@pytest.mark.rule("W40")
def test_the_words_call_the_agent_by_its_key_and_hold_its_note() -> None:
    rule = attrs.evolve(made(asked(note="Tea, @Elm!")), agent_key="Agent:Ada/Sage Ü")
    step = waking.due(rule, NOW + MINUTE)

    assert step.says == (
        "@agent:ada/sage wake_1: it is 2030-01-01T12:01:00Z.\nYour note: Tea, @Elm!"
    )


@pytest.mark.rule("W40")
def test_another_agents_rule_cannot_be_cancelled_and_a_persons_word_counts() -> None:
    rule = made(asked())
    human = session("human:name:ada", SessionKind.PERSON)

    with pytest.raises(ForeignWakeRule):
        wake_rules.cancelled(rule, session("bob/elm"), NOW)
    for who in (session(), human, None):
        assert wake_rules.cancelled(rule, who, NOW).state is State.CANCELLED


@pytest.mark.rule("W46")
@pytest.mark.parametrize("state", [State.FIRED, State.CANCELLED, State.EXPIRED])
def test_what_has_ended_never_wakes_again(state: State) -> None:
    for rule in (on_task(repeat=True), made(asked(repeat=True))):
        over = attrs.evolve(rule, state=state)

        assert waking.moved(over, change(), NOW).says is None
        assert waking.due(over, NOW + MINUTE).says is None
        assert wake_rules.cancelled(over, session(), NOW).state is state


@pytest.mark.rule("W46")
def test_what_outlived_its_time_is_expired_from_that_moment_on() -> None:
    rule = on_task(repeat=True)

    assert waking.moved(rule, change(), rule.expires_at).says is None
    step = waking.due(rule, rule.expires_at)
    assert (step.says, step.rule.state) == (None, State.EXPIRED)
    assert step.rule.ended_at == rule.expires_at
    assert wake_rules.settled(rule, NOW) == rule


@pytest.mark.rule("W50")
def test_a_timer_that_nobody_looked_at_wakes_late_and_says_for_when_it_was() -> None:
    step = waking.due(made(asked()), NOW + 20 * HOUR)

    assert "12:01:00" in (step.says or "")
    assert waking.due(made(asked()), NOW + DAY).says is None


@given(gaps=st.lists(st.integers(min_value=0, max_value=200), min_size=1, max_size=40))
@pytest.mark.rule("W45")
def test_a_rule_that_repeats_wakes_once_a_minute_at_most_and_loses_no_last_change(
    gaps: list[int],
) -> None:
    rule, now, told, last = on_task(repeat=True), NOW, list[datetime](), ""
    for number, gap in enumerate(gaps):
        now += timedelta(seconds=gap)
        happened = change(STATUSES[number % len(STATUSES)])
        looked = waking.due(rule, now)
        step = waking.moved(looked.rule, happened, now)
        rule, last = step.rule, step.says or looked.says or last
        told += [now for one in (looked, step) if one.says]
    final = waking.due(rule, now + MINUTE)

    assert all(after - before >= MINUTE for before, after in itertools.pairwise(told))
    assert rule.told == len(told)
    assert final.rule.pending is None
    assert f" to {happened.after}." in (final.says or last)


@given(
    after_ms=st.integers(min_value=60_000, max_value=10_000_000),
    gaps=st.lists(st.integers(min_value=0, max_value=100_000), max_size=20),
)
@pytest.mark.rule("W45")
def test_a_timer_that_repeats_keeps_its_beat_however_late_it_is_looked_at(
    after_ms: int, gaps: list[int]
) -> None:
    rule, now = made(asked(arguments={"after_ms": after_ms}, repeat=True)), NOW
    for gap in gaps:
        now += timedelta(seconds=gap)
        rule = waking.due(rule, now).rule
        if rule.state is State.ACTIVE:
            assert rule.due_at is not None
            assert rule.due_at > now
            assert (rule.due_at - NOW) % timedelta(milliseconds=after_ms) == timedelta(0)


@given(now=st.integers(min_value=-90_000, max_value=90_000), repeat=st.booleans())
@pytest.mark.rule("W45", "W46")
def test_whenever_a_rule_is_looked_at_it_is_next_looked_at_later_or_never(
    now: int, repeat: bool
) -> None:
    """So a room that does what is due comes to an end."""
    moment = NOW + timedelta(seconds=now)
    for rule in (made(asked(repeat=repeat)), on_task(repeat=repeat)):
        after = waking.due(rule, moment).rule
        assert after.state is not State.ACTIVE or after.next_at > moment


@given(
    event=st.text(max_size=20),
    arguments=st.dictionaries(
        st.text(max_size=12),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False)
        | st.text(max_size=30)
        | st.lists(st.text(max_size=9), max_size=3),
    ),
)
@pytest.mark.rule("W49")
def test_whatever_is_asked_for_it_is_taken_or_refused_with_a_remedy(
    event: str, arguments: dict[str, object]
) -> None:
    names = ["timer", TASK, *(one.value for one in Event)]
    for name in (event, *names):
        refused = None
        try:
            made(asked(name, arguments))
        except LetAgentsError as error:
            refused = error
        if refused is not None:
            assert refused.happened.split(":")[0].split(".")[0] in ("event", "arguments")
            assert refused.remedy
