"""Streams of a room over a real connection: what is told, how it is resumed, when it is over."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import anyio
import attrs
import httpx
import orjson
import pytest
from tests.contract.served import ADA, TOKEN, KeptRooms, Served, hosting
from tests.integration.listening import listening

from letagents.adapters.accounts.memory import MemoryAccounts
from letagents.application.server.hosting import Hosting, Pace
from letagents.domain.accounts import TokenKind, digest
from letagents.domain.feeds import Begun, Cursor, Happened
from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId, SessionId
from letagents.ports.feeds import Feed
from letagents.testing.determinism import ManualClock

pytestmark = pytest.mark.anyio

Plain = dict[str, Any]
QUICK = Pace(heartbeat=timedelta(seconds=0.05), drain=timedelta(seconds=0.3))


@attrs.frozen
class Event:
    """One event as a reader got it."""

    name: str
    id: str | None
    data: Plain


@attrs.define
class Reader:
    """Somebody at the other end of a stream."""

    lines: AsyncIterator[str]
    comments: int = 0

    async def next(self) -> Event:
        """Return the next event, passing by comments."""
        name, cursor, data = "message", None, {}
        with anyio.fail_after(5):
            async for line in self.lines:
                field, _, value = line.partition(": ")
                match field:
                    case "event":
                        name = value
                    case "id":
                        cursor = value
                    case "data":
                        data = orjson.loads(value)
                    case "" if value:
                        self.comments += 1
                    case "" if data:
                        return Event(name, cursor, data)
        raise EOFError

    async def heartbeats(self, many: int) -> None:
        """Return after so many comments."""
        with anyio.fail_after(5):
            async for line in self.lines:
                self.comments += line.startswith(": heartbeat")
                if self.comments > many:
                    return


@attrs.define
class Counted:
    """A feed, and how often it was asked what happened."""

    kept: Feed
    looks: int = 0

    async def begin(
        self, room_id: RoomId, asked: Cursor | MessageId | None, viewer: Fence | None = None
    ) -> Begun:
        return await self.kept.begin(room_id, asked, viewer)

    async def after(
        self, room_id: RoomId, cursor: Cursor, *, timeout: timedelta, viewer: Fence | None = None
    ) -> tuple[Happened, ...]:
        self.looks += 1
        return await self.kept.after(room_id, cursor, timeout=timeout, viewer=viewer)


@attrs.frozen
class Room:
    """A room behind a server that listens."""

    http: httpx.AsyncClient
    served: Hosting
    feed: Counted

    async def send(self, path: str, body: Plain | None = None, method: str = "POST") -> Plain:
        """Return what is answered."""
        answer = await self.http.request(method, f"/rooms/shed{path}", json=body or {})
        assert answer.is_success, answer.text
        found: Plain = answer.json()
        return found

    async def worker(self, name: str) -> Plain:
        """Let an agent come in; return what its writes show."""
        made = await self.http.post("/agents", json={"name": name})
        asked = {"actor_key": made.json()["canonical_key"], "display_name": name}
        session = await self.send("/agent-sessions", asked)
        return {
            "agent_session_id": session["session_id"],
            "agent_session_token": session["session_token"],
        }

    @asynccontextmanager
    async def reading(
        self, query: str = "", headers: dict[str, str] | None = None
    ) -> AsyncIterator[Reader]:
        """Yield a reader of the room's stream."""
        path = f"/rooms/shed/messages/stream{query}"
        async with self.http.stream("GET", path, headers=headers) as answer:
            assert answer.status_code == 200, await answer.aread()
            assert answer.headers["content-type"] == "text/event-stream"
            assert answer.headers["cache-control"] == "no-cache, no-transform"
            assert answer.headers["x-accel-buffering"] == "no"
            yield Reader(answer.aiter_lines())


def shown(worker: Plain) -> dict[str, str]:
    """Return the headers with which a worker reads."""
    return {
        "X-LetAgents-Agent-Session-Id": worker["agent_session_id"],
        "X-LetAgents-Agent-Session-Token": worker["agent_session_token"],
    }


