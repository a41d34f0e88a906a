"""How an agent moves to another room: asked for in a turn, and made when that turn is over.

(Source: supervisor 6.11.)

J84  Of several moves that a turn asks for the last is made, and only once the turn's answer is
     published, or it has none; what was asked for before, or in a turn that fails, is not.
J85  With the move, in one step, what still waited in the old room is cancelled, and the agent
     begins at the end of its new one.
J86  A move that its room refuses leaves the agent where it is.
"""

from collections.abc import Iterable

import attrs

from letagents.domain import inbox, ingress
from letagents.domain.effects import Effect
from letagents.domain.ids import MessageId
from letagents.domain.inbox import Item, Move, Stage
from letagents.domain.ingress import Ingress
from letagents.domain.manifest import Entry

_ANSWERED = (Stage.ACKNOWLEDGED, Stage.ACKNOWLEDGED_NO_REPLY)
_GOES_ON = (*_ANSWERED, Stage.PUBLISHING, Stage.RESULT_RECOVERY)


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
    return attrs.evolve(entry, move=item.move)


def moved(
    entry: Entry, room_id: str, newest: MessageId | None, waiting: Iterable[Item]
) -> tuple[Entry, Ingress, list[Item]]:
    """Return the agent in its new room, whose last message is `newest`, and what is cancelled."""
    there = attrs.evolve(entry, room_id=room_id, move=None)
    cancelled = [inbox.cancelled_by_move(one) for one in waiting]
    return there, ingress.begun(entry.entry_id, room_id, newest), cancelled


def stayed(entry: Entry) -> Entry:
    """Return the agent once its move was refused."""
    return attrs.evolve(entry, move=None)
