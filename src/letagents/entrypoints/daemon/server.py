"""The socket of a supervisor: lines in, lines out, each answered when it is ready.

(Source: supervisor 2.) Only the owner of the home reaches it. A connection that sends more than
fits before a line ends is cut without an answer, and so is every one whose supervisor has been
replaced; that one then ends.
"""

import asyncio
import os
import socket
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import cast

import attrs
import structlog

from letagents.domain.errors import LetAgentsError, NotAvailable
from letagents.domain.generations import FenceLost
from letagents.entrypoints.daemon import callers
from letagents.entrypoints.daemon.methods import Methods
from letagents.wire import supervisor as wire
from letagents.wire.supervisor import NotALine, Request, Response

log = structlog.get_logger()

LONGEST_PATH = 100
"""Bytes of a socket's path; some systems take no more than 103."""
GRACE = 5.0
"""Seconds in which what was begun may still be answered after the end was asked for."""
LONGEST_DRAIN = 60.0
"""The same, for who hands over: the next one can only say of a call that it may have been done."""

_WHILE_HANDING_OVER = (wire.NEGOTIATE, wire.STATUS, wire.PREPARE_HANDOFF, wire.WATCH_AGENTS)
_HANDING_OVER = "Supervisor handoff has fenced new daemon mutations."


@attrs.define(eq=False)
class Server:
    """Answers on the socket until it is told to end."""

    methods: Methods
    ended: asyncio.Event = attrs.field(factory=asyncio.Event)
    _is_handing_over: bool = False
    _tasks: set[asyncio.Task[None]] = attrs.field(factory=set)
    _open: "set[_Connection]" = attrs.field(factory=set)

    def connection(self) -> "_Connection":
        """Return what hears one connection."""
        made = _Connection(self._begin, self._open.discard)
        self._open.add(made)
        return made

    def _begin(self, line: bytes, connection: "_Connection") -> None:
        task = asyncio.create_task(self._answer(line, connection))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, line: bytes, connection: "_Connection") -> None:
        try:
            response = await self._answered(line, connection.peer)
        except FenceLost as error:
            log.error("supervisor.replaced", code=error.code)
            connection.abort()
            self.ended.set()
            return
        connection.answer(response.line())
        if self._is_handing_over:
            self.ended.set()

    async def _answered(self, line: bytes, peer: int | None) -> Response:
        try:
            request = wire.read_request(line, peer)
        except NotALine:
            return Response(wire.VERSION, None, ok=False, error=wire.INVALID)
        try:
            result = await self._done(request)
        except FenceLost:
            raise
        except LetAgentsError as error:
            return self._refused(request, error.happened, error.remedy)
        except NotALine as error:
            return self._refused(request, str(error))
        except Exception:  # the next line is to be answered all the same
            log.exception("request.failed", method=request.method)
            return self._refused(request, wire.INVALID)
        return Response(wire.VERSION, request.id, ok=True, result=result)

    async def _done(self, request: Request) -> object:
        if request.method != wire.NEGOTIATE and wire.whole(request.version) != wire.VERSION:
            raise NotALine(wire.mismatch(request.version))
        self.methods.sessions.hold.check()
        if self._is_handing_over and request.method not in _WHILE_HANDING_OVER:
            raise NotALine(_HANDING_OVER)
        method = self.methods.named(request.method)
        if method is None:
            raise NotALine(f"{wire.UNSUPPORTED}{request.method}")
        result = await method(request)
        if request.method == wire.PREPARE_HANDOFF:
            self._is_handing_over = True
        return result

    def _refused(self, request: Request, error: str, remedy: str | None = None) -> Response:
        return Response(wire.VERSION, request.id, ok=False, error=error, remedy=remedy)

    async def drain(self) -> None:
        """Let what was begun be answered, within the grace, and close all connections."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LONGEST_DRAIN if self._is_handing_over else GRACE):
                await self.methods.effects.drained()
                if self._tasks:
                    await asyncio.wait(self._tasks)
        for connection in tuple(self._open):
            connection.close()


@attrs.define(eq=False)
class _Connection(asyncio.Protocol):
    """Whole lines are told one by one to `begin`; after the last answer to a caller it closes."""

    _begin: "Callable[[bytes, _Connection], None]"
    _lost: "Callable[[_Connection], None]"
    _transport: asyncio.Transport = attrs.field(init=False)
    peer: int | None = None
    """The process that is on the other end."""
    _held: bytes = b""
    _unanswered: int = 0
    _has_ended: bool = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.peer = callers.peer(transport.get_extra_info("socket"))

    def data_received(self, data: bytes) -> None:
        *lines, self._held = (self._held + data).split(b"\n")
        if max(len(one) for one in (*lines, self._held)) >= wire.LONGEST_LINE:
            self.abort()
            return
        for line in lines:
            if line.strip():
                self._unanswered += 1
                self._begin(line, self)

    def eof_received(self) -> bool:
        self._has_ended = True
        return self._unanswered > 0

    def connection_lost(self, _error: Exception | None) -> None:
        self._lost(self)

    def answer(self, line: bytes) -> None:
        """Write one answer, if anybody is there still."""
        self._unanswered -= 1
        if self._transport.is_closing():
            return
        self._transport.write(line)
        if self._has_ended and not self._unanswered:
            self._transport.close()

    def abort(self) -> None:
        """Cut it without an answer."""
        self._transport.abort()

    def close(self) -> None:
        """Close it once all was written."""
        self._transport.close()


@asynccontextmanager
async def listening(place: Path, server: Server) -> AsyncIterator[None]:
    """Have `server` answer at the socket `place`, which only its owner may use.

    Raises:
        NotAvailable: the place is none where a socket can be.
    """
    listener, ours = _bound(place)
    loop = asyncio.get_running_loop()
    accepting = await loop.create_unix_server(server.connection, sock=listener)
    try:
        yield
    finally:
        accepting.close()
        _remove(place, ours)
        await server.drain()


def _remove(place: Path, ours: os.stat_result) -> None:
    """Remove our socket, unless that of a successor stands in its place already."""
    with suppress(FileNotFoundError):
        if os.path.samestat(place.lstat(), ours):
            place.unlink()


def _bound(place: Path) -> tuple[socket.socket, os.stat_result]:
    """Return a socket on which processes of the owner can call, and what it is in the file system.

    What is left of another socket there goes.
    """
    _check(place)
    try:
        if stat.S_ISSOCK(place.lstat().st_mode):
            place.unlink()
    except FileNotFoundError:
        pass
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)  # it is the owner's alone from its first moment
    try:
        made.bind(str(place))
    except OSError as error:
        made.close()
        raise NotAvailable(
            f"The supervisor cannot listen at {place}: {error.strerror}.",
            remedy="Let this user write in that folder, and remove what stands in the way.",
        ) from error
    finally:
        os.umask(before)
    made.listen(128)
    return made, place.lstat()


def _check(place: Path) -> None:
    """Let a socket be made where one can be. Raises: NotAvailable."""
    if not hasattr(socket, "AF_UNIX"):
        raise NotAvailable(
            "This system has no sockets in the file system.",
            remedy="Run the supervisor on Linux or macOS.",
        )
    if len(os.fsencode(place)) > LONGEST_PATH:
        raise NotAvailable(
            f"The path of the supervisor's socket is too long: {place}.",
            remedy=f"Set LETAGENTS_HOME to a folder whose path is shorter; {LONGEST_PATH} bytes "
            "fit with the socket's name.",
        )
