"""Connections to a supervisor's socket, bare: making a transport costs more than one line on it.

(Source: supervisor 2.1.) Each request has a connection of its own, unless the supervisor says that
one may be kept. One that was kept is used again only while it leads to the socket that is in its
place now, so that nobody is asked who was replaced, and while nothing has come on it meanwhile.
"""

import asyncio
import socket
from pathlib import Path

import attrs

_LONGEST_ANSWER = 64 * 1024 * 1024
_CHUNK = 256 * 1024


class TooLong(Exception):
    """What is answered does not end."""


Identity = tuple[int, int]
"""Which file a socket is."""


@attrs.define(eq=False)
class Kept:
    """The connection that waits for a process's next request."""

    _connection: "Connection | None" = None

    def take(self, leads_to: Identity | None) -> "Connection | None":
        """Return the connection, which is kept no longer, if it leads there and is as it was."""
        connection, self._connection = self._connection, None
        if connection is None:
            return None
        if connection.leads_to == leads_to and connection.is_quiet():
            return connection
        connection.close()
        return None

    def put(self, connection: "Connection") -> None:
        """Keep a connection in the place of another one."""
        self.close()
        self._connection = connection

    def close(self) -> None:
        """Keep none."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@attrs.define(eq=False)
class Connection:
    """A connection. Once an answer was read to its end it `is_whole`, and may be kept."""

    _socket: socket.socket
    leads_to: Identity | None = None
    is_whole: bool = False

    async def exchange(self, line: bytes) -> bytes:
        """Return the line that is answered to `line`.

        Raises:
            OSError: it ends before.
            TooLong: it is longer than any answer.
        """
        self.is_whole, loop, came = False, asyncio.get_running_loop(), bytearray()
        await loop.sock_sendall(self._socket, line)
        while len(came) < _LONGEST_ANSWER:
            chunk = await loop.sock_recv(self._socket, _CHUNK)
            start, end, rest = chunk.partition(b"\n")
            came += start
            if end:
                self.is_whole = not rest
                return bytes(came)
            if not chunk:
                raise ConnectionError
        raise TooLong

    def is_quiet(self) -> bool:
        """Whether it is open, and nothing has come that was not asked for."""
        try:
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def leave(self, kept: Kept | None) -> None:
        """Close it, or leave it for the next request."""
        if kept is not None and self.is_whole:
            kept.put(self)
        else:
            self.close()

    def close(self) -> None:
        """Close it."""
        self._socket.close()


async def connected(place: Path, kept: Kept | None = None) -> Connection:
    """Return a connection to the socket at `place`.

    Raises:
        OSError: nobody listens there.
    """
    leads_to = _identity(place) if kept is not None else None
    waiting = kept.take(leads_to) if kept is not None else None
    return waiting or Connection(await _made(place), leads_to)


async def _made(place: Path) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.setblocking(False)
        await asyncio.get_running_loop().sock_connect(made, str(place))
    except BaseException:
        made.close()
        raise
    return made


def _identity(place: Path) -> Identity:
    found = place.lstat()
    return found.st_dev, found.st_ino
