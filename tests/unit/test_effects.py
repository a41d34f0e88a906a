"""A supervised effect is done once, or known to be unknown."""

import itertools
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import pytest

from letagents.domain import effects
from letagents.domain.effects import (
    LARGEST_READ,
    LARGEST_REQUEST,
    LARGEST_REQUESTS,
    LARGEST_RESULT,
    MOVES,
    OPEN_PER_AGENT,
    PER_TURN,
    REFUSED,
    Answer,
    Effect,
    EffectRefused,
    Key,
    Move,
    Prepared,
    Request,
    State,
    Turn,
    Weight,
)

NOW = datetime(2030, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(seconds=1)
TURN = Turn(room_id="workshop", message_id="msg_7")


def request(tool: str = "post_status", room: str = "workshop", **arguments: Any) -> Request:
    return effects.request(room, tool, arguments, json.dumps(arguments))


def asked(tool: str = "post_status", **arguments: Any) -> Effect:
    key = Key("e1", "x1", "t1", "12")
    return Effect("effect-1", key, request(tool, **arguments), State.PREPARED, NOW, NOW)


def prepare(effect: Effect, known: Effect | None = None, turn: Turn = TURN) -> Prepared:
    return effects.prepare(known, effect, turn, now=NOW)


def in_state(state: State, tool: str = "post_status", **facts: Any) -> Effect:
    return attrs.evolve(asked(tool, status="working"), state=state, **facts)


def test_every_move_in_every_state_was_decided_on_purpose() -> None:
    assert set(MOVES) | REFUSED == set(itertools.product(State, Move))
    assert not set(MOVES) & REFUSED


def test_what_is_new_is_begun_in_the_same_step() -> None:
    prepared = prepare(asked(status="working"))

    assert prepared.answer is Answer.EXECUTE
    assert prepared.effect.state is State.EXECUTING


@pytest.mark.rule("J1")
@pytest.mark.parametrize(
    "other",
    [
        request("post_status", status="blocked"),
        request("add_task", status="working"),
        request("post_status", room="another", status="working"),
    ],
)
@pytest.mark.parametrize("state", State)
def test_a_request_id_stands_for_one_request(other: Request, state: State) -> None:
    known = in_state(state)

    with pytest.raises(EffectRefused, match="refusing ambiguous execution"):
        prepare(attrs.evolve(asked(), request=other), known)


@pytest.mark.rule("J2")
def test_what_is_over_answers_again_as_it_did() -> None:
    done = in_state(State.COMPLETED, result="{}")
    refused = in_state(State.FAILED, error="It was refused.")

    assert prepare(asked(status="working"), done) == Prepared(Answer.COMPLETED, done)
    assert prepare(asked(status="working"), refused) == Prepared(Answer.FAILED, refused)


@pytest.mark.rule("J3")
def test_a_change_that_may_have_been_done_is_uncertain_when_it_is_asked_for_again() -> None:
    prepared = prepare(asked(status="working"), in_state(State.EXECUTING))

    assert prepared.answer is Answer.UNCERTAIN
    assert prepared.effect.state is State.UNCERTAIN
    assert prepared.effect.error == effects.UNKNOWN


@pytest.mark.rule("J3")
def test_a_reading_that_was_broken_off_is_done_again() -> None:
    known = in_state(State.EXECUTING, "read_messages")

    assert prepare(asked("read_messages", status="working"), known).answer is Answer.EXECUTE
    assert effects.after_crash(known, now=LATER).state is State.PREPARED


@pytest.mark.rule("J3")
@pytest.mark.parametrize("state", [one for one in State if one is not State.EXECUTING])
def test_a_crash_leaves_what_nobody_was_doing(state: State) -> None:
    assert effects.after_crash(in_state(state), now=LATER) == in_state(state)


@pytest.mark.rule("J4")
def test_what_is_uncertain_is_settled_by_word_of_it_alone() -> None:
    doubtful = in_state(State.UNCERTAIN)

    assert prepare(asked(status="working"), doubtful).answer is Answer.UNCERTAIN
    assert effects.after_crash(doubtful, now=LATER) == doubtful
    assert effects.completed(doubtful, "{}", now=LATER).state is State.COMPLETED
    assert effects.failed(doubtful, "It was not done.", now=LATER).state is State.FAILED


@pytest.mark.rule("J4")
def test_a_person_settles_what_is_uncertain_and_nothing_else() -> None:
    doubtful = in_state(State.UNCERTAIN)
    happened = effects.settled_by_person(doubtful, "{}", now=LATER)
    never = effects.settled_by_person(doubtful, None, now=LATER)

    assert (happened.state, happened.result) == (State.COMPLETED, "{}")
    assert (never.state, never.error) == (State.FAILED, effects.NEVER_HAPPENED)
    for state in set(State) - {State.UNCERTAIN}:
        with pytest.raises(EffectRefused, match="is not uncertain"):
            effects.settled_by_person(in_state(state), None, now=LATER)


@pytest.mark.rule("J5")
@pytest.mark.parametrize("state", [State.COMPLETED, State.FAILED])
def test_what_is_settled_stays_so(state: State) -> None:
    settled = in_state(state, result="{}")

    assert effects.completed(settled, '{"other":1}', now=LATER) == settled
    assert effects.failed(settled, "no", now=LATER) == settled
    assert effects.when_turn_ends(settled, now=LATER) == settled


@pytest.mark.rule("J6")
@pytest.mark.parametrize(
    ("tool", "arguments", "answer"),
    [
        ("send_message", {"text": "hi", "reply_to": "msg_7"}, Answer.FINAL_ANSWER),
        ("send_thread_message", {"thread_parent_id": "msg_7"}, Answer.FINAL_ANSWER),
        ("send_message", {"text": "hi", "reply_to": "msg_6"}, Answer.EXECUTE),
        (
            "send_thread_message",
            {"thread_parent_id": "msg_6", "reply_to": "msg_7"},
            Answer.EXECUTE,
        ),
        ("send_message", {"text": "hi"}, Answer.EXECUTE),
        ("send_message", {"reply_to": 7}, Answer.EXECUTE),
        ("post_status", {"reply_to": "msg_7"}, Answer.EXECUTE),
    ],
)
def test_the_answer_to_the_turns_message_is_the_turns(
    tool: str, arguments: Mapping[str, Any], answer: Answer
) -> None:
    prepared = prepare(asked(tool, **arguments))

    assert prepared.answer is answer
    assert (prepared.effect.state is State.PREPARED) is (answer is Answer.FINAL_ANSWER)
    assert prepare(asked(tool, **arguments), asked(tool, **arguments)).answer is answer


@pytest.mark.rule("J7")
def test_a_move_to_another_room_waits() -> None:
    prepared = prepare(asked("join_room", name=" elsewhere "))

    assert prepared.answer is Answer.ROOM_MOVE
    assert prepared.effect.state is State.PREPARED
    assert prepared.effect.request.destination == "elsewhere"


@pytest.mark.rule("J7")
@pytest.mark.parametrize("name", ["", "  ", "workshop", "two\nlines", "a" * 1025, None, 7])
def test_a_move_goes_to_another_room_that_can_be_one(name: object) -> None:
    with pytest.raises(EffectRefused, match="different valid destination"):
        prepare(asked("join_room", name=name))


@pytest.mark.rule("J8")
def test_what_a_tool_is_the_table_says() -> None:
    assert effects.is_listed_right("get_board", is_change=False)
    assert effects.is_listed_right("send_message", is_change=True)
    assert not effects.is_listed_right("send_message", is_change=False)
    assert not effects.is_listed_right("get_board", is_change=True)


@pytest.mark.rule("J9")
@pytest.mark.parametrize(
    "turn",
    [
        attrs.evolve(TURN, weight=Weight(effects=PER_TURN)),
        attrs.evolve(TURN, open_of_agent=OPEN_PER_AGENT),
        attrs.evolve(TURN, weight=Weight(request_bytes=LARGEST_REQUESTS - 5)),
    ],
)
def test_a_turn_cannot_ask_for_ever(turn: Turn) -> None:
    with pytest.raises(EffectRefused):
        prepare(asked(status="working"), turn=turn)

    known = in_state(State.COMPLETED, result="{}")
    assert prepare(asked(status="working"), known, turn).answer is Answer.COMPLETED


@pytest.mark.rule("J9")
def test_a_request_has_a_size() -> None:
    fits = "a" * (LARGEST_REQUEST - len('{"text": ""}'))

    assert prepare(asked(text=fits)).answer is Answer.EXECUTE
    with pytest.raises(EffectRefused):
        prepare(asked(text=fits + "a"))


@pytest.mark.rule("J9")
def test_of_an_error_the_beginning_is_kept() -> None:
    failed = effects.failed(in_state(State.EXECUTING), "\N{SNOWMAN}" * 100_000, now=LATER)

    assert failed.error is not None
    assert len(failed.error.encode()) <= effects.LARGEST_ERROR


@pytest.mark.rule("J10")
def test_what_was_not_begun_when_its_turn_ended_is_never_done() -> None:
    over = effects.when_turn_ends(in_state(State.PREPARED), now=LATER)

    assert over.state is State.FAILED
    assert over.error == effects.NOT_DONE
    assert prepare(asked(status="working"), over).answer is Answer.FAILED


@pytest.mark.rule("J10")
def test_a_move_that_is_made_next_outlives_its_turn() -> None:
    move = asked("join_room", name="elsewhere")

    assert effects.when_turn_ends(move, now=LATER, is_next=True) == move
    assert effects.when_turn_ends(move, now=LATER).error == effects.NOT_DONE
    assert effects.completed(move, "{}", now=LATER).state is State.COMPLETED


@pytest.mark.rule("J11")
def test_a_large_result_of_a_reading_is_not_kept() -> None:
    reading, change = request("get_board"), request("add_task")

    assert effects.is_kept(reading, LARGEST_READ)
    assert not effects.is_kept(reading, LARGEST_READ + 1)
    assert effects.is_kept(change, LARGEST_READ + 1)
    assert not effects.is_kept(change, LARGEST_RESULT + 1)
    assert not effects.is_kept(change, 10, kept_of_turn=effects.LARGEST_RESULTS)
