"""A program that is spoken to by lines, and tells what it does by lines of JSON."""

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Self

import anyio
import attrs
from anyio import to_thread

from letagents.adapters.processes import children
from letagents.adapters.processes.births import Presence, presence
from letagents.adapters.processes.children import Child
from letagents.adapters.providers.programs import Output, Program
from letagents.domain.turns import ProcessAmbiguous
from letagents.ports.providers import Born, Connection, Gone

Raw = Mapping[str, Any]

LONGEST_LINE = 64 * 1024 * 1024
NATURAL_END = 5.0
"""Seconds that such a process of an earlier supervisor has to end by itself."""


class LinesEnded(Exception):
    """The process says nothing more."""


@attrs.define
class Beginning:
    """A process that is being begun, as far as it is."""

    output: Output = attrs.field(factory=Output)
    process: "LineProcess | None" = None


@asynccontextmanager
async def beginning(program: Program) -> AsyncIterator[Beginning]:
    """Begin a process within this; where it comes to nothing, it is ended.

    Raises:
        ProviderUnusable: its program cannot be used so.
    """
    begun = Beginning()
    try:
        yield begun
    except BaseException as error:
        with anyio.CancelScope(shield=True):
            if begun.process is not None:
                await begun.process.end()
        tail = begun.output.close()
        if isinstance(error, OSError | LinesEnded | TimeoutError):
            raise program.unusable(str(error) or "it is not ready in time", tail) from error
        raise


async def gone(at: Connection) -> Gone:
    """See that a process of an earlier supervisor ends, if it has not: nobody can speak to it.

    Raises:
        ProcessAmbiguous: whether it is there cannot be told.
    """
    if presence(at.pid, at.birth) is Presence.UNKNOWN:
        raise ProcessAmbiguous(at.pid)
    if not await children.gone_within(at.pid, at.birth, NATURAL_END):
        await children.end(at.pid, at.birth)
    return Gone()


@attrs.define(eq=False)
class LineProcess:
    """A process to which lines go, and from which they come."""

    child: Child
    output: Output
    told: Callable[[Raw], None] = lambda _line: None
    closed: anyio.Event = attrs.field(factory=anyio.Event)
    _reader: "asyncio.Task[None] | None" = None
    _writing: anyio.Lock = attrs.field(factory=anyio.Lock)

    @classmethod
    async def start(
        cls,
        words: list[str],
        cwd: str,
        env: Mapping[str, str],
        output: Output,
        kind: str,
        born: Born,
    ) -> Self:
        """Start it, once `born` has written down which process it is. Raises: OSError."""
        child = await children.start_known(
            words,
            lambda pid, birth: born(Connection(kind, pid, birth)),
            cwd=cwd,
            env=env,
            has_input=True,
            stdout=subprocess.PIPE,
            stderr=output.file,
        )
        process = cls(child, output)
        process._reader = asyncio.create_task(process._read())
        return process

    async def send(self, line: bytes) -> None:
        """Send a line.

        Raises:
            LinesEnded: nobody takes it.
        """
        if self.closed.is_set():
            raise LinesEnded("its process has ended")
        async with self._writing:
            try:
                await to_thread.run_sync(self._write, line)
            except (OSError, ValueError) as error:
                raise LinesEnded("its process has ended") from error

    def _write(self, line: bytes) -> None:
        if self.child.process.stdin is not None:
            self.child.process.stdin.write(line)
            self.child.process.stdin.flush()

    def heard(self, line: Raw) -> None:
        """Take a line."""
        self.told(line)

    def silenced(self) -> None:
        """Note that no more lines come."""

    async def ended(self) -> int:
        """Wait for its end."""
        code = await self.child.ended()
        await self._over()
        return code

    async def end(self) -> int:
        """End it: its lines first."""
        self.hang_up()
        code = await self.child.end()
        await self._over()
        return code

    async def leave(self) -> None:
        """Close its lines, upon which it ends by itself."""
        self.hang_up()
        self.child.leave()
        self.output.close()

    def hang_up(self) -> None:
        """Say nothing more to it."""
        with suppress(OSError):
            if self.child.process.stdin is not None:
                self.child.process.stdin.close()

    async def _over(self) -> None:
        if self._reader is not None:
            with anyio.move_on_after(1):
                await asyncio.wait([self._reader])
            self._reader.cancel()
            with suppress(asyncio.CancelledError):
                await self._reader
        self.hang_up()

    async def _read(self) -> None:
        stream = asyncio.StreamReader(limit=LONGEST_LINE)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), self.child.process.stdout
        )
        try:
            while line := await stream.readline():
                self._take(line)
        except ValueError:
            pass  # a line that is longer than any: nothing after it can be read
        finally:
            transport.close()
            self.closed.set()
            self.silenced()

    def _take(self, text: bytes) -> None:
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            return
        if isinstance(line, Mapping):
            self.heard(line)
