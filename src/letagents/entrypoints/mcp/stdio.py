"""The process's standard input and output as the two streams that the SDK's server runs on.

They are read and written by the event loop itself: the SDK's own transport hops through a worker
thread for each line, which is two thirds of a call. Where the loop cannot watch a descriptor (a
regular file, a terminal, anything on Windows) threads do it, and all else stays the same.
"""

import asyncio
import os
import stat
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Protocol, Self, cast

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
)

from letagents.entrypoints.mcp.framing import (
    SEEN_OF_LONG_LINES,
    NotAMessage,
    parsed,
    unreadable,
    written,
)

LONGEST_LINE = 64 * 1024 * 1024
"""Bytes; a longer line is refused unread."""

LAST_WORDS = 0.2
"""Seconds for which calls may still be answered after standard input has ended."""

_CHUNK = 65536


class Sink(Protocol):
    """Where finished lines go."""

    async def write(self, line: bytes) -> None:
        """Write `line` whole and after all lines before it.

        Raises:
            anyio.BrokenResourceError: nobody reads any more.
        """
        ...

    async def flushed(self) -> None:
        """Return once everything written has left this process, or cannot leave it."""
        ...


class Unanswered:
    """How many requests were read and not answered. A cancelled one counts for ever."""

    def __init__(self) -> None:
        self._count = 0
        self._none = asyncio.Event()
        self._none.set()

    def read(self, message: JSONRPCMessage) -> None:
        """Count what came in."""
        if isinstance(message, JSONRPCRequest):
            self._count += 1
            self._none.clear()

    def wrote(self, message: JSONRPCMessage) -> None:
        """Count what went out."""
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._count -= 1
            if self._count <= 0:
                self._none.set()

    async def none_left(self) -> None:
        """Return when all are answered, or when there is no hope that they will be."""
        with anyio.move_on_after(LAST_WORDS):
            await self._none.wait()


class Incoming:
    """The messages of the client, in order, until its end closes.

    A line that is no message is answered here and does not end anything.
    """

    def __init__(
        self,
        lines: asyncio.StreamReader,
        out: Sink,
        unanswered: Unanswered,
        ended: Callable[[], None],
    ) -> None:
        self._lines = lines
        self._out = out
        self._unanswered = unanswered
        self._ended = ended

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message."""
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    async def __anext__(self) -> SessionMessage | Exception:
        while line := await self._line():
            if line.isspace():
                continue
            try:
                message = parsed(line)
            except NotAMessage as refusal:
                await self._answer(refusal)
            else:
                self._unanswered.read(message)
                return SessionMessage(message)
        # So that requests which are written into a pipe that then closes are answered.
        await self._unanswered.none_left()
        self._ended()
        raise StopAsyncIteration

    async def _line(self) -> bytes:
        """Return the next line, or nothing at the end; one that is too long is refused here."""
        try:
            return await self._lines.readuntil()
        except asyncio.IncompleteReadError as last:
            return last.partial
        except asyncio.LimitOverrunError as first:
            await self._answer(await self._skipped(first))
            return b"\n"

    async def _skipped(self, overrun: asyncio.LimitOverrunError) -> NotAMessage:
        start = end = b""
        while True:
            piece = await self._lines.readexactly(overrun.consumed)
            start, end = start or piece[:SEEN_OF_LONG_LINES], piece[-SEEN_OF_LONG_LINES:]
            try:
                rest = await self._lines.readuntil()
            except asyncio.LimitOverrunError as further:
                overrun = further
            except asyncio.IncompleteReadError as last:
                rest = last.partial
                break
            else:
                break
        text = f"This line is too long: a message has {LONGEST_LINE} bytes at most."
        return unreadable(text, INVALID_REQUEST, start, end + rest)

    async def _answer(self, refusal: NotAMessage) -> None:
        with suppress(anyio.BrokenResourceError):
            await self._out.write(written(refusal.answer))

    async def aclose(self) -> None:
        """Do nothing: the descriptor lives as long as the process."""

    def __aiter__(self) -> Self:
        return self

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()


class Outgoing:
    """The messages to the client."""

    def __init__(self, out: Sink, unanswered: Unanswered) -> None:
        self._out = out
        self._unanswered = unanswered

    async def send(self, item: SessionMessage, /) -> None:
        """Write one message."""
        await self._out.write(written(item.message))
        self._unanswered.wrote(item.message)

    async def aclose(self) -> None:
        """Do nothing: whoever opened the streams flushes them."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()


