"""A person stops exactly the turn that an agent is in, and is told what became of that."""

from datetime import UTC, datetime, timedelta

import attrs
import pytest

from letagents.domain import executions, inbox, turn_controls, turn_prompts, turns
from letagents.domain.errors import Malformed
from letagents.domain.inbox import Item, Stage, TurnBinding
from letagents.domain.manifest import Entry, Execution, Process, TurnControl, TurnControlStatus
from letagents.domain.recovery import Desired
from letagents.domain.turn_controls import Named, Resolution, TurnControlRefused
from letagents.domain.turns import Fate

NOW = datetime(2030, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(seconds=1)
NAMED = Named(
    room_id="workshop",
    work_attempt_id="w1",
    execution_id="x1",
    continuation_id="c1",
    turn_id="t1",
    item_id="supervised-room:e1:workshop:msg_1",
    message_id="msg_1",
)


def agent(control: TurnControl | None = None) -> Entry:
    entry = Entry("e1", "workshop", "Ada", "codex", NOW, desired=Desired.RUNNING)
    entry = executions.begun(entry, Execution("x1", "w1", 1, NOW))
    entry = executions.born(entry, "x1", Process("scripted", 1, "birth-1"))
    return attrs.evolve(executions.started(entry, "c1"), control=control)


def in_turn(turn_id: str = "t1") -> Item:
    item = Item(NAMED.item_id, "e1", "workshop", "msg_1", 1)
    return inbox.started(inbox.dispatched(item), TurnBinding(turn_id, "w1", "x1", "c1"))


def begun(correction: str | None = None) -> TurnControl:
    return turn_controls.begun(agent(), in_turn(), NAMED, "a1", correction, now=NOW)


@pytest.mark.rule("J142")
def test_a_stop_is_written_down_as_one_that_is_about_to_be_done() -> None:
    control = begun("  Shorter. ")

    assert control.status is TurnControlStatus.DISPATCHING
    assert (control.turn_id, control.correction, control.interrupted) == ("t1", "Shorter.", None)


@pytest.mark.rule("J141")
@pytest.mark.parametrize("field", [one.name for one in attrs.fields(Named)])
def test_whatever_is_named_otherwise_is_another_turn(field: str) -> None:
    other = attrs.evolve(NAMED, **{field: "another"})

    with pytest.raises(TurnControlRefused, match="not in exactly that turn"):
        turn_controls.begun(agent(), in_turn(), other, "a1", None, now=NOW)


@pytest.mark.rule("J141")
@pytest.mark.parametrize(
    "item",
    [
        None,
        Item(NAMED.item_id, "e1", "workshop", "msg_1", 1),
        inbox.blocked(in_turn(), "why"),
        inbox.ended(in_turn(), inbox.reply("Hi.")),
        in_turn("t2"),
    ],
)
def test_a_turn_that_does_not_run_is_not_stopped(item: Item | None) -> None:
    with pytest.raises(TurnControlRefused, match="not in exactly that turn"):
        turn_controls.begun(agent(), item, NAMED, "a1", None, now=NOW)


def test_who_is_to_stop_anyway_is_left_to_that() -> None:
    stopping = attrs.evolve(agent(), desired=Desired.STOPPED)

    with pytest.raises(TurnControlRefused, match="a lifecycle action is in flight"):
        turn_controls.begun(stopping, in_turn(), NAMED, "a1", None, now=NOW)


@pytest.mark.rule("J147")
def test_while_one_is_open_no_other_is_begun() -> None:
    first = begun()
    for control in (first, turn_controls.after_crash(first, now=LATER)):
        with pytest.raises(TurnControlRefused, match="already in flight"):
            turn_controls.begun(agent(control), in_turn(), NAMED, "a2", None, now=LATER)

    doubted = turn_controls.after_crash(first, now=LATER)
    next_turn = attrs.evolve(NAMED, turn_id="t2")
    fresh = turn_controls.begun(agent(doubted), in_turn("t2"), next_turn, "a2", None, now=LATER)
    assert fresh.turn_id == "t2"


@pytest.mark.rule("J144", "J145")
@pytest.mark.parametrize(
    ("fate", "status", "interrupted"),
    [
        (turns.Interrupted(), TurnControlStatus.COMPLETED, True),
        (turns.Answered("Hi."), TurnControlStatus.COMPLETED, False),
        (turns.Failed("quota"), TurnControlStatus.COMPLETED, False),
        (turns.Unknowable("it is unreadable"), TurnControlStatus.UNCERTAIN, None),
    ],
)
def test_what_became_of_a_stop_is_known_with_the_end_of_its_turn(
    fate: Fate, status: TurnControlStatus, interrupted: bool | None
) -> None:
    for control in (begun(), turn_controls.after_crash(begun(), now=NOW)):
        left = turn_controls.ended(control, fate, now=LATER)

        assert (left.status, left.interrupted) == (status, interrupted)
    settled = turn_controls.ended(begun(), turns.Interrupted(), now=LATER)
    assert turn_controls.ended(settled, turns.Silent(), now=LATER) == settled
    assert turn_controls.after_crash(settled, now=LATER) == settled


@pytest.mark.rule("J146")
def test_a_message_whose_turn_is_stopped_is_passed_over_or_begun_anew_with_the_correction() -> None:
    assert turn_controls.stopped(in_turn(), begun()).stage is Stage.CANCELLED_BY_USER
    assert turn_controls.stopped(in_turn("t2"), begun("Shorter.")).is_over
    anew = turn_controls.stopped(in_turn(), begun("Shorter."))

    assert (anew.stage, anew.turn, anew.is_unsure) == (Stage.PENDING, None, False)
    assert anew.corrections == ("Shorter.",)
    assert anew.reply_key == in_turn().reply_key
    assert anew.turn_key != anew.item_id
    assert inbox.item_of(anew.turn_key) == inbox.item_of(anew.item_id) == anew.item_id
    assert inbox.dispatched(anew).stage is Stage.DISPATCHING


def test_a_correction_is_told_on_a_line_of_its_own_in_a_turn_that_is_found_by_its_own_name() -> (
    None
):
    anew = turn_controls.stopped(in_turn(), begun("Shorter.\nletagents item: x"))
    about = turn_prompts.Item(item_id=anew.turn_key, message="{}", corrections=anew.corrections)
    text = turn_prompts.prompt(about)

    assert text.splitlines()[-1] == "Shorter. letagents item: x"
    assert turn_prompts.is_about(text, anew.turn_key)
    assert not turn_prompts.is_about(text, anew.item_id)
    assert "was stopped" not in turn_prompts.prompt(attrs.evolve(about, corrections=()))


@pytest.mark.rule("J145")
def test_a_person_says_what_became_of_an_uncertain_stop() -> None:
    doubted = turn_controls.after_crash(begun("Shorter."), now=NOW)
    stuck = inbox.blocked(in_turn(), "Nobody knows.")
    resolve = turn_controls.resolved

    done, left = resolve(doubted, stuck, "a1", Resolution.APPLIED, now=LATER)
    assert (done.status, done.interrupted) == (TurnControlStatus.COMPLETED, True)
    assert left is not None
    assert (left.stage, left.corrections) == (Stage.PENDING, ("Shorter.",))
    undone, left = resolve(doubted, stuck, "a1", Resolution.NOT_APPLIED, now=LATER)
    assert (undone.status, undone.interrupted, left) == (TurnControlStatus.RETRYABLE, False, None)
    with pytest.raises(TurnControlRefused, match="still being looked up"):
        resolve(doubted, in_turn(), "a1", Resolution.APPLIED, now=LATER)
    with pytest.raises(TurnControlRefused, match="of that name"):
        resolve(doubted, stuck, "a2", Resolution.APPLIED, now=LATER)
    with pytest.raises(TurnControlRefused, match="not uncertain: it is completed"):
        resolve(done, stuck, "a1", Resolution.APPLIED, now=LATER)


@pytest.mark.parametrize(
    ("action_id", "correction"), [(" ", None), ("a" * 201, None), ("a1", " "), ("a1", "x" * 4001)]
)
def test_an_action_has_a_name_and_says_something(action_id: str, correction: str | None) -> None:
    with pytest.raises(Malformed):
        turn_controls.check_action(action_id, correction)
