"""How a supervised agent comes to what was said in its room.

(Source: supervisor 6.10.)

J12  What a poll brought is kept together with the cursor behind it; a poll that began from another
     cursor than the one kept brings nothing.
J13  Only what the room says is for the agent becomes an item; the cursor passes the rest.
J14  An agent begins at the end of its room: what was said before it came is not for it.
J15  A cursor only goes forward, and belongs to one room.
J152  What its supervisor tells an agent at its beginning is one item in each room, however often it
      is asked for; it answers no message, and moves no cursor.
J102  Where an agent polls by itself, its cursor is what it has acknowledged.
"""

from collections.abc import Sequence

import attrs

from letagents.domain import inbox
from letagents.domain.ids import MessageId
from letagents.domain.inbox import InboxRefused, Item


class RoomChanged(InboxRefused):
    """What was said in a room is told to an agent that has moved. Nothing was changed."""

    code = "inbox_room_changed"


@attrs.frozen
class Ingress:
    """Up to where an agent has been told of its room; from the first message, if None."""

    entry_id: str
    room_id: str
    cursor: MessageId | None = None


@attrs.frozen
class Seen:
    """One message of the room: what was said and why it is for the agent, as JSON."""

    message_id: MessageId
    is_for_agent: bool
    message: str = "{}"
    activation: str = "{}"
    is_in_thread: bool = False


def initial(
    known: Ingress, message: str, activation: str, *, mark: str, last_sequence: int
) -> Item:
    """Return the item of what an agent is told at its beginning, behind all that waits (J152).

    `mark` is what no other agent of the same name has.
    """
    name = f"{inbox.INITIAL}{known.entry_id}"
    return Item(
        item_id=inbox.item_id(known.entry_id, known.room_id, name),
        entry_id=known.entry_id,
        room_id=known.room_id,
        message_id=name,
        sequence=last_sequence + 1,
        message=message,
        activation=activation,
        mark=mark,
    )


def begun(entry_id: str, room_id: str, newest: MessageId | None) -> Ingress:
    """Return where an agent begins that comes into a room."""
    return Ingress(entry_id, room_id, newest)


def acknowledged(known: Ingress, to: MessageId) -> Ingress:
    """Return where an agent is that polls by itself, and has seen all up to there (J102)."""
    if known.cursor is not None and known.cursor >= to:
        return known
    return attrs.evolve(known, cursor=to)


def check_room(room_id: str, polled: str) -> None:
    """Let what was polled be kept for an agent that is in that room (J15).

    Raises:
        RoomChanged: it is in another.
    """
    if room_id != polled:
        raise RoomChanged(
            "Supervised inbox ingress room changed for the exact agent identity.",
            remedy="Poll the room where the agent is now.",
        )


def taken(
    known: Ingress, seen: Sequence[Seen], *, after: MessageId | None, last_sequence: int
) -> tuple[Ingress, list[Item]]:
    """Return where the agent is behind `seen`, and the items that it has got.

    Raises:
        InboxRefused: what was seen came after another message than the agent is at.
    """
    if known.cursor != after:
        raise InboxRefused(
            "Supervised inbox ingress cursor changed before this poll could commit.",
            remedy="Poll again, from the cursor that is kept.",
        )
    fresh = [one for one in seen if after is None or one.message_id > after]
    items = [
        _item(known, one, last_sequence + number)
        for number, one in enumerate((one for one in fresh if one.is_for_agent), 1)
    ]
    newest = max((one.message_id for one in fresh), default=after)
    return attrs.evolve(known, cursor=newest), items


def _item(known: Ingress, one: Seen, sequence: int) -> Item:
    message_id = str(one.message_id)
    return Item(
        item_id=inbox.item_id(known.entry_id, known.room_id, message_id),
        entry_id=known.entry_id,
        room_id=known.room_id,
        message_id=message_id,
        sequence=sequence,
        message=one.message,
        activation=one.activation,
        is_in_thread=one.is_in_thread,
    )
