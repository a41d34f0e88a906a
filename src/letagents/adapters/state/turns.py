"""How a store waits until it is its turn: briefly, without holding a thread, and not for ever."""

from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

import anyio
import attrs
from anyio import to_thread

from letagents.domain.errors import StateUnavailable

T = TypeVar("T")

PAUSES = (0.001, 0.002, 0.004, 0.008, 0.016, *[0.025] * 400)
"""Seconds between tries, ten in all: soon again at first, then as the npm package does it."""


@attrs.frozen
class Done(Generic[T]):
    """It was our turn, and this came of it."""

    answer: T


async def in_turn(attempt: Callable[[], Done[T] | None], *, place: Path, holder: Path) -> T:
    """Return what came of `attempt`, which is called in a thread until it is its turn.

    Raises:
        StateUnavailable: it was somebody else's turn for ten seconds.
    """
    for pause in PAUSES:
        done = await to_thread.run_sync(attempt)
        if done is not None:
            return done.answer
        await anyio.sleep(pause)
    raise StateUnavailable(
        f"The state in {place} is locked: another process has held {holder} for ten seconds.",
        remedy="Call again in a moment. If that does not help, end the process that holds it; "
        "`letagents doctor` says what it can see.",
    )


def unusable(place: Path, error: OSError) -> StateUnavailable:
    """Return the error for a place that cannot be read or written."""
    where = f" ({error.filename})" if error.filename not in (None, str(place)) else ""
    return StateUnavailable(
        f"The state in {place} cannot be used: {error.strerror or error}{where}.",
        remedy="Let this user read and write it, or set LETAGENTS_STATE_PATH to a file that it "
        "may; `letagents doctor` shows what is configured.",
    )