class TestStreams(Served):
    @pytest.fixture
    async def room(self, kept: KeptRooms, clock: ManualClock) -> AsyncIterator[Room]:
        served = hosting(kept, clock)
        assert served.feed is not None
        counted = Counted(served.feed)
        served = attrs.evolve(served, pace=QUICK, feed=counted)
        async with (
            listening(served, drain=0.3) as address,
            httpx.AsyncClient(
                base_url=address, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=10
            ) as http,
        ):
            opened = Room(http, served, counted)
            await opened.send("/join")
            yield opened

    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.mark.rule("X12")
    async def test_a_reader_is_told_of_messages_tasks_and_reasoning(self, room: Room) -> None:
        worker = await room.worker("ada")
        async with room.reading() as reader:
            begun = await reader.next()
            await room.send("/messages", worker | {"text": "", "agent_prompt_kind": "auto"})
            said = await room.send("/messages", worker | {"text": "hello"})
            heard = await reader.next()
            task = await room.send("/tasks", {"title": "mend", "desktop_human_client": True})
            told = [await reader.next() for _ in range(2)]

        assert (begun.name, begun.data["gap"], begun.data["checkpoint"]) == (
            "room_sync",
            False,
            None,
        )
        assert begun.data["event_cursor"] == begun.id
        assert (heard.name, heard.data) == ("message", said)
        change = next(one for one in told if one.name == "task_update")
        assert (change.data["id"], change.data["room_id"]) == (task["id"], "shed")
        assert len({begun.id, heard.id, *(one.id for one in told)}) == 4

    @pytest.mark.rule("X12")
    async def test_what_becomes_of_a_message_is_told(self, room: Room) -> None:
        ada, bob = await room.worker("ada"), await room.worker("bob")
        async with room.reading() as reader:
            begun = await reader.next()
            said = await room.send("/messages", ada | {"text": "@bob look"})
            heard = await reader.next()
            await room.http.get("/rooms/shed/messages", headers=shown(bob))
            seen = await reader.next()
        async with room.reading(f"?event_cursor={heard.id}") as reader:
            await reader.next()
            again = await reader.next()
        info = (await room.http.get(f"/rooms/shed/messages/{said['id']}/info")).json()

        assert (begun.name, heard.name) == ("room_sync", "message")
        assert (seen.name, again.name) == ("message_info_updated", "message_info_updated")
        assert seen.data == again.data == {"room_id": "shed", "message_ids": [said["id"]]}
        [receipt] = info["receipts"]
        assert receipt["agent_session_id"] == bob["agent_session_id"]
        assert (receipt["activation_reason"], receipt["receipt_state"]) == (
            "explicit_mention",
            "responding",
        )

    @pytest.mark.rule("X10")
    async def test_who_comes_back_misses_nothing_and_hears_nothing_twice(self, room: Room) -> None:
        worker = await room.worker("ada")
        async with room.reading() as reader:
            await reader.next()
            await room.send("/messages", worker | {"text": "1"})
            last = await reader.next()
        for text in "23":
            await room.send("/messages", worker | {"text": text})
        async with room.reading(headers={"Last-Event-ID": str(last.id)}) as reader:
            begun = await reader.next()
            heard = [(await reader.next()).data["text"] for _ in range(2)]
        async with room.reading(f"?event_cursor={last.id}") as reader:
            await reader.next()
            again = (await reader.next()).data["text"]
        async with room.reading("?after=msg_2") as reader:
            await reader.next()
            third = (await reader.next()).data["text"]

        assert (begun.data["gap"], begun.data["checkpoint"]) == (False, "msg_1")
        assert begun.data["requested_cursor"] == last.id
        assert (heard, again, third) == (["2", "3"], "2", "3")

    @pytest.mark.rule("X11")
    @pytest.mark.parametrize("cursor", ["9.9.9", "evt_12", "1.2.3.4.5", "x" * 100])
    async def test_a_cursor_of_another_room_is_a_gap(self, room: Room, cursor: str) -> None:
        worker = await room.worker("ada")
        await room.send("/messages", worker | {"text": "before"})
        async with room.reading(headers={"Last-Event-ID": cursor}) as reader:
            begun = await reader.next()
            await room.send("/messages", worker | {"text": "after"})
            heard = await reader.next()

        assert (begun.name, begun.data["gap"], begun.data["checkpoint"]) == (
            "room_sync",
            True,
            "msg_1",
        )
        assert heard.data["text"] == "after"

    async def test_a_quiet_stream_shows_that_it_is_there_and_looks_once(self, room: Room) -> None:
        worker = await room.worker("ada")
        async with room.reading() as reader:
            await reader.next()
            await reader.heartbeats(3)
            assert room.feed.looks == 1
            await room.send("/messages", worker | {"text": "at last"})
            assert (await reader.next()).data["text"] == "at last"

    @pytest.mark.rule("X13")
    async def test_who_was_replaced_is_told_so_and_nothing_more(self, room: Room) -> None:
        worker, other = await room.worker("ada"), await room.worker("bob")
        async with room.reading(headers=shown(worker)) as reader:
            await reader.next()
            path = f"/agent-sessions/{worker['agent_session_id']}/disconnect"
            await room.send(path, worker)
            await room.send("/messages", other | {"text": "a secret"})
            over = await reader.next()
            with pytest.raises(EOFError):
                await reader.next()

        assert (over.name, over.data) == ("session_disconnect", {"room_id": "shed"})

    @pytest.mark.rule("X14")
    async def test_to_be_told_is_no_sign_of_life(
        self, room: Room, kept: KeptRooms, clock: ManualClock
    ) -> None:
        worker, other = await room.worker("ada"), await room.worker("bob")
        before = clock.now()
        async with room.reading(headers=shown(worker)) as reader:
            await reader.next()
            clock.pass_by(timedelta(minutes=5))
            await room.send("/messages", other | {"text": "hello"})
            await reader.next()
        session_id = SessionId(worker["agent_session_id"])
        seen = await kept.look(RoomId("shed"), lambda book: book.session(session_id))

        assert seen is not None
        assert seen.last_seen_at == before

    async def test_a_worker_is_told_which_messages_are_for_it(self, room: Room) -> None:
        worker, other = await room.worker("ada"), await room.worker("bob")
        async with room.reading(headers=shown(worker)) as reader:
            await reader.next()
            await room.send("/messages", other | {"text": "@ada look"})
            heard = await reader.next()

        assert heard.data["activation"]["for_current_agent"]["decision"] == "activate"

    async def test_who_may_not_read_gets_no_stream(self, room: Room) -> None:
        worker = await room.worker("ada")
        path = "/rooms/shed/messages/stream"
        wrong = shown(worker | {"agent_session_token": "x" * 43})
        refused = [
            await room.http.get(path, headers={"Authorization": "Bearer wrong"}),
            await room.http.get(path, headers=wrong),
            await room.http.get(path, headers={"X-LetAgents-Agent-Session-Id": "x"}),
            await room.http.get("/rooms/other/messages/stream"),
            await room.http.get(f"{path}?after=7"),
        ]

        assert [one.status_code for one in refused] == [401, 401, 401, 404, 400]

    async def test_a_stream_is_over_when_its_token_is_revoked(self, room: Room) -> None:
        accounts = room.served.accounts
        assert isinstance(accounts, MemoryAccounts)
        await accounts.give(ADA, digest("soon gone"), TokenKind.OWNER)
        async with room.reading(headers={"Authorization": "Bearer soon gone"}) as reader:
            await reader.next()
            await accounts.take(digest("soon gone"), TokenKind.OWNER)
            with pytest.raises(EOFError):
                await reader.next()

    async def test_a_server_that_stops_ends_its_streams_in_order(self, room: Room) -> None:
        async with room.reading() as reader:
            await reader.next()
            room.served.stopping.set()
            with pytest.raises(EOFError):
                await reader.next()

    async def test_a_reader_that_takes_nothing_is_dropped_and_comes_back(self, room: Room) -> None:
        worker = await room.worker("ada")
        address = room.http.base_url
        slow, writer = await asyncio.open_connection(address.host, address.port, limit=1024)
        asked = (
            "GET /rooms/shed/messages/stream HTTP/1.1\r\nHost: x\r\n"
            f"Authorization: Bearer {TOKEN}\r\n\r\n"
        )
        writer.write(asked.encode())
        await slow.readuntil(b"room_sync")
        for _ in range(150):
            await room.send("/messages", worker | {"text": "x" * 60_000})
        with anyio.fail_after(10):
            while await slow.read(65536):
                pass
        writer.close()
        async with room.reading("?event_cursor=149.0.0") as reader:
            await reader.next()
            last = await reader.next()

        assert last.data["id"] == "msg_150"
