"""What a client makes of refusals: who is signed out, which session ends, what is asked again.

The server is played by the test. (Source: mcp-tools 4.2, 11.3.)
"""

from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import httpx
import pytest

from letagents.adapters.own_sign_ins import OwnSignInsFile
from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.rooms import HostedRooms
from letagents.adapters.rooms.hosted.server import HostedServer
from letagents.adapters.state.memory import MemoryState
from letagents.application.credentials import Credentials
from letagents.application.directory import Directory
from letagents.domain.errors import (
    AccountUnverified,
    ConnectionLost,
    LetAgentsError,
    NotSignedIn,
    RoomsUnavailable,
    SessionEnded,
)
from letagents.domain.fencing import UNNUMBERED, Fence
from letagents.domain.ids import ClientKey, RoomId, SessionId, Token, WorkerId
from letagents.domain.local_state import LocalState, StoredSession, save_session
from letagents.domain.messages import After, Draft
from letagents.domain.serving import OwnSignIn
from letagents.domain.sessions import Arrival
from letagents.testing.determinism import ManualClock

ROOM = RoomId("harbour")
URL = "https://rooms.test"
SECRET = Token("s" * 43)
SESSION = SessionId("agent_session_7")
FENCE = Fence(SESSION, UNNUMBERED, SECRET)
AUTH: Mapping[str, object] = {"token": "stored", "account": {"login": "ada"}}
ENDED = "This agent session has ended. Call register_agent_session again."
WORKER = WorkerId(f"worker_{1:032x}")

Answers = Callable[[httpx.Request], httpx.Response]


@attrs.define
class Scripted:
    """A server that says what the test told it to say."""

    says: Answers
    asked: list[httpx.Request] = attrs.field(factory=list)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        return self.says(request)


@attrs.frozen
class Machine:
    """A client of that server, with a session in its state."""

    server: Scripted
    rooms: HostedRooms
    directory: Directory
    credentials: Credentials
    state: MemoryState

    async def is_signed_in(self) -> bool:
        return "auth" in (await self.state.read()).extra

    async def has_ended(self) -> bool:
        stored = (await self.state.read()).sessions[str(SESSION)]
        return stored.ended_at is not None


def answering(status: int, **body: object) -> Answers:
    """Return a server that always says the same."""
    return lambda _: httpx.Response(status, json=body)


def _remembering(state: LocalState) -> tuple[LocalState, None]:
    session = StoredSession(session_id=str(SESSION), session_token=SECRET, room_id=str(ROOM))
    return attrs.evolve(save_session(state, session), extra={"auth": AUTH}), None


@pytest.fixture
async def machine(tmp_path: Path) -> AsyncIterator[Machine]:
    server, state = Scripted(answering(200)), MemoryState()
    await state.transact(_remembering)
    own = OwnSignInsFile(tmp_path / "server-owner.json")
    credentials = Credentials(state, ManualClock(), URL, None, own)
    async with httpx.AsyncClient(transport=httpx.MockTransport(server), base_url=URL) as http:
        calls = Calls(http, credentials)
        rooms = HostedRooms(calls, pauses=(0.0, 0.0))
        directory = Directory(credentials, HostedServer(calls))
        yield Machine(server, rooms, directory, credentials, state)


async def _join(machine: Machine) -> object:
    return await machine.rooms.join(ROOM)


async def _post(machine: Machine) -> object:
    return await machine.rooms.post(ROOM, Draft("hello", ClientKey("a key")), FENCE)


async def _read(machine: Machine) -> object:
    return await machine.rooms.read(ROOM, After(None, 10), FENCE)


async def _connect(machine: Machine) -> object:
    arrival = Arrival(
        token=SECRET,
        agent_key="ada/worker",
        instance_id=str(WORKER),
        display_name="Juniper",
        owner_label="Ada",
        ide_label="Agent",
        runtime="unknown",
        worker_id=WORKER,
    )
    return await machine.rooms.connect(ROOM, arrival)


Act = Callable[[Machine], Any]


@pytest.mark.anyio
async def test_who_is_known_no_more_is_signed_out(machine: Machine) -> None:
    machine.server.says = answering(401, error="Authentication required")

    with pytest.raises(NotSignedIn):
        await _join(machine)

    assert not await machine.is_signed_in()
    assert machine.server.asked[0].headers["authorization"] == "Bearer stored"


