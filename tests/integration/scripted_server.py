"""A server that says, byte for byte, what a test tells it to, and takes down what it is asked."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

import attrs
import orjson

TRUST = ssl.create_default_context()
"""What a client trusts, which takes each new one long to find out for itself."""

Play = Callable[[asyncio.StreamWriter], Awaitable[None]]


@attrs.frozen
class Asked:
    """One request, as it came."""

    head: str
    body: bytes

    @property
    def line(self) -> str:
        """Its first line, without the protocol."""
        return self.head.partition("\r\n")[0].removesuffix(" HTTP/1.1")


@attrs.define
class Script:
    """What a server does at each connection, one after another; the last part goes on."""

    plays: list[Play]
    asked: list[Asked] = attrs.field(factory=list)
    url: str = ""
    _connections: int = 0
    _playing: set["asyncio.Task[object]"] = attrs.field(factory=set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Play one connection."""
        if (task := asyncio.current_task()) is not None:
            self._playing.add(task)
            task.add_done_callback(self._playing.discard)
        play = self.plays[min(self._connections, len(self.plays) - 1)]
        self._connections += 1
        try:
            self.asked.append(await _request(reader))
            await play(writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def leave_off(self) -> None:
        """Play no more, and let go of whoever still listens."""
        left = list(self._playing)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


async def _request(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    lengths = [
        int(line.partition(":")[2])
        for line in head.split("\r\n")
        if line.lower().startswith("content-length:")
    ]
    return Asked(head, await reader.readexactly(lengths[0] if lengths else 0))


@asynccontextmanager
async def playing(*plays: Play) -> AsyncIterator[Script]:
    """Let a server play its parts for as long as the context lasts."""
    script = Script(list(plays))
    server = await asyncio.start_server(script.serve, "127.0.0.1", 0)
    script.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield script
    finally:
        server.close()
        await script.leave_off()


def saying(*pieces: bytes) -> Play:
    """Return what says `pieces`, one after another, and hangs up."""

    async def play(writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()

    return play


async def holding(_writer: asyncio.StreamWriter) -> None:
    """Say nothing, and do not hang up."""
    await asyncio.Event().wait()


def dripping(whole: bytes) -> Play:
    """Return what says the head of `whole`, and the rest so slowly that it never ends."""

    async def play(writer: asyncio.StreamWriter) -> None:
        head, _, rest = whole.partition(b"\r\n\r\n")
        writer.write(head + b"\r\n\r\n")
        for byte in rest:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.05)

    return play


def flooding(head: bytes, piece: bytes) -> Play:
    """Return what says `head`, and then `piece` for ever."""

    async def play(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            writer.write(piece)
            await writer.drain()

    return play


def answering(
    document: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> bytes:
    """Return a whole answer."""
    body = document if isinstance(document, bytes) else orjson.dumps(document)
    shown = {"content-type": "application/json", "content-length": str(len(body))}
    lines = "".join(f"{name}: {value}\r\n" for name, value in (shown | dict(headers or {})).items())
    return f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode() + body
