"""The signals that ask a process to leave which serves others until it is told to."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def heard_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Have `handler` hear of each of them meanwhile."""
    before = {number: signal.signal(number, handler) for number in _asking()}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def _asking() -> Iterator[signal.Signals]:
    """A terminal that closes asks too, but where it is ignored, as `nohup` has it."""
    yield from (signal.SIGINT, signal.SIGTERM)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        yield signal.SIGHUP
