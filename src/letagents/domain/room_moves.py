"""How an agent moves to another room: asked for in a turn, and made when that turn is over.

(Source: supervisor 6.11.)

J84  Of several moves that a turn asks for the last is made, and only once the turn's answer is
     published, or it has none; what was asked for before, or in a turn that fails, is not.
J85  With the move, in one step, what still waited in the old room is cancelled, and the agent
     begins at the end of its new one.
J86  A move that its room refuses leaves the agent where it is.
J148  A move that a person prepares changes nothing until it is committed, or is rolled back.
J149  One move that a person wants of an agent is open at a time; asked for again under the same
      request it is the same one. None is begun while a stop of a turn is open.
J150  A committed move is made once no turn runs, and with it is written down that it was made, or
      why not; a turn that ends in the meantime and asks for another room is followed instead.
"""

from collections.abc import Iterable
from datetime import datetime

import attrs

from letagents.domain import inbox, ingress, turn_controls
from letagents.domain.effects import Effect
from letagents.domain.errors import LetAgentsError
from letagents.domain.ids import MessageId
from letagents.domain.inbox import Item, Move, Stage
from letagents.domain.ingress import Ingress
from letagents.domain.manifest import Delivery, Entry, MovePhase, RoomMove

_OPEN = (MovePhase.PREPARED, MovePhase.ACTIVE)
_ANSWERED = (Stage.ACKNOWLEDGED, Stage.ACKNOWLEDGED_NO_REPLY)
_GOES_ON = (*_ANSWERED, Stage.PUBLISHING, Stage.RESULT_RECOVERY)


class RoomMoveRefused(LetAgentsError):
    """The agent is not moved. Nothing was changed."""

    code = "room_move_refused"


def check_free(entry: Entry, first: Item | None) -> None:
    """Let a move be asked for of whose agent no stop is open; `first` is what it is at.

    Raises:
        RoomMoveRefused: one is.
    """
    if turn_controls.is_open(entry.control, first):
        raise RoomMoveRefused(
            "Room move is blocked by unresolved turn control.",
            remedy="Wait until it is known whether the turn was stopped, or say so: "
            f"`letagents agents stop-turn {entry.entry_id} --stopped` or `--not-stopped`.",
        )


def asked(item: Item, effect: Effect) -> Item:
    """Return the item once its turn has asked for a move, in place of one before."""
    destination = effect.request.destination or ""
    return attrs.evolve(item, move=Move(destination, effect.effect_id))


def after_turn(item: Item) -> Item:
    """Return an item whose turn has just ended: with its move only if it may still be answered."""
    return item if item.stage in _GOES_ON else attrs.evolve(item, move=None)


def due(entry: Entry, item: Item) -> Entry:
    """Return the agent with the move that is to be made now that an item is over."""
    if item.move is None or item.stage not in _ANSWERED:
        return entry
    left = _over(entry, "A turn that ended just then asked for another room.")
    return attrs.evolve(left, move=item.move)


def moved(
    entry: Entry, room_id: str, newest: MessageId | None, waiting: Iterable[Item]
) -> tuple[Entry, Ingress, list[Item]]:
    """Return the agent in its new room, whose last message is `newest`, and what is cancelled."""
    there = attrs.evolve(_over(entry, None), room_id=room_id, move=None)
    cancelled = [inbox.cancelled_by_move(one) for one in waiting]
    return there, ingress.begun(entry.entry_id, room_id, newest), cancelled


def stayed(entry: Entry, why: str) -> Entry:
    """Return the agent once its move was refused."""
    return attrs.evolve(_over(entry, why), move=None, last_error=why)


def _over(entry: Entry, why: str | None) -> Entry:
    """Return the agent whose move is over: the one that a person wanted, if it is that."""
    wanted, made = entry.room_move, entry.move
    if wanted is None or made is None or made.effect_id != wanted.operation_id:
        return entry
    phase = MovePhase.COMPLETED if why is None else MovePhase.FAILED
    return attrs.evolve(entry, room_move=attrs.evolve(wanted, phase=phase, error=why))


# --- what a person wants ------------------------------------------------------------------------


def prepared(
    entry: Entry, first: Item | None, request_id: str, destination: str, *, now: datetime
) -> Entry:
    """Return the agent with a move that a person prepares; `first` is what it is at.

    Raises:
        RoomMoveRefused: it cannot be moved there now. Nothing was changed.
    """
    known = entry.room_move
    if known is not None and known.request_id == request_id:
        if known.destination == destination:
            return entry
        raise RoomMoveRefused("That request was for another room.", remedy="Use a new request id.")
    if not request_id.strip() or destination == entry.room_id:
        raise RoomMoveRefused(
            "A room move requires a different valid destination room.", remedy="Name another room."
        )
    if entry.delivery is not Delivery.INBOX:
        raise RoomMoveRefused(
            "An agent that polls by itself is moved by nobody else.", remedy="Let it join the room."
        )
    check_free(entry, first)
    if entry.move is not None or (known is not None and known.phase in _OPEN):
        raise _is_moving()
    move = RoomMove(
        operation_id=f"room_move:{request_id}",
        request_id=request_id,
        source=entry.room_id,
        destination=destination,
        phase=MovePhase.PREPARED,
        created_at=now,
        updated_at=now,
    )
    return attrs.evolve(entry, room_move=move)


def committed(entry: Entry, operation_id: str, *, now: datetime) -> Entry:
    """Return the agent that is to be moved now; one whose move was committed is as it is.

    Raises:
        RoomMoveRefused: there is no such move, or it has failed.
    """
    known = named(entry, operation_id)
    if known.phase in (MovePhase.ACTIVE, MovePhase.COMPLETED):
        return entry
    if known.phase is MovePhase.FAILED:
        raise RoomMoveRefused(
            f"That room move has failed: {known.error}", remedy="Prepare another."
        )
    if entry.move is not None:
        raise _is_moving()
    active = attrs.evolve(known, phase=MovePhase.ACTIVE, updated_at=now)
    return attrs.evolve(entry, room_move=active, move=Move(known.destination, operation_id))


def rolled_back(entry: Entry, operation_id: str, why: str, *, now: datetime) -> Entry:
    """Return the agent whose move is given up before it was committed.

    Raises:
        RoomMoveRefused: there is no such move, or it was committed.
    """
    known = named(entry, operation_id)
    if known.phase is MovePhase.FAILED:
        return entry
    if known.phase is not MovePhase.PREPARED:
        raise RoomMoveRefused(
            "That room move was committed already.", remedy="Move the agent back once it is there."
        )
    failed = attrs.evolve(known, phase=MovePhase.FAILED, error=why or None, updated_at=now)
    return attrs.evolve(entry, room_move=failed)


def named(entry: Entry, operation_id: str) -> RoomMove:
    """Return the move of that name.

    Raises:
        RoomMoveRefused: there is none.
    """
    known = entry.room_move
    if known is None or known.operation_id != operation_id:
        raise RoomMoveRefused(
            "The agent has no room move of that name.", remedy="Ask for its current one."
        )
    return known


def _is_moving() -> RoomMoveRefused:
    return RoomMoveRefused("The agent is being moved already.", remedy="Wait until it has.")
