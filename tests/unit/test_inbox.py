"""Each message is one turn, and a crash between any two steps loses and doubles none."""

import attrs
import pytest

from letagents.domain import inbox
from letagents.domain.inbox import (
    ATTEMPTS,
    FOLLOWING,
    NEVER_BEGAN,
    NO_REPLY,
    UNREADABLE,
    InboxRefused,
    Item,
    Stage,
    TurnBinding,
    reply,
)

TURN = TurnBinding("t1", "w1", "x1", "c1")


def item(number: int = 1, stage: Stage = Stage.PENDING) -> Item:
    message = f"msg_{number}"
    name = inbox.item_id("e1", "workshop", message)
    return Item(name, "e1", "workshop", message, number, stage)


def waiting() -> Item:
    return inbox.started(inbox.dispatched(item()), TURN)


def test_every_stage_says_what_may_follow() -> None:
    assert set(FOLLOWING) == set(Stage)
    assert {stage for stage in Stage if stage.is_over} == {
        Stage.ACKNOWLEDGED,
        Stage.ACKNOWLEDGED_NO_REPLY,
        Stage.CANCELLED_BY_ROOM_MOVE,
        Stage.CANCELLED_BY_USER,
    }


@pytest.mark.rule("J20")
def test_the_first_that_is_not_over_comes_first() -> None:
    over = item(1, Stage.ACKNOWLEDGED)

    assert inbox.head([item(3), item(2), over]) == item(2)
    assert inbox.head([over]) is None
    assert inbox.head([]) is None


@pytest.mark.rule("J20")
def test_nothing_overtakes_a_blocked_item() -> None:
    assert inbox.head([inbox.blocked(item(1), "why"), item(2)]) is None


@pytest.mark.rule("J21")
def test_a_turn_that_may_have_begun_is_not_begun_again() -> None:
    lost = inbox.after_crash(inbox.dispatched(item()))

    assert lost.stage is Stage.PENDING
    assert inbox.after_crash(lost) == lost
    with pytest.raises(InboxRefused):
        inbox.dispatched(lost)
    assert inbox.ended(inbox.looked_up(lost), reply("It did.")).has_answer


@pytest.mark.rule("J22")
def test_an_item_has_one_turn() -> None:
    again = inbox.after_crash(waiting())

    assert again.stage is Stage.PENDING
    with pytest.raises(InboxRefused):
        inbox.dispatched(again)
    assert inbox.looked_up(again).stage is Stage.AWAITING_RESULT
    assert inbox.looked_up(again).turn == TURN


@pytest.mark.rule("J22")
def test_what_has_no_turn_has_none_to_look_up() -> None:
    with pytest.raises(InboxRefused):
        inbox.looked_up(item())


@pytest.mark.rule("J23")
def test_an_answer_that_is_kept_is_published_after_a_crash_and_no_turn_is_begun() -> None:
    kept = inbox.ended(waiting(), reply("done"))
    again = inbox.after_crash(kept)

    assert kept.stage is Stage.PUBLISHING
    assert again.outcome == reply("done")
    assert inbox.publishing(again).stage is Stage.PUBLISHING
    assert again.reply_key == kept.reply_key
    with pytest.raises(InboxRefused):
        inbox.dispatched(again)


@pytest.mark.rule("J23")
def test_what_has_no_answer_publishes_none() -> None:
    with pytest.raises(InboxRefused):
        inbox.publishing(item())


@pytest.mark.rule("J24")
def test_an_item_is_over_with_its_answer() -> None:
    published = inbox.published(inbox.ended(waiting(), reply("done")), "msg_9", "workshop")

    assert published.stage is Stage.ACKNOWLEDGED
    assert published.published_as == "msg_9"
    assert inbox.ended(waiting(), NO_REPLY).stage is Stage.ACKNOWLEDGED_NO_REPLY


@pytest.mark.rule("J24")
@pytest.mark.parametrize(("message", "room"), [("", "workshop"), ("msg_9", "another")])
def test_what_is_no_message_of_the_room_is_no_answer(message: str, room: str) -> None:
    with pytest.raises(InboxRefused, match="nonempty canonical message id in the matching room"):
        inbox.published(inbox.ended(waiting(), reply("done")), message, room)


