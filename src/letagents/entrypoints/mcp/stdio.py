"""Standard input and output as the two message streams that the SDK's server runs on.

They go straight to the descriptors: the SDK's own transport hops through a worker thread and a
queue for each line, which is two thirds of a call.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Self

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
)

from letagents.entrypoints.mcp.descriptors import Sink, take_over
from letagents.entrypoints.mcp.framing import (
    MOST_BESIDE_TEXTS,
    SEEN_OF_LONG_LINES,
    NotAMessage,
    parsed,
    unreadable,
    weigh,
    written,
)

LONGEST_LINE = 32 * 1024 * 1024
"""Bytes; a longer line is refused unread.

A text of ten megabytes fits, each of its characters escaped. Reading one line is a single call that
nothing interrupts, so that this bounds how long an ending waits for it.
"""

LAST_WORDS = 0.2
"""Seconds for which calls may still be answered after standard input has ended."""


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


class _Lasting:
    """A stream that nobody has to close: its descriptor lives as long as the process."""

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


class Incoming(_Lasting):
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
                message = await self._message(line)
            except NotAMessage as refusal:
                await self._answer(refusal)
            else:
                self._unanswered.read(message)
                return SessionMessage(message)
        # So that requests which are written into a pipe that then closes are answered.
        await self._unanswered.none_left()
        self._ended()
        raise StopAsyncIteration

    async def _message(self, line: bytes) -> JSONRPCMessage:
        if len(line) > MOST_BESIDE_TEXTS:
            await asyncio.to_thread(weigh, line)
        return parsed(line)

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

    def __aiter__(self) -> Self:
        return self


class Outgoing(_Lasting):
    """The messages to the client."""

    def __init__(self, out: Sink, unanswered: Unanswered) -> None:
        self._out = out
        self._unanswered = unanswered

    async def send(self, item: SessionMessage, /) -> None:
        """Write one message."""
        await self._out.write(written(item.message))
        self._unanswered.wrote(item.message)


@asynccontextmanager
async def stdio(ended: Callable[[str], None]) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """Take over standard input and output for good, and hand them over as message streams.

    From then on descriptor 0 is the null device and 1 is standard error, here and in children, so
    that nothing but messages reaches the wire. `ended` hears when the client closes either.
    """
    lines, sink = await take_over(LONGEST_LINE, lambda: ended("standard output closed"))
    unanswered = Unanswered()
    incoming = Incoming(lines, sink, unanswered, lambda: ended("standard input ended"))
    try:
        yield incoming, Outgoing(sink, unanswered)
    finally:
        await sink.flushed()
