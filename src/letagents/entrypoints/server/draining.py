"""Connections whose other end takes nothing are dropped, whatever is being sent on them.

A server waits for a slow reader before it sends more, and to close a connection in order would wait
for it still: so what has been under way for too long is cut off.
"""

import asyncio

from uvicorn.protocols.http.auto import AutoHTTPProtocol

LONGEST = 10.0
"""Seconds. (Source: hosted-api 1.6.)"""


class DrainingProtocol(AutoHTTPProtocol):  # type: ignore[misc,valid-type]  # chosen as uvicorn loads
    """HTTP as uvicorn speaks it, on connections that drain."""

    longest = LONGEST
    _drop: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        """Take note that more is under way than the connection holds."""
        super().pause_writing()
        self._drop = asyncio.get_running_loop().call_later(self.longest, self._cut)

    def resume_writing(self) -> None:
        """Take note that it got through."""
        super().resume_writing()
        self._forget()

    def connection_lost(self, exc: Exception | None) -> None:
        """Take note that the connection is over."""
        super().connection_lost(exc)
        self._forget()

    def _cut(self) -> None:
        self.transport.abort()

    def _forget(self) -> None:
        if self._drop is not None:
            self._drop.cancel()
            self._drop = None
