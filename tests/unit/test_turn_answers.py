"""How a turn says by a tool what its answer is, and where it goes."""

from collections.abc import Mapping
from datetime import UTC, datetime

import attrs
import pytest

from letagents.domain import effects, inbox, messages, turn_answers
from letagents.domain.effects import Effect, EffectRefused, Key, Move, State
from letagents.domain.inbox import NO_REPLY, Item, Stage, TurnBinding, reply
from letagents.domain.turns import Answered, Interrupted, Silent

NOW = datetime(2030, 1, 1, tzinfo=UTC)
ITEM = inbox.started(
    inbox.dispatched(Item("i1", "e1", "workshop", "msg_1", 1)), TurnBinding("t1", "w1", "x1", "c1")
)
SAYS = {"outcome": "reply", "text": " Done. "}


def effect(tool: str) -> Effect:
    request = effects.request("workshop", tool, {}, "{}")
    made = Effect("f1", Key("e1", "x1", "t1", "1"), request, State.PREPARED, NOW, NOW)
    return made.moved(Move.BEGIN, now=NOW)


def said(arguments: Mapping[str, object], *under_way: Effect, item: Item = ITEM) -> Item:
    return turn_answers.completed(item, "cursor", arguments, under_way)


@pytest.mark.rule("J80")
def test_an_answer_is_said_once() -> None:
    once = said(SAYS)

    assert once.proposal == reply("Done.")
    assert said(SAYS, item=once) == once
    assert said({"outcome": "no_reply"}).proposal == NO_REPLY
    with pytest.raises(EffectRefused, match="already recorded a different completion proposal"):
        said({"outcome": "no_reply"}, item=once)


@pytest.mark.rule("J80")
def test_nothing_else_is_begun_once_it_is_said() -> None:
    turn_answers.check_open(ITEM, "post_status")
    turn_answers.check_open(said(SAYS), turn_answers.COMPLETE)
    with pytest.raises(EffectRefused, match="already complete; no new effects may be admitted"):
        turn_answers.check_open(said(SAYS), "get_board")


@pytest.mark.rule("J80")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"outcome": "reply"}, "requires non-empty text when outcome is reply"),
        ({"outcome": "reply", "text": " \n"}, "requires non-empty text when outcome is reply"),
        (
            {"outcome": "reply", "text": "\u00e4" * 16_385},
            "exceeds the 32 KiB public-message limit",
        ),
        ({"outcome": "no_reply", "text": "x"}, "must omit text when outcome is no_reply"),
        ({"outcome": "reply", "text": 7}, "completion proposal is malformed"),
        ({"outcome": "later"}, "completion proposal is malformed"),
        ({}, "completion proposal is malformed"),
    ],
)
def test_what_says_no_answer_is_refused(arguments: Mapping[str, object], told: str) -> None:
    with pytest.raises(EffectRefused, match=told):
        said(arguments)


@pytest.mark.rule("J80")
@pytest.mark.parametrize("provider", ["codex", "claude-code", "open-model"])
def test_it_is_said_by_a_tool_only_where_that_is_needed(provider: str) -> None:
    with pytest.raises(EffectRefused, match="reserved for supervised Cursor turns"):
        turn_answers.completed(ITEM, provider, SAYS, ())


@pytest.mark.rule("J81")
def test_it_is_not_said_while_a_change_is_under_way() -> None:
    assert said(SAYS, effect("get_board")).proposal is not None
    with pytest.raises(EffectRefused, match="while an earlier effect is still executing"):
        said(SAYS, effect("post_status"))


@pytest.mark.rule("J82", "J26")
def test_what_was_said_is_gone_with_its_turn() -> None:
    left = inbox.released(inbox.blocked(attrs.evolve(said(SAYS), opens_thread=True), "so"))

    assert (left.proposal, left.opens_thread, left.move) == (None, False, None)


@pytest.mark.rule("J83")
def test_an_answer_goes_where_its_turn_and_its_message_say() -> None:
    assert not turn_answers.goes_into_thread(ITEM)
    assert turn_answers.goes_into_thread(turn_answers.threaded(ITEM, {}))
    assert turn_answers.goes_into_thread(attrs.evolve(ITEM, is_in_thread=True))
    with pytest.raises(EffectRefused, match="empty object"):
        turn_answers.threaded(ITEM, {"thread": "msg_2"})


@pytest.mark.rule("J82")
def test_what_was_said_by_the_tool_is_read_as_the_turn_s_end() -> None:
    assert turn_answers.said(said(SAYS)) == Answered("Done.")
    assert turn_answers.said(said({"outcome": "no_reply"})) == Silent()
    assert turn_answers.said(ITEM) is None
    assert turn_answers.said(None) is None


@pytest.mark.rule("J157", "J82")
def test_a_turn_that_nobody_has_stopped_is_passed_over_by_nobody() -> None:
    left = turn_answers.ended(ITEM, Interrupted())
    answered = turn_answers.ended(said(SAYS), Interrupted())

    assert (left.stage, left.trouble) == (Stage.BLOCKED, turn_answers.BROKEN_OFF)
    assert (answered.stage, answered.outcome) == (Stage.PUBLISHING, inbox.reply("Done."))


@pytest.mark.rule("J153")
def test_an_answer_is_posted_as_a_room_keeps_it() -> None:
    long = "x" * (messages.TEXT_LIMIT + 10)
    posted = turn_answers.postable(long)

    assert turn_answers.postable("a\x1b[1m\x00\ud800b\n") == "a\ufffd[1m\ufffd\ufffdb\n"
    assert messages.checked_text(posted) == posted
    assert posted.endswith("[letagents left out the rest of this answer: 75 characters]")
    kept, _, _ = posted.partition("\n")
    assert len(kept) == len(long) - 75


def test_an_answer_of_which_nobody_sees_anything_is_none() -> None:
    with pytest.raises(EffectRefused, match="non-empty"):
        said({"outcome": "reply", "text": "\u200b"})
