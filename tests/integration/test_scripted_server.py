"""A client of a server that does what ours never does: what happened is told as it is.

Refused, unavailable and unknown are three things. Nothing is sent twice, nobody waits for ever, no
secret gets into an error or to another server, and no message is lost or comes twice.
"""

import gzip
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import anyio
import httpx
import pytest
from tests.integration.scripted_server import (
    TRUST,
    Play,
    Script,
    answering,
    dripping,
    flooding,
    holding,
    playing,
    saying,
)

from letagents.adapters.rooms.hosted.calls import Always, Calls, client_of
from letagents.adapters.rooms.hosted.rooms import HostedRooms
from letagents.domain.errors import (
    ConnectionLost,
    LetAgentsError,
    OutcomeUnknown,
    Retry,
    RoomsUnavailable,
    UnknownRoom,
)
from letagents.domain.fencing import UNNUMBERED, Fence
from letagents.domain.ids import ClientKey, MessageId, RoomId, SessionId, Token, WorkerId
from letagents.domain.messages import After, Draft
from letagents.domain.sessions import Arrival, Connection

pytestmark = pytest.mark.anyio

Plain = dict[str, Any]

ROOM = RoomId("harbour")
ACCOUNT = "a" * 64
SECRET = "s" * 43
FENCE = Fence(SessionId("agent_session_7"), UNNUMBERED, Token(SECRET))
WORKER = WorkerId(f"worker_{1:032x}")
NOW = "2030-01-01T00:00:00.000Z"
LARGEST = 100_000


def message(number: int) -> Plain:
    return {"id": f"msg_{number}", "sender": "Ada", "text": "hello", "timestamp": NOW}


def page(*numbers: int) -> Plain:
    return {"room_id": "harbour", "messages": [message(one) for one in numbers], "has_more": False}


@asynccontextmanager
async def rooms_of(*plays: Play) -> AsyncIterator[tuple[HostedRooms, Script]]:
    """Yield a client with little patience, and the server that it calls."""
    async with (
        playing(*plays) as script,
        client_of(script.url, httpx.AsyncHTTPTransport(verify=TRUST)) as http,
    ):
        http.timeout = httpx.Timeout(0.3)
        calls = Calls(http, Always(lambda: ACCOUNT), beyond=0.3, largest=LARGEST)
        with anyio.fail_after(30):
            yield HostedRooms(calls, pauses=(0.0, 0.0)), script


async def post(rooms: HostedRooms) -> object:
    return await rooms.post(ROOM, Draft("hello", ClientKey("a key")), FENCE)


async def read(rooms: HostedRooms) -> object:
    return await rooms.read(ROOM, After(MessageId(1), 10), FENCE)


async def connect(rooms: HostedRooms) -> Connection:
    arrival = Arrival(
        token=Token(SECRET),
        agent_key="ada/worker",
        instance_id=str(WORKER),
        display_name="Juniper",
        owner_label="Ada",
        ide_label="Agent",
        runtime="unknown",
        worker_id=WORKER,
    )
    return await rooms.connect(ROOM, arrival)


Act = Callable[[HostedRooms], Awaitable[object]]


async def refused(act: Act, *plays: Play) -> tuple[LetAgentsError, Script]:
    """Return the error, which holds no secret, and the server."""
    async with rooms_of(*plays) as (rooms, script):
        with pytest.raises(LetAgentsError) as caught:
            await act(rooms)
    told = repr(caught.value) + str(caught.value)
    assert ACCOUNT not in told
    assert SECRET not in told
    return caught.value, script


