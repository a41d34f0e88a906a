"""How long this process lives: as long as its client listens, and two seconds longer at most.

It ends when standard input or output closes, on SIGTERM and SIGINT, and when the process that
started it dies. Ending is asked for politely; a watchdog then ends the process however it hangs.
Only what was written before the client hung up during the start makes the two seconds begin later,
with the serving: a script in a pipe is to be answered however slow the start is.
"""

import asyncio
import os
import signal
import sys
import threading
from contextlib import suppress
from queue import SimpleQueue
from types import FrameType

from letagents.entrypoints.mcp.watch import when_client_hangs_up, when_parent_dies

GRACE = 1.0
"""Seconds that an ending has for leaving in order, once there is a reason for it.

That leaves half a second for seeing the reason, and half a one for what cannot be interrupted, such
as the reading of a very long line.
"""

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def leave_at_once_on_signals() -> None:
    """Leave without a word on SIGTERM and SIGINT: right while nothing has begun, or all is done."""
    for number in _SIGNALS:
        signal.signal(number, lambda *_: os._exit(0))
    if sys.platform != "win32":  # whoever started this process may have held them back
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


class Lifetime:
    """The time from now until this process has a reason to end."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._ended = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._hung_up = False
        self._watchdog = _Watchdog()

    def end_with_client(self) -> None:
        """Let it end when the process that started this one hangs up, dies, or is dead already.

        After a hanging-up the event loop ends it in order, once all is read, and the watchdog does,
        should the loop not come to that.
        """
        when_parent_dies(lambda: self.end("the parent died"))
        when_client_hangs_up(self._hang_up)

    def begin(self) -> None:
        """Let the running event loop hear of the end, and end on SIGTERM and SIGINT from now on."""
        self._loop = asyncio.get_running_loop()
        if self.reason is not None:
            self._ended.set()
        if self._hung_up:
            self._watchdog.start()
        for number in _SIGNALS:
            # The loop's own way wakes it up, whichever thread of ours the signal interrupts, ...
            with suppress(NotImplementedError):  # Windows
                self._loop.add_signal_handler(number, self._ended.set)
            # ... but waits for its turn; a handler of ours does not, however busy the loop is.
            signal.signal(number, self._end_on)

    def end(self, reason: str) -> None:
        """Let it end now, from whatever thread or signal handler; the first reason is kept."""
        if self.reason is None:
            self.reason = reason
        self._watchdog.start()
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed: it has ended
                self._loop.call_soon_threadsafe(self._ended.set)

    async def wait(self) -> None:
        """Return once it has ended."""
        await self._ended.wait()

    def _hang_up(self, unread: bool) -> None:
        self._hung_up = True
        if self._loop is not None:
            self._watchdog.start()
        elif not unread:  # nothing has begun, and nothing will
            os._exit(0)

    def _end_on(self, number: int, _frame: FrameType | None) -> None:
        self.end(f"{signal.Signals(number).name} came")


class _Watchdog:
    """Ends the process GRACE after it was started, whatever else hangs then."""

    def __init__(self) -> None:
        # A queue of this kind may be put to within a signal handler; a thread is not started there.
        self._started: SimpleQueue[None] = SimpleQueue()
        threading.Thread(target=self._watch, daemon=True).start()

    def start(self) -> None:
        """Start the time; it cannot be started twice."""
        self._started.put(None)

    def _watch(self) -> None:
        self._started.get()
        threading.Event().wait(GRACE)
        os._exit(0)