@pytest.mark.anyio
@pytest.mark.parametrize("act", [_post, _read])
async def test_a_workers_401_signs_nobody_out(machine: Machine, act: Act) -> None:
    machine.server.says = answering(401, error="Invalid agent session credentials.")

    with pytest.raises(ConnectionLost) as told:
        await act(machine)

    assert not isinstance(told.value, SessionEnded)
    assert await machine.is_signed_in()
    assert not await machine.has_ended()


@pytest.mark.anyio
@pytest.mark.parametrize("act", [_post, _read])
async def test_the_ended_text_ends_that_session_and_no_other(machine: Machine, act: Act) -> None:
    machine.server.says = answering(401, error=ENDED)

    with pytest.raises(SessionEnded):
        await act(machine)

    assert await machine.has_ended()
    assert await machine.is_signed_in()


@pytest.mark.anyio
async def test_the_same_text_under_another_status_changes_nothing(machine: Machine) -> None:
    machine.server.says = answering(403, error=ENDED)

    with pytest.raises(LetAgentsError):
        await _post(machine)

    assert not await machine.has_ended()
    assert await machine.is_signed_in()


@pytest.mark.anyio
async def test_a_refusal_of_an_old_token_spares_who_has_signed_in_since(machine: Machine) -> None:
    await machine.state.transact(
        lambda now: (attrs.evolve(now, extra={"auth": {**AUTH, "token": "newer"}}), None)
    )
    await machine.credentials.refused("stored")

    assert await machine.is_signed_in()


@pytest.mark.anyio
async def test_a_busy_server_is_asked_to_let_somebody_in_three_times(machine: Machine) -> None:
    def says(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/agents":
            return httpx.Response(201, json={"canonical_key": "ada/worker"})
        return httpx.Response(503, json={"error": "Agent session registration is busy."})

    machine.server.says = says

    with pytest.raises(RoomsUnavailable):
        await _connect(machine)

    paths = [request.url.path for request in machine.server.asked]
    assert paths == ["/agents", *3 * ["/rooms/harbour/agent-sessions"]]


@pytest.mark.anyio
async def test_nothing_else_is_asked_twice(machine: Machine) -> None:
    machine.server.says = answering(503, error="busy")

    with pytest.raises(RoomsUnavailable):
        await _post(machine)

    assert len(machine.server.asked) == 1


@pytest.mark.anyio
@pytest.mark.parametrize(
    "says",
    [answering(503, error="away"), answering(200, account={"id": 1}), answering(200)],
    ids=["away", "without a login", "without an account"],
)
async def test_an_account_that_cannot_be_told_is_no_account_at_all(
    machine: Machine, says: Answers
) -> None:
    await machine.state.transact(
        lambda now: (attrs.evolve(now, extra={"auth": {"token": "stored"}}), None)
    )
    machine.server.says = says

    with pytest.raises(AccountUnverified) as told:
        await machine.directory.verified()

    assert "Could not verify your LetAgents account" in str(told.value)
    assert "same worker_id or registration_key" in str(told.value)
    assert await machine.directory.account() is None
    assert await machine.is_signed_in()


@pytest.mark.anyio
@pytest.mark.rule("Q28")
async def test_another_servers_sign_in_is_not_shown(machine: Machine) -> None:
    elsewhere = {**AUTH, "api_url": "https://elsewhere.test"}
    await machine.state.transact(lambda now: (attrs.evolve(now, extra={"auth": elsewhere}), None))
    machine.server.says = answering(401, error="Authentication required")

    with pytest.raises(NotSignedIn):
        await _join(machine)

    assert "authorization" not in machine.server.asked[0].headers
    assert await machine.is_signed_in()


@pytest.mark.anyio
@pytest.mark.rule("Q17")
async def test_this_machines_own_server_is_shown_its_own_token(tmp_path: Path) -> None:
    own = OwnSignInsFile(tmp_path / "server-owner.json")
    await own.keep(OwnSignIn("http://127.0.0.1:3001", "server.db", "ada", "own token"))
    clock, state = ManualClock(), MemoryState()

    here = Credentials(state, clock, "http://localhost:3001", None, own)
    there = Credentials(state, clock, "http://localhost:3002", None, own)
    told = Credentials(state, clock, "http://localhost:3001", "given", own)

    assert await here.token() == "own token"
    assert await there.token() is None
    assert await told.token() == "given"