@pytest.mark.rule("J25")
def test_what_fails_is_tried_again_twice() -> None:
    one = item()
    for _ in range(2):
        one = inbox.ended(inbox.dispatched(one), NEVER_BEGAN)
        assert one.stage is Stage.PENDING
    one = inbox.ended(inbox.dispatched(one), NEVER_BEGAN)

    assert one.stage is Stage.BLOCKED
    assert one.trouble == "Its turn never began."
    assert one.attempts == ATTEMPTS


@pytest.mark.rule("J25")
def test_an_answer_that_cannot_be_published_keeps_its_words() -> None:
    one = inbox.ended(waiting(), reply("done"))
    for _ in range(2):
        one = inbox.publishing(inbox.unsuccessful(one, "The room was away."))
    one = inbox.unsuccessful(one, "The room was away.")

    assert one.stage is Stage.BLOCKED
    assert one.outcome == reply("done")


@pytest.mark.rule("J25")
def test_words_that_cannot_be_read_twice_block() -> None:
    unread = inbox.ended(waiting(), UNREADABLE)

    assert unread.stage is Stage.RESULT_RECOVERY
    assert inbox.after_crash(unread) == unread
    assert inbox.ended(unread, UNREADABLE).stage is Stage.BLOCKED
    assert inbox.ended(unread, reply("found")).stage is Stage.PUBLISHING


@pytest.mark.rule("J26")
def test_a_person_lets_a_blocked_item_go_on() -> None:
    again = inbox.released(inbox.blocked(waiting(), "Nobody knows."))

    assert again.stage is Stage.PENDING
    assert again.attempts == 0
    assert inbox.dispatched(again).turn is None
    with pytest.raises(InboxRefused):
        inbox.released(again)


@pytest.mark.rule("J26")
def test_an_answer_that_is_there_is_not_asked_for_again() -> None:
    stuck = inbox.blocked(inbox.ended(waiting(), reply("Hi.")), "The room refused it.")
    again = inbox.released(stuck)

    assert inbox.publishing(again).has_answer
    with pytest.raises(InboxRefused):
        inbox.dispatched(again)


@pytest.mark.rule("J26")
def test_a_turn_that_a_person_breaks_off_is_over() -> None:
    assert inbox.cancelled(waiting()).stage is Stage.CANCELLED_BY_USER


@pytest.mark.rule("J26")
def test_only_what_cannot_have_begun_is_skipped() -> None:
    assert inbox.skipped(item()).stage is Stage.CANCELLED_BY_USER
    assert inbox.skipped(inbox.blocked(item(), "why")).is_over
    lost = inbox.after_crash(inbox.dispatched(item()))
    stuck = inbox.blocked(lost, "why")
    for begun in (lost, stuck, inbox.released(stuck), waiting()):
        with pytest.raises(InboxRefused, match="cannot be skipped"):
            inbox.skipped(begun)
    with pytest.raises(InboxRefused, match="msg_1 is over already: cancelled_by_user"):
        inbox.skipped(inbox.skipped(item()))


@pytest.mark.rule("J27")
def test_the_same_message_has_the_same_keys() -> None:
    assert item().item_id == item().item_id
    assert item().reply_key == "supervised-room:e1:workshop:msg_1:reply:v1"
    assert item().action_key == "supervised-room:e1:workshop:msg_1:action:v1"
    far = attrs.evolve(item(), room_id="r" * 200)
    assert len(far.reply_key) <= 200
    assert far.reply_key != attrs.evolve(far, message_id="msg_2").reply_key
    assert len({item(1).reply_key, item(2).reply_key}) == 2


@pytest.mark.rule("J28")
def test_a_turn_that_never_began_begins_again() -> None:
    again = inbox.ended(inbox.looked_up(inbox.after_crash(waiting())), NEVER_BEGAN)

    assert again.stage is Stage.PENDING
    assert inbox.dispatched(again).stage is Stage.DISPATCHING
    assert inbox.skipped(again).is_over


@pytest.mark.parametrize(
    "item",
    [item(1, stage) for stage in Stage if stage.is_over],
    ids=lambda item: item.stage.value,
)
def test_what_is_over_stays_over(item: Item) -> None:
    assert inbox.after_crash(item) == item
    with pytest.raises(InboxRefused, match="Invalid supervised inbox transition: "):
        inbox.blocked(item, "why")
    with pytest.raises(InboxRefused):
        inbox.dispatched(attrs.evolve(item, outcome=None, turn=None))