SAID = answering(message(2), 201)
GARBAGE: dict[str, Play] = {
    "nothing": saying(),
    "held": holding,
    "no HTTP": saying(b"\x00\x01garbage\r\n\r\n"),
    "other protocol": saying(b"SSH-2.0-OpenSSH_9.9\r\n"),
    "half a head": saying(b"HTTP/1.1 200 OK\r\ncontent-"),
    "no JSON": saying(answering(b"<html>Sign in to the network</html>")),
    "broken UTF-8": saying(answering(b'{"id":"\xff"}')),
    "list": saying(answering([])),
    "null": saying(answering(None)),
    "empty": saying(answering(b"")),
    "wrong fields": saying(answering({"id": 7, "messages": 7, "text": [], "sender": {}})),
    "too long": saying(answering(b'{"id":"' + b"x" * LARGEST + b'"}')),
    "endless": flooding(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65_536),
    "endless head": flooding(b"HTTP/1.1 200 OK\r\n", b"X-More: x\r\n" * 5_000),
    "slow": dripping(answering(b" " * 10_000)),
    "compressed": saying(answering(gzip.compress(b"{}"), headers={"Content-Encoding": "gzip"})),
    "bomb": saying(
        answering(
            gzip.compress(gzip.compress(b"x" * 10_000_000)),
            headers={"Content-Encoding": "gzip, gzip"},
        )
    ),
    "short": saying(answering(page(2), headers={"content-length": "5000"})),
}


@pytest.mark.parametrize("play", GARBAGE.values(), ids=GARBAGE)
async def test_what_was_sent_and_is_not_confirmed_is_unknown(play: Play) -> None:
    told, script = await refused(post, play)

    assert type(told) is OutcomeUnknown
    assert told.retry is Retry.AFTER_READING
    assert len(script.asked) == 1


@pytest.mark.long  # test_client_verbs.py sees the same of every verb, without a connection
@pytest.mark.parametrize("play", GARBAGE.values(), ids=GARBAGE)
async def test_what_was_only_asked_is_unavailable(play: Play) -> None:
    told, script = await refused(read, play)

    assert type(told) is RoomsUnavailable
    assert len(script.asked) == 1


async def test_a_server_that_is_not_there_was_sent_nothing() -> None:
    async with playing(holding) as script:
        pass
    async with client_of(script.url) as http:
        rooms = HostedRooms(Calls(http, Always(lambda: ACCOUNT)))
        for act in (post, read, connect):
            with pytest.raises(RoomsUnavailable) as caught:
                await act(rooms)

            assert type(caught.value) is RoomsUnavailable


async def test_an_answer_that_dies_at_any_byte_is_unknown_and_not_asked_again() -> None:
    for count in range(0, len(SAID) - 1, 5):
        told, script = await refused(post, saying(SAID[:count]))

        assert type(told) is OutcomeUnknown, SAID[:count]
        assert len(script.asked) == 1


async def test_a_page_that_dies_at_any_byte_brings_nothing_and_the_next_all() -> None:
    whole = answering(page(2, 3))
    for count in range(0, len(whole) - 1, 17):
        async with rooms_of(saying(whole[:count]), saying(whole)) as (rooms, _):
            with pytest.raises(RoomsUnavailable):
                await read(rooms)
            found = await rooms.read(ROOM, After(MessageId(1), 10), FENCE)

        assert [one.id.number for one in found.messages] == [2, 3]


async def test_an_answer_in_pieces_is_one_answer() -> None:
    whole = answering(page(2, 3))
    async with rooms_of(saying(*(whole[at : at + 7] for at in range(0, len(whole), 7)))) as (
        rooms,
        _,
    ):
        found = await rooms.read(ROOM, After(MessageId(1), 10), FENCE)

    assert [one.id.number for one in found.messages] == [2, 3]


