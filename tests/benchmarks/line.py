"""A raw HTTP client for measuring: one connection, and hardly any of the time is its own."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Self

import attrs

Plain = dict[str, Any]


@attrs.define(eq=False)
class Line:
    """A connection to a server, of somebody with a token."""

    _reader: asyncio.StreamReader
    _writer: asyncio.StreamWriter
    _shown: str

    @classmethod
    async def to(cls, url: str, token: str) -> Self:
        """Connect."""
        host, _, port = url.partition("//")[2].rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        return cls(reader, writer, f"Host: {host}:{port}\r\nAuthorization: Bearer {token}\r\n")

    async def post(self, path: str, body: Plain) -> Plain:
        """Return what is answered."""
        sent = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\n{self._shown}Content-Length: {len(sent)}\r\n\r\n"
        self._writer.write(head.encode() + sent)
        return await self._answer()

    async def get(self, path: str, headers: Mapping[str, str] | None = None) -> Plain:
        """Return what is answered."""
        self.ask(path, headers)
        return await self._answer()

    def ask(self, path: str, headers: Mapping[str, str] | None = None) -> None:
        """Ask, and leave the answer where it is."""
        more = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
        self._writer.write(f"GET {path} HTTP/1.1\r\n{self._shown}{more}\r\n".encode())

    async def until(self, wanted: bytes) -> None:
        """Return once that was said."""
        await self._reader.readuntil(wanted)

    async def _answer(self) -> Plain:
        head = await self._reader.readuntil(b"\r\n\r\n")
        status = head.split(b" ", 2)[1]
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        told: Plain = json.loads(await self._reader.readexactly(length))
        assert status in (b"200", b"201"), (status, told)
        return told

    def close(self) -> None:
        """Hang up."""
        self._writer.close()
