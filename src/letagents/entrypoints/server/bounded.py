"""Connections with a bound on the head of each request, and on how long the first one may take.

uvicorn bounds a head only where h11 reads it, and waits for a first request for ever.
"""

import asyncio

from letagents.entrypoints.server.draining import DrainingProtocol

LARGEST_HEAD = 32 * 1024
"""Bytes of a request's line and headers, give or take what comes in one reading."""
HEAD_WITHIN = 30.0
"""Seconds in which the first request of a connection has to come."""


class BoundedProtocol(DrainingProtocol):
    """HTTP as uvicorn speaks it, with bounds. httptools tells where a head begins and ends."""

    _is_in_head = hasattr(DrainingProtocol, "on_message_begin")
    _head = 0

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Take note that a request is to come."""
        super().connection_made(transport)
        self.loop.call_later(HEAD_WITHIN, self._hang_up_on_the_silent)

    def data_received(self, data: bytes) -> None:
        """Read on, unless a head has grown too long."""
        if self._is_in_head and self._head > LARGEST_HEAD:
            self.transport.abort()
            return
        super().data_received(data)
        if self._is_in_head:
            self._head += len(data)

    def on_message_begin(self) -> None:
        """Take note that a head begins."""
        self._is_in_head, self._head = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Take note that it is whole."""
        self._is_in_head = False
        super().on_headers_complete()

    def _hang_up_on_the_silent(self) -> None:
        if self.cycle is None:
            self.transport.abort()
