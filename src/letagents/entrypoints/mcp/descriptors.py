"""Descriptors 0 and 1 taken over for good: a reader of lines, and a sink for them.

The event loop itself reads and writes where it can watch a descriptor. Where it cannot (a regular
file, a terminal, anything on Windows) threads do, and nobody above sees a difference.
"""

import asyncio
import os
import stat
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol, cast

import anyio

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


async def take_over(longest: int, lost: Callable[[], None]) -> tuple[asyncio.StreamReader, Sink]:
    """Return standard input, in lines of at most `longest` bytes, and standard output.

    From then on descriptor 0 is the null device and 1 is standard error, here and in children, so
    that nothing but what the sink is given reaches the other side. `lost` hears when nobody reads
    it any more.
    """
    source, target = _taken_over()
    lines = asyncio.StreamReader(limit=longest)
    if not _can_watch(source, target):
        _read_file(source, lines)
        return lines, _FileSink(target, lost)
    sink = await _pipe_sink(target, lost)
    await _read_pipe(source, lines)
    return lines, sink


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