@pytest.mark.parametrize("numbers", [(2, 2), (3, 2), (1, 2), (2, 3, 3, 4)])
async def test_a_page_with_a_message_twice_or_out_of_its_place_is_none(
    numbers: tuple[int, ...],
) -> None:
    async def wait(rooms: HostedRooms) -> object:
        return await rooms.wait(ROOM, After(MessageId(1)), timeout=timedelta(0), viewer=FENCE)

    for act in (read, wait):
        told, _ = await refused(act, saying(answering(page(*numbers))))

        assert type(told) is RoomsUnavailable


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (301, RoomsUnavailable),
        (302, RoomsUnavailable),
        (303, OutcomeUnknown),
        (307, RoomsUnavailable),
        (308, RoomsUnavailable),
    ],
)
async def test_nobody_is_followed_to_another_place(status: int, kind: type[LetAgentsError]) -> None:
    async with playing(saying(SAID)) as other:
        leads = answering({}, status, {"Location": f"{other.url}/rooms/harbour/messages?t=1"})
        told, script = await refused(post, saying(leads))
        asked, _ = await refused(read, saying(leads))

    assert type(told) is kind
    assert type(asked) is RoomsUnavailable
    assert "LETAGENTS_API_URL" in asked.remedy
    assert other.asked == []
    assert len(script.asked) == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, LetAgentsError),
        (401, ConnectionLost),
        (403, LetAgentsError),
        (404, UnknownRoom),
        (409, LetAgentsError),
        (429, RoomsUnavailable),
        (500, OutcomeUnknown),
        (502, OutcomeUnknown),
        (503, RoomsUnavailable),
        (504, OutcomeUnknown),
    ],
)
@pytest.mark.parametrize("cut", [0, 9])
async def test_a_refusal_is_one_whatever_becomes_of_its_text(
    status: int, kind: type[LetAgentsError], cut: int
) -> None:
    whole = answering({"error": "no"}, status)
    told, script = await refused(post, saying(whole[: len(whole) - cut]))

    assert isinstance(told, kind)
    assert isinstance(told, OutcomeUnknown) is (kind is OutcomeUnknown)
    assert isinstance(told, RoomsUnavailable) is (kind is RoomsUnavailable)
    assert len(script.asked) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 409, 429, 500, 503])
async def test_a_server_that_says_our_secrets_back_is_not_quoted(status: int) -> None:
    echo = f"{ACCOUNT} {SECRET} Bearer {ACCOUNT}"
    problem = {"kind": "errors.Malformed", "code": "malformed", "happened": echo, "remedy": echo}
    for body in ({"error": echo}, {"error": echo, "code": echo, "problem": problem}):
        for act in (post, read):
            await refused(act, saying(answering(body, status)))


AGENT = answering({"canonical_key": "ada/worker", "name": "worker"}, 201)
OWN: Plain = {
    "session_id": "agent_session_7",
    "room_id": "harbour",
    "session_kind": "worker",
    "agent_key": "ada/worker",
    "agent_instance_id": str(WORKER),
    "display_name": "Juniper",
    "actor_label": "Juniper",
    "created_at": NOW,
    "updated_at": NOW,
    "last_seen_at": NOW,
    "session_token": SECRET,
}


async def test_the_answer_to_this_worker_is_taken() -> None:
    async with rooms_of(saying(AGENT), saying(answering(OWN, 201))) as (rooms, _):
        made = await connect(rooms)

    assert str(made.session.session_id) == "agent_session_7"


@pytest.mark.parametrize(
    "wrong",
    [
        {"agent_instance_id": f"worker_{2:032x}"},
        {"agent_instance_id": None},
        {"agent_key": "bob/worker"},
        {"room_id": "elsewhere"},
        {"session_token": "x" * 43},
        {"session_token": None},
        {"session_id": ""},
        {"ended_at": NOW},
    ],
    ids=lambda one: repr(one)[1:30],
)
async def test_an_answer_for_another_worker_is_none(wrong: Plain) -> None:
    told, script = await refused(connect, saying(AGENT), saying(answering(OWN | wrong, 201)))

    assert type(told) is OutcomeUnknown
    asked = [one.line for one in script.asked]
    assert asked == ["POST /agents", "POST /rooms/harbour/agent-sessions"]


async def test_no_call_asks_to_be_answered_in_a_compressed_form() -> None:
    async with rooms_of(saying(answering(page(2)))) as (rooms, script):
        await read(rooms)

    assert "accept-encoding: identity" in script.asked[0].head.lower()
