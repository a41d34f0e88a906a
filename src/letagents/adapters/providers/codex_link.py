"""One line to a Codex app-server: JSON-RPC over WebSocket. (Source: supervisor 8.3.)

What the server asks of us is refused: with the approval policy that we set it asks nothing. Calls
have a limit; the line's end fails all that wait.
"""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import attrs

from letagents.domain import redaction

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

Raw = Mapping[str, Any]
Listener = Callable[[str, Raw], None]

OPENED_WITHIN = 10.0
ANSWERED_WITHIN = 60.0
LARGEST = 256 * 1024 * 1024
"""Bytes of one message: a whole transcript comes as one."""
_REFUSED = {"code": -32601, "message": "Not supported by this client."}


class LinkClosed(Exception):
    """The line to the server is not there, or not any more; or an answer did not come in time."""


class CodexRefused(Exception):
    """The server answered with an error; `text` is what it says, without secrets."""

    def __init__(self, text: str, code: object = None) -> None:
        super().__init__(text)
        self.text = text
        self.code = code


@attrs.define(eq=False)
class CodexLink:
    """An open line. Close it with `aclose`."""

    _socket: "ClientConnection" = attrs.field(repr=False)
    _answered_within: float = ANSWERED_WITHIN
    _waiting: dict[int, "asyncio.Future[Any]"] = attrs.field(factory=dict, repr=False)
    _listeners: dict[int, Listener] = attrs.field(factory=dict, repr=False)
    _numbers: Iterator[int] = attrs.field(factory=lambda: itertools.count(1), repr=False)
    _reader: "asyncio.Task[None] | None" = attrs.field(default=None, repr=False)
    closed: asyncio.Event = attrs.field(factory=asyncio.Event, repr=False)

    async def call(self, method: str, params: Raw | None = None) -> Raw:
        """Return the server's answer.

        Raises:
            LinkClosed: none came; what was asked may have happened.
            CodexRefused: it says no.
        """
        if self.closed.is_set():
            raise LinkClosed("WebSocket closed")
        number = next(self._numbers)
        answer = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            async with asyncio.timeout(self._answered_within):
                asked = {"jsonrpc": "2.0", "id": number, "method": method}
                await self._send(asked if params is None else {**asked, "params": dict(params)})
                result = await answer
        except TimeoutError:
            raise LinkClosed(f"Codex did not answer {method}") from None
        finally:
            self._waiting.pop(number, None)
        return result if isinstance(result, Mapping) else {}

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Tell `listener` of each notification from now on; return what ends that."""
        number = next(self._numbers)
        self._listeners[number] = listener
        return lambda: self._listeners.pop(number, None) and None

    async def aclose(self) -> None:
        """Close the line; the server goes on."""
        if self._reader is not None:
            self._reader.cancel()
            with suppress(asyncio.CancelledError):
                await self._reader
        await self._socket.close()
        self._end()

    async def greet(self, client: str) -> None:
        """Say who we are, which a server wants first."""
        self._reader = asyncio.create_task(self._read())
        told = {
            "clientInfo": {"name": client, "version": "0.1.0"},
            "capabilities": {"experimentalApi": True},
        }
        await self.call("initialize", told)
        await self._send({"method": "initialized"})

    async def _send(self, message: Raw) -> None:
        from websockets.exceptions import WebSocketException

        try:
            await self._socket.send(json.dumps(message))
        except (WebSocketException, OSError) as error:
            raise LinkClosed("WebSocket closed") from error

    async def _read(self) -> None:
        from websockets.exceptions import WebSocketException

        try:
            async for text in self._socket:
                await self._take(text)
        except (WebSocketException, OSError, LinkClosed):
            pass
        finally:
            self._end()

    async def _take(self, text: str | bytes) -> None:
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            return
        if not isinstance(message, Mapping):
            return
        method, number = message.get("method"), message.get("id")
        if isinstance(method, str) and number is None:
            self._tell(method, message.get("params"))
        elif isinstance(method, str):
            await self._send({"jsonrpc": "2.0", "id": number, "error": _REFUSED})
        elif isinstance(number, int) and (answer := self._waiting.get(number)) is not None:
            _settle(answer, message)

    def _tell(self, method: str, params: object) -> None:
        for listener in tuple(self._listeners.values()):
            listener(method, params if isinstance(params, Mapping) else {})

    def _end(self) -> None:
        self.closed.set()
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(LinkClosed("WebSocket closed"))


def _settle(answer: "asyncio.Future[Any]", message: Raw) -> None:
    if answer.done():
        return
    error = message.get("error")
    if error is None:
        answer.set_result(message.get("result"))
        return
    told = error if isinstance(error, Mapping) else {}
    text = told.get("message") or json.dumps(error)
    answer.set_exception(CodexRefused(redaction.shown(str(text)), told.get("code")))


async def open_link(
    url: str, client: str = "letagents-supervisor", answered_within: float = ANSWERED_WITHIN
) -> CodexLink:
    """Open a line to the server at `url`, over no proxy.

    Raises:
        LinkClosed: there is none, or it is no app-server.
    """
    from websockets.asyncio.client import connect
    from websockets.exceptions import WebSocketException

    try:
        socket = await connect(
            url,
            compression=None,
            open_timeout=OPENED_WITHIN,
            max_size=LARGEST,
            proxy=None,
            user_agent_header=None,
        )
    except (WebSocketException, OSError, TimeoutError, ValueError) as error:
        raise LinkClosed(f"WebSocket error connecting to {url}") from error
    link = CodexLink(socket, answered_within)
    try:
        await link.greet(client)
    except BaseException as error:
        await link.aclose()
        if isinstance(error, CodexRefused):
            raise LinkClosed(f"Codex refuses to be spoken to: {error.text}") from error
        raise
    return link


@asynccontextmanager
async def linked(
    url: str, client: str, answered_within: float = ANSWERED_WITHIN
) -> AsyncIterator[CodexLink]:
    """Open a line for as long as it is used.

    Raises:
        LinkClosed: as `open_link`.
    """
    link = await open_link(url, client, answered_within)
    try:
        yield link
    finally:
        await link.aclose()