class _PipeSink(asyncio.BaseProtocol):
    """A pipe or a socket that the event loop writes to."""

    def __init__(self, lost: Callable[[], None]) -> None:
        self._lost = lost
        self._transport: asyncio.WriteTransport | None = None
        self._ready = asyncio.Event()
        self._gone = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)
        self._ready.set()

    def pause_writing(self) -> None:
        self._ready.clear()

    def resume_writing(self) -> None:
        self._ready.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._gone.set()
        self._ready.set()
        self._lost()

    async def write(self, line: bytes) -> None:
        if self._transport is None or self._gone.is_set():
            raise anyio.BrokenResourceError
        self._transport.write(line)
        await self._ready.wait()
        if self._gone.is_set():
            raise anyio.BrokenResourceError

    async def flushed(self) -> None:
        if self._transport is not None:
            self._transport.close()
            await self._gone.wait()


class _FileSink:
    """A descriptor that the event loop cannot watch; a thread writes, one line after another."""

    def __init__(self, descriptor: int, lost: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._lost = lost
        self._turn = asyncio.Lock()

    async def write(self, line: bytes) -> None:
        # Shielded: a thread cannot be called back, and half a line would spoil the next.
        with anyio.CancelScope(shield=True):
            async with self._turn:
                try:
                    await asyncio.to_thread(_write_all, self._descriptor, line)
                except OSError as error:
                    self._lost()
                    raise anyio.BrokenResourceError from error

    async def flushed(self) -> None:
        """Do nothing: what was written has left."""


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


@asynccontextmanager
async def stdio(ended: Callable[[str], None]) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """Take over standard input and output for good, and hand them over as message streams.

    From then on descriptor 0 is the null device and 1 is standard error, here and in children, so
    that nothing but messages reaches the wire. `ended` hears when the client closes either.
    """
    source, target = _taken_over()
    watched = _can_watch(source, target)
    lines = asyncio.StreamReader(limit=LONGEST_LINE)
    sink: Sink
    if watched:
        sink = await _pipe_sink(target, lambda: ended("standard output closed"))
        await _read_pipe(source, lines)
    else:
        sink = _FileSink(target, lambda: ended("standard output closed"))
        _read_file(source, lines)
    unanswered = Unanswered()
    incoming = Incoming(lines, sink, unanswered, lambda: ended("standard input ended"))
    try:
        yield incoming, Outgoing(sink, unanswered)
    finally:
        await sink.flushed()


def _taken_over() -> tuple[int, int]:
    """Return private descriptors of standard input and output."""
    source, target = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return source, target


def _can_watch(source: int, target: int) -> bool:
    """Whether the event loop can read `source` and write `target`.

    It cannot when both are one socket: its writing end would take any input for a hanging up.
    """
    if sys.platform == "win32":
        return False
    modes = [os.fstat(source), os.fstat(target)]
    pipes = all(stat.S_ISFIFO(mode.st_mode) or stat.S_ISSOCK(mode.st_mode) for mode in modes)
    return pipes and not os.path.samestat(*modes)


async def _pipe_sink(target: int, lost: Callable[[], None]) -> _PipeSink:
    pipe = os.fdopen(target, "wb", buffering=0)
    _, sink = await asyncio.get_running_loop().connect_write_pipe(lambda: _PipeSink(lost), pipe)
    return sink


async def _read_pipe(source: int, lines: asyncio.StreamReader) -> None:
    pipe = os.fdopen(source, "rb", buffering=0)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), pipe)


def _read_file(source: int, lines: asyncio.StreamReader) -> None:
    loop = asyncio.get_running_loop()
    threading.Thread(target=_feed, args=(source, lines, loop), daemon=True).start()


def _feed(source: int, lines: asyncio.StreamReader, loop: asyncio.AbstractEventLoop) -> None:
    with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
        with suppress(OSError):
            while chunk := os.read(source, _CHUNK):
                loop.call_soon_threadsafe(lines.feed_data, chunk)
        loop.call_soon_threadsafe(lines.feed_eof)
