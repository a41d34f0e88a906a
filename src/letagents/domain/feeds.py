"""All that happens in a room, as one after another: how far somebody was told of it.

X10  Who comes back with the cursor that it was given last misses nothing and is told nothing twice.
X11  A cursor that is none of the room's, or so far behind that reading is better, is a gap: it is
     told to read the room, and told from then on what happens after that.
"""

import re
from typing import Self

import attrs

from letagents.domain.board import TaskView
from letagents.domain.errors import Malformed
from letagents.domain.ids import MessageId
from letagents.domain.messages import Message
from letagents.domain.reasoning import Reasoning, Update

FURTHEST = 1_000
"""Who is so many messages behind, or so many changes of another kind, is told to read the room."""
_NUMBER = r"([0-9]{1,10})"
_FORM = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:\.{_NUMBER})?(?:\.{_NUMBER})?")


@attrs.frozen
class Cursor:
    """Up to which message and change of the board, a trace, a receipt and an artifact was told."""

    message: int = 0
    change: int = 0
    update: int = 0
    receipt: int = 0
    artifact: int = 0

    @classmethod
    def parse(cls, value: str) -> Self:
        """Return the cursor that `value` spells.

        Raises:
            Malformed: it spells none.
        """
        match = _FORM.fullmatch(value)
        if match is None:
            raise Malformed(
                "event_cursor: this is no cursor of a stream.",
                remedy="Pass the id of the last event, or nothing.",
            )
        return cls(*(int(number or 0) for number in match.groups()))

    @property
    def message_id(self) -> MessageId | None:
        """The last message that was told; None before the first one."""
        return MessageId(self.message) if self.message else None

    def __str__(self) -> str:
        numbers = (self.message, self.change, self.update, self.receipt, self.artifact)
        return ".".join(map(str, numbers))


@attrs.frozen
class Informed:
    """That more is known of what became of some messages."""

    message_ids: tuple[MessageId, ...]


@attrs.frozen
class Published:
    """That an artifact was published, or published anew."""

    identity: str


Thing = Message | TaskView | tuple[Reasoning, Update] | Informed | Published


@attrs.frozen
class Happened:
    """One thing that happened; who has been told of it is at `cursor`."""

    thing: Thing
    cursor: Cursor


@attrs.frozen
class Begun:
    """Where a telling begins, and whether the room has to be read for what was before."""

    cursor: Cursor
    is_gap: bool = False


def begun(asked: Cursor | None, newest: Cursor) -> Begun:
    """Return where to go on for who was told up to `asked`, in a room that stands at `newest`."""
    if asked is None:
        return Begun(newest)
    behind = (
        newest.message - asked.message,
        newest.change - asked.change,
        newest.update - asked.update,
        newest.receipt - asked.receipt,
        newest.artifact - asked.artifact,
    )
    if all(0 <= span <= FURTHEST for span in behind):
        return Begun(asked)
    return Begun(newest, is_gap=True)
