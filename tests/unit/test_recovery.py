"""When an agent's process is started again, and when no more."""

from datetime import UTC, datetime, timedelta

import attrs
import pytest

from letagents.domain import recovery
from letagents.domain.recovery import (
    LONGEST_PAUSE,
    LOOP,
    LOOP_WITHIN,
    Action,
    Decision,
    Desired,
    History,
    Seen,
)

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def decide(
    desired: Desired = Desired.RUNNING,
    seen: Seen = Seen.ABSENT,
    history: History | None = None,
    *,
    can_resume: bool = False,
) -> Action:
    history = history or History()
    return recovery.decide(desired, seen, history, can_resume=can_resume, now=NOW).action


@pytest.mark.rule("J40")
@pytest.mark.parametrize("history", [History(), History(is_quarantined=True), History(pending="a")])
def test_who_is_to_stop_is_stopped(history: History) -> None:
    assert decide(Desired.STOPPED, Seen.ALIVE, history) is Action.STOP
    assert decide(Desired.STOPPED, Seen.UNSURE, history) is Action.STOP
    assert decide(Desired.STOPPED, Seen.ABSENT, history) is Action.NOTHING
    assert decide(Desired.PAUSED, Seen.ABSENT, history) is Action.NOTHING
    assert decide(Desired.PAUSED, Seen.ALIVE, history) is Action.STOP


@pytest.mark.rule("J41")
def test_who_crashes_in_a_loop_is_left_alone() -> None:
    history = History()
    for _ in range(LOOP - 1):
        history = recovery.ended(history, now=NOW)
        assert decide(history=history) is Action.START
    history = recovery.ended(history, now=NOW)

    assert decide(history=history) is Action.QUARANTINE
    assert decide(history=recovery.quarantined(history)) is Action.NOTHING
    assert decide(history=recovery.released(recovery.quarantined(history))) is Action.START


@pytest.mark.rule("J41")
def test_ends_of_long_ago_do_not_count() -> None:
    history = History(ends=(NOW - LOOP_WITHIN,) * LOOP)

    assert decide(history=history) is Action.START
    assert recovery.ended(history, now=NOW).ends == (NOW,)


@pytest.mark.rule("J42")
def test_a_conversation_goes_on_where_it_can() -> None:
    assert decide(can_resume=True) is Action.RESUME
    assert decide(can_resume=False) is Action.START
    assert decide(seen=Seen.ALIVE, can_resume=True) is Action.NOTHING


@pytest.mark.rule("J43")
def test_each_failure_doubles_the_pause() -> None:
    assert [recovery.pause(number).total_seconds() for number in range(5)] == [0, 1, 2, 4, 8]
    assert recovery.pause(50) == LONGEST_PAUSE


@pytest.mark.rule("J43")
def test_what_failed_is_tried_again_after_its_pause() -> None:
    history = recovery.failed(recovery.begun(History(), "a1"), now=NOW)
    until = NOW + timedelta(seconds=1)

    waits = recovery.decide(Desired.RUNNING, Seen.ABSENT, history, can_resume=False, now=NOW)
    assert waits == Decision(Action.NOTHING, until)
    later = recovery.decide(Desired.RUNNING, Seen.ABSENT, history, can_resume=False, now=until)
    assert later.action is Action.START
    assert recovery.succeeded(recovery.begun(history, "a2")) == History()


@pytest.mark.rule("J41", "J43")
def test_a_clock_that_is_set_back_keeps_nobody_waiting() -> None:
    tomorrow = NOW + timedelta(days=1)
    failed = recovery.failed(recovery.begun(History(), "a1"), now=tomorrow)

    assert decide(history=failed) is Action.START
    assert decide(history=History(ends=(tomorrow,) * LOOP)) is Action.START
    assert recovery.ended(History(ends=(tomorrow,) * LOOP), now=NOW).ends == (NOW,)


@pytest.mark.rule("J44")
def test_one_action_at_a_time() -> None:
    history = recovery.begun(History(), "a1")

    assert decide(history=history) is Action.SETTLE
    with pytest.raises(ValueError, match="a1"):
        recovery.begun(history, "a2")
    assert recovery.released(attrs.evolve(history, failures=3)) == History(pending="a1")


@pytest.mark.rule("J45")
def test_nothing_is_started_beside_what_may_be_alive() -> None:
    assert decide(seen=Seen.UNSURE) is Action.SETTLE
    assert decide(seen=Seen.UNSURE, can_resume=True) is Action.SETTLE
