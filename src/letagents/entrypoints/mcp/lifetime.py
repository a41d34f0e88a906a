"""How long this process lives: as long as its client listens, and two seconds longer at most.

It ends when standard input or output closes, on SIGTERM and SIGINT, and when the process that
started it dies. Ending is asked for politely; a watchdog then ends the process however it hangs.
"""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable

GRACE = 1.2
"""Seconds that an ending has for leaving in order, once there is a reason for it."""

LOOK = 0.5
"""Seconds between two looks at the parent. Together with GRACE less than two."""

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def leave_at_once_on_signals() -> None:
    """Leave without a word on SIGTERM and SIGINT: right while nothing has begun, or all is done."""
    for number in _SIGNALS:
        signal.signal(number, lambda *_: os._exit(0))


class Lifetime:
    """The time from now until this process has a reason to end."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._parent = os.getppid()
        self._ended = asyncio.Event()

    def end(self, reason: str) -> None:
        """Let it end now; the first reason given is the one that is kept."""
        if self.reason is not None:
            return
        self.reason = reason
        watchdog = threading.Timer(GRACE, os._exit, [0])
        watchdog.daemon = True
        watchdog.start()
        self._ended.set()

    async def wait(self) -> None:
        """Return once it has ended."""
        await self._ended.wait()

    async def end_with_parent(self) -> None:
        """Let it end when the process that started this one is gone; returns then, or never.

        An orphan from the start, and the first process of a container, have nobody to outlive.
        """
        if self._parent <= 1:
            return
        await _exit_told_by_the_kernel(self._parent)
        while os.getppid() == self._parent:  # noqa: ASYNC110  no event tells of this
            await asyncio.sleep(LOOK)
        self.end("the parent died")

    def end_on_signals(self) -> None:
        """Let it end on SIGTERM and SIGINT; the running event loop is told."""
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            end = _ending(self, f"{number.name} came")
            try:
                loop.add_signal_handler(number, end)
            except NotImplementedError:  # Windows
                signal.signal(number, lambda *_, end=end: loop.call_soon_threadsafe(end))


async def _exit_told_by_the_kernel(process: int) -> None:
    """Return when `process` has exited; at once where the kernel does not tell of that."""
    if sys.platform != "linux":
        return
    try:
        descriptor = os.pidfd_open(process)
    except OSError:
        return
    loop, exited = asyncio.get_running_loop(), asyncio.Event()
    try:
        loop.add_reader(descriptor, exited.set)
        await exited.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


def _ending(lifetime: Lifetime, reason: str) -> Callable[[], None]:
    return lambda: lifetime.end(reason)
