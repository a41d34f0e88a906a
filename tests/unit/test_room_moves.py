"""An agent moves when the turn that asked for it is over."""

from datetime import UTC, datetime

import attrs
import pytest

from letagents.domain import effects, inbox, ingress, room_moves
from letagents.domain.effects import Effect, Key, State
from letagents.domain.ids import MessageId
from letagents.domain.inbox import NO_REPLY, Item, Move, Stage, TurnBinding
from letagents.domain.ingress import Ingress, RoomChanged
from letagents.domain.manifest import (
    Delivery,
    Entry,
    MovePhase,
    TurnControl,
    TurnControlStatus,
)
from letagents.domain.room_moves import RoomMoveRefused

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
    assert room_moves.stayed(attrs.evolve(ENTRY, move=MOVE), "Full.") == attrs.evolve(
        ENTRY, last_error="Full."
    )


def prepared(entry: Entry = ENTRY, destination: str = "elsewhere", request_id: str = "r1") -> Entry:
    return room_moves.prepared(entry, None, request_id, destination, now=NOW)


def phase(entry: Entry) -> MovePhase | None:
    return entry.room_move.phase if entry.room_move is not None else None


@pytest.mark.rule("J148")
def test_a_prepared_move_is_made_once_it_is_committed_or_never() -> None:
    wanted = prepared()
    assert (wanted.move, wanted.room_id, phase(wanted)) == (None, "workshop", MovePhase.PREPARED)

    active = room_moves.committed(wanted, "room_move:r1", now=NOW)
    assert active.move == Move("elsewhere", "room_move:r1")
    assert room_moves.committed(active, "room_move:r1", now=NOW) == active
    with pytest.raises(RoomMoveRefused, match="committed already"):
        room_moves.rolled_back(active, "room_move:r1", "No.", now=NOW)
    given_up = room_moves.rolled_back(wanted, "room_move:r1", "No.", now=NOW)
    assert (given_up.move, phase(given_up)) == (None, MovePhase.FAILED)
    assert room_moves.rolled_back(given_up, "room_move:r1", "No.", now=NOW) == given_up
    with pytest.raises(RoomMoveRefused, match="has failed: No"):
        room_moves.committed(given_up, "room_move:r1", now=NOW)


@pytest.mark.rule("J149")
def test_one_move_is_open_at_a_time_and_the_same_request_is_the_same_one() -> None:
    wanted = prepared()
    assert prepared(wanted) == wanted
    for entry, destination, request_id, said in (
        (wanted, "there", "r1", "for another room"),
        (wanted, "there", "r2", "being moved already"),
        (attrs.evolve(ENTRY, move=MOVE), "there", "r2", "being moved already"),
        (ENTRY, "workshop", "r1", "different valid destination"),
        (ENTRY, "there", " ", "different valid destination"),
        (attrs.evolve(ENTRY, delivery=Delivery.POLLING), "there", "r1", "polls by itself"),
    ):
        with pytest.raises(RoomMoveRefused, match=said):
            prepared(entry, destination, request_id)
    with pytest.raises(RoomMoveRefused, match="of that name"):
        room_moves.committed(ENTRY, "room_move:r1", now=NOW)
    with pytest.raises(RoomMoveRefused, match="being moved already"):
        room_moves.committed(attrs.evolve(wanted, move=MOVE), "room_move:r1", now=NOW)


@pytest.mark.rule("J149")
def test_who_may_be_about_to_stop_is_not_moved() -> None:
    control = TurnControl(
        action_id="a1",
        work_attempt_id="w1",
        execution_id="x1",
        item_id="i1",
        turn_id="t1",
        status=TurnControlStatus.UNCERTAIN,
        recorded_at=NOW,
        updated_at=NOW,
    )
    stopping = attrs.evolve(ENTRY, control=control)

    with pytest.raises(RoomMoveRefused, match="blocked by unresolved turn control"):
        room_moves.prepared(stopping, ITEM, "r1", "elsewhere", now=NOW)
    assert phase(room_moves.prepared(stopping, None, "r1", "elsewhere", now=NOW)) is not None


@pytest.mark.rule("J150")
def test_what_became_of_a_move_is_written_down_with_it() -> None:
    active = room_moves.committed(prepared(), "room_move:r1", now=NOW)
    there, _, _ = room_moves.moved(active, "elsewhere", None, [])
    stayed = room_moves.stayed(active, "Full.")
    over = attrs.evolve(inbox.ended(ITEM, NO_REPLY), move=Move("there", "f1"))
    followed = room_moves.due(active, over)

    assert phase(there) is MovePhase.COMPLETED
    assert (phase(stayed), stayed.last_error) == (MovePhase.FAILED, "Full.")
    assert (phase(followed), followed.move) == (MovePhase.FAILED, over.move)
    assert phase(prepared(there, "workshop", "r2")) is MovePhase.PREPARED
