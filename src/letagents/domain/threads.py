"""The threads of a room, as somebody sees them who reads them one by one.

K120  A thread is a message with replies in it. The one with the newest reply comes first, and at
     most MOST of a room are looked at.
K121  A reply is unread for who has not read that far; how far somebody read never goes back.
K122  Reading names a message of the thread, or else all of it; another message is refused.
K127  Beside messages, each thread is told in short of which one of them is.
"""

from collections.abc import Sequence

import attrs

from letagents.domain.errors import LetAgentsError, Malformed
from letagents.domain.ids import MessageId
from letagents.domain.messages import Message

MOST = 1_000
PAGE, LONGEST_PAGE = 50, 200
VOICES = 50
"""So many who spoke in a thread are shown at most."""


class UnknownThread(LetAgentsError):
    """No message of the room is there under that id."""

    code = "unknown_thread"


@attrs.frozen
class Tally:
    """How many replies a thread has, and the numbers of its root and of the newest of them."""

    root: int
    replies: int
    latest: int


@attrs.frozen(kw_only=True)
class Voice:
    """Somebody who spoke in a thread, how often and when last, and how much is still unread."""

    sender: str
    source: str | None
    messages: int
    latest: int
    unread: int = 0


@attrs.frozen(kw_only=True)
class Summary:
    """A thread in short. `latest` is its newest reply, `read_to` how far the reader has read it."""

    root: MessageId
    replies: int
    latest: Message | None
    voices: Sequence[Voice]
    read_to: int = 0

    @property
    def unread(self) -> int:
        """How many replies the reader has not read."""
        return sum(one.unread for one in self.voices)


@attrs.frozen
class Threads:
    """Some threads of a room; of all, `unread` have something that the reader has not read."""

    threads: Sequence[Summary]
    more: bool
    unread: int


def is_unread(tally: Tally, read_to: int) -> bool:
    """Whether a thread has replies that its reader has not read (K121)."""
    return tally.latest > read_to


def chosen(
    tallies: Sequence[Tally],
    read_to: dict[int, int],
    *,
    unread_only: bool,
    before: int | None,
    limit: int,
) -> tuple[Sequence[Tally], bool]:
    """Return which threads a page holds, and whether there are more (K120).

    `before` is the root of the last one of the page before.
    """
    fitting = [
        one for one in tallies if not unread_only or is_unread(one, read_to.get(one.root, 0))
    ]
    if before is not None:
        last = next((one.latest for one in tallies if one.root == before), 0)
        fitting = [one for one in fitting if one.latest < last]
    return fitting[:limit], len(fitting) > limit


def read_up_to(message: Message | None, root: MessageId, latest: int) -> int:
    """Return how far a thread is read: to `message`, or without one to its newest (K122).

    Raises:
        Malformed: the message is of another thread.
    """
    if message is None:
        return latest
    if message.thread_root != root:
        raise Malformed(
            f"message_id: {message.id} does not belong to the thread of {root}.",
            remedy="Name a message of that thread, or none for all of it.",
        )
    return message.id.number
