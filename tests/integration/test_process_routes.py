"""Process connections to our own server, as any other client sees them on the wire.

(Source of the cases: hosted-api 3.6 and section 8, 38 to 45.)
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import attrs
import httpx
import orjson
import pytest
from tests.contract.served import ADA, TOKEN, hosting
from tests.integration.listening import listening

from letagents.adapters.accounts.memory import MemoryAccounts
from letagents.adapters.rooms.kept import links
from letagents.adapters.rooms.kept.attendance import KeptAttendance
from letagents.adapters.rooms.kept.links import Link
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.application.server.hosting import Hosting
from letagents.domain.accounts import Account
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.presence import EXITED
from letagents.testing.determinism import CountingIds, ManualClock
from letagents.wire.http.credentials import SESSION_ID, SESSION_TOKEN

pytestmark = pytest.mark.anyio

Plain = dict[str, Any]

BOBS = "b" * 64
BOB = Account(account_id="account_2", login="bob")
ROOM = RoomId("harbour")
SOON = 10


@attrs.frozen
class Session:
    """A session as its client knows it."""

    session_id: str
    secret: str

    @property
    def headers(self) -> dict[str, str]:
        return {SESSION_ID: self.session_id, SESSION_TOKEN: self.secret}

    @property
    def body(self) -> Plain:
        return {"agent_session_id": self.session_id, "agent_session_token": self.secret}

    @property
    def path(self) -> str:
        return f"/rooms/harbour/agent-sessions/{self.session_id}/process"


@attrs.define
class Stream:
    """What is read of one process connection."""

    pieces: AsyncIterator[str]
    text: str = ""

    async def until(self, wanted: str) -> str:
        """Return all that was said once `wanted` is in it."""
        with anyio.fail_after(SOON):
            while wanted not in self.text:
                self.text += await anext(self.pieces)
        return self.text

    async def rest(self) -> str:
        """Return all that is said until the end."""
        with anyio.fail_after(SOON):
            async for piece in self.pieces:
                self.text += piece
        return self.text


@attrs.define
class World:
    """A server, and what calls it for two accounts."""

    served: Hosting
    rooms: MemoryRooms
    http: httpx.AsyncClient

    async def session(self, name: str) -> Session:
        """Return the session of a new agent."""
        await self.http.post("/rooms/harbour/join")
        made = await self.http.post("/agents", json={"name": name})
        answer = await self.http.post(
            "/rooms/harbour/agent-sessions",
            json={"actor_key": made.json()["canonical_key"], "agent_instance_id": name},
        )
        return Session(answer.json()["session_id"], answer.json()["session_token"])

    @asynccontextmanager
    async def attending(self, one: Session) -> AsyncIterator[Stream]:
        """Hold a process connection open."""
        async with self.http.stream("GET", one.path, headers=one.headers) as answer:
            assert answer.status_code == 200, await answer.aread()
            assert answer.headers["content-type"].startswith("text/event-stream")
            stream = Stream(answer.aiter_text())
            await stream.until("connection_id")
            yield stream

    async def refused(self, path: str, shown: dict[str, str]) -> tuple[int, Plain]:
        answer = await self.http.get(path, headers=shown)
        return answer.status_code, answer.json()

    async def link(self, one: Session) -> Link:
        """Return what the room knows of the process of a session."""
        found = await self.rooms.look(ROOM, lambda book: links.of(book, SessionId(one.session_id)))
        assert found is not None
        return found

    async def until(self, one: Session, is_so: Callable[[Link], bool]) -> Link:
        """Return what the room knows once something is so."""
        with anyio.fail_after(SOON):
            while not is_so(link := await self.link(one)):  # noqa: ASYNC110  # over a socket
                await anyio.sleep(0.005)
        return link

    async def exit(self, one: Session, connection: object, path: str = "") -> httpx.Response:
        body = one.body | {"process_connection_id": connection}
        return await self.http.post(f"{path or one.path}/exit", json=body)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    clock = ManualClock()
    rooms = MemoryRooms(CountingIds(), clock)
    served = attrs.evolve(
        hosting(rooms, clock),
        accounts=MemoryAccounts.of(clock, {TOKEN: ADA, BOBS: BOB}),
        roll=KeptAttendance(rooms, CountingIds(first=9000)),
    )
    shown = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        listening(served) as address,
        httpx.AsyncClient(base_url=address, headers=shown, trust_env=False) as http,
    ):
        yield World(served, rooms, http)


def connection_in(said: str) -> str:
    """Return the id that the first event tells."""
    data = said.partition("data: ")[2].partition("\n")[0]
    return str(orjson.loads(data)["connection_id"])


async def test_who_opens_is_told_the_name_of_its_connection_and_who_hangs_up_is_noticed(
    world: World,
) -> None:
    one = await world.session("juniper")
    async with world.attending(one) as stream:
        known = await world.link(one)
        connection = connection_in(stream.text)

    assert stream.text.startswith(": connected\n\nevent: open\ndata: {")
    assert stream.text.endswith("}\n\n")
    assert len(connection) == 36
    assert (known.connection, known.closed) == (connection, None)
    assert (await world.until(one, lambda link: link.closed is not None)).connection == connection


async def test_a_connection_that_is_idle_beats(world: World) -> None:
    world.served.beats.every = 0.02
    async with world.attending(await world.session("juniper")) as stream:
        said = await stream.until(": heartbeat\n\n: heartbeat\n\n")

    assert said.count("event:") == 1


async def test_others_sessions_and_unknown_ones_are_refused_alike(world: World) -> None:
    one, other = await world.session("juniper"), await world.session("willow")
    unknown = f"/rooms/harbour/agent-sessions/{'x' * 9}/process"
    own = {"error": "A process connection belongs to its own session."}

    assert await world.refused(other.path, one.headers) == (403, own)
    assert await world.refused(unknown, one.headers) == (403, own)
    left = await world.exit(one, None, path=other.path)
    assert (left.status_code, left.json()["error"]) == (
        403,
        "A process speaks only for its own session.",
    )
    assert (await world.link(other)).seen is None


@pytest.mark.parametrize("shown", ["a wrong secret", "half of it", "nothing", "another account"])
async def test_who_proves_nothing_opens_nothing(world: World, shown: str) -> None:
    one = await world.session("juniper")
    headers = {
        "a wrong secret": one.headers | {SESSION_TOKEN: "x" * 43},
        "half of it": {SESSION_ID: one.session_id},
        "nothing": {},
        "another account": one.headers | {"Authorization": f"Bearer {BOBS}"},
    }[shown]
    status, said = await world.refused(one.path, headers)

    assert (status, said["error"]) == (401, "Invalid agent session credentials.")
    assert (await world.link(one)).seen is None


async def test_a_session_that_ends_tells_its_process_and_admits_it_no_more(world: World) -> None:
    one = await world.session("juniper")
    async with world.attending(one) as stream:
        done = await world.http.post(
            one.path.replace("/process", "/disconnect"), json=one.body, headers=one.headers
        )
        said = await stream.rest()
    status, refused = await world.refused(one.path, one.headers)
    stranger, _ = await world.refused(one.path, one.headers | {SESSION_TOKEN: "x" * 43})

    assert done.status_code == 200
    assert said.endswith("event: ended\ndata: {}\n\n")
    assert (status, refused["error"], refused["code"]) == (
        410,
        "Agent session has ended.",
        "agent_session_ended",
    )
    assert stranger == 401
    assert (await world.link(one)).closed is None


async def test_a_server_that_stops_says_nothing_of_the_processes(world: World) -> None:
    one, other = await world.session("juniper"), await world.session("willow")
    async with world.attending(one) as stream:
        world.served.stopping.set()
        said = await stream.rest()
    async with world.attending(other) as late:
        whole = await late.rest()

    assert said.count("event:") == whole.count("event:") == 1
    for link in (await world.link(one), await world.link(other)):
        assert link.closed is None
        assert link.is_open


async def test_a_newer_connection_closes_the_one_before_without_a_word(world: World) -> None:
    one = await world.session("juniper")
    async with world.attending(one) as first, world.attending(one) as second:
        said = await first.rest()
        known = await world.link(one)

        assert said.count("event:") == 1
        assert known.connection == connection_in(second.text)
        assert known.is_open


async def test_an_exit_is_recorded_where_it_can_be_true(world: World) -> None:
    one = await world.session("juniper")
    before = await world.exit(one, None)
    async with world.attending(one) as stream:
        wrong = [await world.exit(one, given) for given in ("another", None, EXITED)]
        right = await world.exit(one, connection_in(stream.text))
    known = await world.until(one, lambda link: link.closed is not None)
    again = await world.exit(one, EXITED)
    async with world.attending(one):
        opened = await world.link(one)

    assert before.json() == {"recorded": False}
    assert [answer.json() for answer in wrong] == [{"recorded": False}] * 3
    assert right.json() == {"recorded": True}
    assert known.connection == EXITED
    assert again.json() == {"recorded": False}
    assert opened.is_open


async def test_an_exit_of_no_text_is_no_exit(world: World) -> None:
    one = await world.session("juniper")

    assert (await world.exit(one, 7)).status_code == 400


async def test_a_server_without_such_connections_says_so_like_an_older_one(world: World) -> None:
    one = await world.session("juniper")
    older = attrs.evolve(world.served, roll=None)
    async with listening(older) as address:
        answer = await world.http.get(f"{address}{one.path}", headers=one.headers)

    assert answer.status_code == 404
    assert "Cannot GET" in answer.json()["error"]
