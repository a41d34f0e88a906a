"""What the people of a room wish from the agents in it.

K30  Guidelines are at most 8,000 bytes; line ends are LF, and none is left at their end.
K31  A room without guidelines of its own has those of the room beside which it is, else those of
     its repository's room, and says whose.
K32  Only a human being who is admin of the room sets them; setting nothing gives up a room's own.
K46  Agents that are called together answer at once, unless a human being who is admin of the room
     has set that they do so one after another.
"""

import enum
import re
from datetime import datetime

import attrs

from letagents.domain import git_rooms
from letagents.domain.authors import Author, HumansOnly
from letagents.domain.errors import LetAgentsError, Malformed
from letagents.domain.ids import RoomId
from letagents.domain.messages import checked_text
from letagents.domain.names import is_blank
from letagents.domain.sessions import Session

MAX_BYTES = 8_000
TOKEN_BUDGET = 2_000

_LINE_ENDS = re.compile(r"\r\n?")
_TRAILING = re.compile(r"[ \t]+$", re.MULTILINE)


class GuidelinesTooLong(LetAgentsError):
    """The guidelines hold too many bytes. Nothing was stored."""

    code = "guidelines_too_long"
    size: int = 0
    """Bytes that they hold."""

    @classmethod
    def of(cls, size: int) -> "GuidelinesTooLong":
        """Return the error for guidelines of so many bytes."""
        error = cls(
            f"guidelines: {size:,} bytes are too many.",
            remedy=f"Keep to {MAX_BYTES:,} bytes; put the rest in a file of the repository and "
            "name it.",
        )
        error.size = size
        return error


@attrs.frozen
class Guidelines:
    """What a room has been told; no text means that it gave its own up."""

    text: str | None
    updated_by: Author
    updated_at: datetime
    version: int = 1


class ReplyOrder(enum.Enum):
    """How agents answer that are called together."""

    PARALLEL = "parallel"
    SEQUENTIAL = "sequential"


@attrs.frozen
class Ordered:
    """How they do in a room, after so many changes of it."""

    order: ReplyOrder
    version: int = 1


@attrs.frozen
class InForce:
    """What counts in a room, and from which room it has it if it is not its own.

    The order of replies is always the room's own.
    """

    guidelines: Guidelines | None = None
    inherited_from: RoomId | None = None
    reply_order: ReplyOrder = ReplyOrder.PARALLEL


def normal(text: object) -> str | None:
    """Return guidelines as they are kept; None for blank ones.

    Raises:
        Malformed: they hold what no text may hold.
        GuidelinesTooLong: they are too long.
    """
    if not isinstance(text, str):
        raise Malformed("guidelines: this is not a text.", remedy="Pass them as a string.")
    plain = _TRAILING.sub("", _LINE_ENDS.sub("\n", text)).strip("\n")
    if is_blank(plain):
        return None
    checked_text(plain, "guidelines")
    if (size := len(plain.encode())) > MAX_BYTES:
        raise GuidelinesTooLong.of(size)
    return plain


def set_by(
    by: Session | None, text: object, before: Guidelines | None, now: datetime
) -> Guidelines:
    """Return the guidelines that `by` sets; those before, if nothing changes.

    Raises:
        HumansOnly: no human being acts.
        Malformed, GuidelinesTooLong: as `normal`.
    """
    author = _human(by, "set a room's guidelines", "--set FILE")
    plain = normal(text)
    if before is not None and before.text == plain:
        return before
    return Guidelines(plain, author, now, (before.version if before else 0) + 1)


def ordered_by(
    by: Session | None, order: ReplyOrder, before: Ordered | None
) -> tuple[Author, Ordered | None]:
    """Return who sets the order of replies, and what it is then; None if nothing changes (K46).

    Raises:
        HumansOnly: no human being acts.
    """
    author = _human(by, "set in which order agents reply", f"--replies {order.value}")
    if order is (before.order if before else ReplyOrder.PARALLEL):
        return author, None
    return author, Ordered(order, (before.version if before else 0) + 1)


def _human(by: Session | None, does: str, option: str) -> Author:
    author = Author.of(by)
    if not author.is_human:
        raise HumansOnly(
            f"Only a human being can {does}.",
            remedy=f"Ask your user: `letagents guidelines ROOM {option}`.",
        )
    return author


def forebears_of(room_id: RoomId, parent: RoomId | None) -> tuple[RoomId, ...]:
    """Return the rooms from which `room_id` has what it has not itself, the nearest first."""
    ref = git_rooms.ref_of(str(parent or room_id))
    repository = (RoomId(ref.repository),) if ref is not None else ()
    return repository if parent is None else (parent, *repository)
