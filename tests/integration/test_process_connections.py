"""The client's process connections to servers that do what ours never does."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
import httpx
import pytest
from tests.integration.scripted_server import TRUST

from letagents.adapters.rooms.hosted.attendance import HostedAttendance
from letagents.adapters.rooms.hosted.calls import Always, Calls
from letagents.domain.accounts import NotYourAgent
from letagents.domain.errors import (
    ConnectionLost,
    LetAgentsError,
    NoAttendance,
    RoomsUnavailable,
    SessionEnded,
)
from letagents.domain.fencing import UNNUMBERED, Fence
from letagents.domain.ids import RoomId, SessionId, Token
from letagents.ports.attendance import Over

pytestmark = pytest.mark.anyio

ROOM = RoomId("github.com/o/r")
FENCE = Fence(SessionId("agent_session_7"), UNNUMBERED, Token("t" * 43))
CONNECTION = "0d3adb33-0000-4000-8000-000000000000"
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
OPEN = b': connected\n\nevent: open\ndata: {"connection_id":"%s"}\n\n' % CONNECTION.encode()
ENDED = b"event: ended\ndata: {}\n\n"

Play = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def saying(*pieces: bytes, stay: bool = False) -> Play:
    """Return what says `pieces`, one after another, and hangs up then unless it is to stay."""

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        if stay:
            await reader.read()

    return play


def answering(status: int, body: bytes = b"{}", kind: bytes = b"application/json") -> Play:
    """Return what answers one request."""
    head = f"HTTP/1.1 {status} X\r\ncontent-length: {len(body)}\r\n".encode()
    return saying(head + b"content-type: " + kind + b"\r\n\r\n" + body)


@asynccontextmanager
async def played(play: Play) -> AsyncIterator[HostedAttendance]:
    """Let a server play its part; yield what calls it, and has little patience."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await play(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    async with httpx.AsyncClient(base_url=url, trust_env=False, verify=TRUST) as http:
        calls = Calls(http, Always(lambda: "token"))
        try:
            with anyio.fail_after(20):
                yield HostedAttendance(calls, calls, answer=0.5, silence=0.5)
        finally:
            server.close()


async def over(play: Play) -> tuple[str, Over]:
    """Return what the server calls the connection, and how that ends."""
    async with played(play) as attendance, attendance.attend(ROOM, FENCE) as attended:
        return attended.connection_id, await attended.over()


async def refused(play: Play) -> LetAgentsError:
    """Return why there is no connection."""
    with pytest.raises(LetAgentsError) as caught:
        await over(play)
    return caught.value


async def test_a_session_ends_only_where_the_server_says_so() -> None:
    assert await over(saying(HEAD, OPEN, ENDED)) == (CONNECTION, Over.ENDED)
    assert await over(saying(HEAD, OPEN)) == (CONNECTION, Over.CLOSED)
    assert await over(saying(HEAD, OPEN, b"event: other\ndata: ended\n\n")) == (
        CONNECTION,
        Over.CLOSED,
    )
    assert await over(saying(HEAD, OPEN, b"event: ended")) == (CONNECTION, Over.CLOSED)


async def test_a_stream_that_dies_at_any_byte_ends_no_session() -> None:
    whole = HEAD + OPEN + b": heartbeat\n\n" + ENDED
    for count in range(0, len(whole) - 1, 3):
        try:
            _, how = await over(saying(whole[:count]))
        except RoomsUnavailable:
            continue
        assert how is Over.CLOSED, whole[:count]


async def test_events_are_understood_however_they_are_cut() -> None:
    whole = OPEN + ENDED
    for count in range(1, len(whole), 7):
        pieces = [whole[:count], whole[count:]]

        assert await over(saying(HEAD, *pieces)) == (CONNECTION, Over.ENDED)
    assert await over(saying(HEAD, whole.replace(b"\n", b"\r\n"))) == (CONNECTION, Over.ENDED)


async def test_silence_is_a_broken_connection() -> None:
    assert await over(saying(HEAD, OPEN, stay=True)) == (CONNECTION, Over.CLOSED)


async def test_an_endless_line_is_a_broken_connection() -> None:
    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HEAD + OPEN)
        while True:
            writer.write(b"x" * 65_536)
            await writer.drain()

    assert await over(endless) == (CONNECTION, Over.CLOSED)


@pytest.mark.parametrize(
    "play",
    [
        saying(stay=True),
        saying(HEAD, stay=True),
        saying(HEAD, b": heartbeat\n\n"),
        saying(HEAD, b"event: open\ndata: garbage\n\n", stay=True),
        saying(HEAD, b'event: open\ndata: {"connection_id":7}\n\n', stay=True),
        saying(b"garbage\r\n\r\n"),
        answering(500),
        answering(503, b"<html>"),
    ],
    ids=["mute", "no event", "no open", "garbage", "no id", "no HTTP", "500", "503"],
)
async def test_what_fails_is_tried_again_soon(play: Play) -> None:
    assert isinstance(await refused(play), RoomsUnavailable)


@pytest.mark.parametrize("status", [404, 405])
async def test_an_older_server_knows_no_such_thing(status: int) -> None:
    assert isinstance(await refused(answering(status, b'{"error":"Cannot GET"}')), NoAttendance)


async def test_gone_is_the_end_of_the_session() -> None:
    gone = b'{"error":"Agent session has ended.","code":"agent_session_ended"}'

    assert isinstance(await refused(answering(410, gone)), SessionEnded)
    assert isinstance(await refused(answering(410, b"")), SessionEnded)


@pytest.mark.parametrize(
    ("play", "kind"),
    [
        (answering(401, b'{"error":"Invalid agent session credentials."}'), ConnectionLost),
        (answering(403, b'{"error":"no"}'), NotYourAgent),
        (answering(200, b"<html>", b"text/html"), LetAgentsError),
        (answering(204, b"", b"text/plain"), LetAgentsError),
        (answering(302, b""), LetAgentsError),
        (answering(429, b"{}"), LetAgentsError),
    ],
    ids=["401", "403", "html", "204", "302", "429"],
)
async def test_a_refusal_is_no_end_and_no_failure(play: Play, kind: type[LetAgentsError]) -> None:
    told = await refused(play)

    assert isinstance(told, kind)
    assert not isinstance(told, (SessionEnded, RoomsUnavailable, NoAttendance))
