"""An agent moves when the turn that asked for it is over."""

from datetime import UTC, datetime

import attrs
import pytest

from letagents.domain import effects, inbox, ingress, room_moves
from letagents.domain.effects import Effect, Key, State
from letagents.domain.ids import MessageId
from letagents.domain.inbox import NO_REPLY, Item, Move, Stage, TurnBinding
from letagents.domain.ingress import Ingress, RoomChanged
from letagents.domain.manifest import Entry

NOW = datetime(2030, 1, 1, tzinfo=UTC)
ENTRY = Entry("e1", "workshop", "Ada", "codex", NOW)
ITEM = inbox.started(
    inbox.dispatched(Item("i1", "e1", "workshop", "msg_1", 1)), TurnBinding("t1", "w1", "x1", "c1")
)
MOVE = Move("elsewhere", "f1")


def asked(name: str, effect_id: str) -> Effect:
    request = effects.request("workshop", "join_room", {"name": name}, "{}")
    return Effect(effect_id, Key("e1", "x1", "t1", effect_id), request, State.PREPARED, NOW, NOW)


@pytest.mark.rule("J84")
def test_the_last_move_that_is_asked_for_counts() -> None:
    once = room_moves.asked(ITEM, asked(" elsewhere ", "f1"))
    again = room_moves.asked(once, asked("there", "f2"))

    assert once.move == MOVE
    assert again.move == Move("there", "f2")


@pytest.mark.rule("J84")
def test_a_move_is_due_when_its_turn_is_answered() -> None:
    item = attrs.evolve(ITEM, move=MOVE)
    over = inbox.ended(item, NO_REPLY)

    assert room_moves.due(ENTRY, item) == ENTRY
    assert room_moves.due(ENTRY, over).move == MOVE
    assert room_moves.due(ENTRY, attrs.evolve(over, move=None)) == ENTRY


@pytest.mark.rule("J84")
def test_a_turn_that_fails_moves_nobody() -> None:
    item = attrs.evolve(ITEM, move=MOVE)

    assert room_moves.after_turn(inbox.ended(item, inbox.reply("so"))).move == MOVE
    for left in (inbox.blocked(item, "so"), inbox.cancelled(item)):
        assert room_moves.after_turn(left).move is None


@pytest.mark.rule("J85", "J15")
def test_who_moves_begins_at_the_end_of_the_new_room() -> None:
    waiting = [Item(f"i{n}", "e1", "workshop", f"msg_{n}", n) for n in (2, 3)]
    moving = attrs.evolve(ENTRY, move=MOVE)
    there, begun, cancelled = room_moves.moved(moving, "elsewhere", MessageId(7), waiting)

    assert (there.room_id, there.move) == ("elsewhere", None)
    assert begun == Ingress("e1", "elsewhere", MessageId(7))
    assert [one.stage for one in cancelled] == [Stage.CANCELLED_BY_ROOM_MOVE] * 2
    with pytest.raises(RoomChanged, match="ingress room changed"):
        ingress.check_room(there.room_id, "workshop")


@pytest.mark.rule("J86")
def test_who_is_refused_stays() -> None:
    assert room_moves.stayed(attrs.evolve(ENTRY, move=MOVE)) == ENTRY
