"""Which supervisor of a home is the newest: its generation, and what the others may do no more.

(Source: supervisor 1, 6.1.)

J50  A supervisor's generation is one more than the last one's; a number that cannot be read is
     never guessed.
J51  Only the supervisor whose generation is the newest changes anything.
"""

import re

from letagents.domain.errors import LetAgentsError

_NUMBER = re.compile(r"(?:0|[1-9][0-9]{0,14})\n?")


class FenceLost(LetAgentsError):
    """A newer supervisor has taken over; this one changes nothing more."""

    code = "fence_lost"

    def __init__(self) -> None:
        super().__init__(
            "Supervisor generation fence was lost; exiting stale daemon.",
            remedy="Call again: the newer supervisor answers at the same place.",
        )


class AlreadySupervised(LetAgentsError):
    """Another supervisor runs in the same home."""

    code = "already_supervised"

    def __init__(self) -> None:
        super().__init__(
            "A supervisor daemon already owns this host lock.",
            remedy="Use that one, end it, or let it hand over: "
            "`letagents supervise --foreground --replace`.",
        )


class GenerationDamaged(LetAgentsError):
    """The file that counts generations is not as it was written."""

    code = "generation_damaged"

    def __init__(self) -> None:
        super().__init__(
            "Supervisor generation state is malformed; refusing to roll back fencing.",
            remedy="Write into that file a number that is higher than any generation there was.",
        )


def check_newest(kept: int | None, own: int) -> None:
    """Let a supervisor of generation `own` change a journal whose newest generation is `kept`.

    Raises:
        FenceLost: another one has begun since.
    """
    if not is_current(kept, own):
        raise FenceLost


def is_current(generation: int | None, own: int) -> bool:
    """Whether a call is meant for this supervisor, whose generation is `own`, and no other."""
    return generation == own


def is_followed(generation: int | None, newest: int | None) -> bool:
    """Whether the supervisor that is there now has followed another; who does not say has not."""
    return newest is not None and newest != generation


def next_generation(text: str | None) -> int:
    """Return the generation after the one that a file tells; None is a file that is not there.

    Raises:
        GenerationDamaged: it tells none.
    """
    if text is None:
        return 1
    if not _NUMBER.fullmatch(text):
        raise GenerationDamaged
    return int(text) + 1


def check_fence(own: int, text: str | None) -> None:
    """Let a supervisor act whose generation the file tells.

    Raises:
        FenceLost: it tells another.
    """
    check_newest(int(text) if text is not None and _NUMBER.fullmatch(text) else None, own)
