"""Rooms on a server keep the promises of the port, whatever the server keeps them in."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from letagents.adapters.accounts.memory import MemoryAccounts
from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.rooms import HostedRooms
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.application.hosting import Hosting
from letagents.domain.accounts import Account
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.sessions import Session
from letagents.entrypoints.server.app import application
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.rooms import RoomTransportContract
from letagents.testing.determinism import CountingIds, ManualClock

TOKEN = "a" * 64
ADA = Account(account_id="account_1", login="ada", display_name="Ada")


def hosting(rooms: MemoryRooms | LocalRooms, clock: ManualClock) -> Hosting:
    """Return what a server serves from `rooms`, to one account."""

    async def session_of(room_id: RoomId, session_id: SessionId) -> Session | None:
        return await rooms.look(room_id, lambda book: book.session(session_id))

    accounts = MemoryAccounts.of(clock, {TOKEN: ADA})
    return Hosting(
        rooms, session_of, accounts, clock, CountingIds(first=5000), timedelta(minutes=3)
    )


def client(served: Hosting) -> httpx.AsyncClient:
    """Return a client of `served`, in this process."""
    transport = httpx.ASGITransport(application(served))
    return httpx.AsyncClient(transport=transport, base_url="http://rooms.test")


class TestHostedRoomsInMemory(RoomTransportContract):
    @pytest.fixture
    async def rooms(self, clock: ManualClock) -> AsyncIterator[RoomTransport]:
        async with client(hosting(MemoryRooms(CountingIds(), clock), clock)) as http:
            yield HostedRooms(Calls(http, lambda: TOKEN))


class TestHostedRoomsInSqlite(RoomTransportContract):
    @pytest.fixture
    async def rooms(self, tmp_path: Path, clock: ManualClock) -> AsyncIterator[RoomTransport]:
        kept = LocalRooms(tmp_path / "rooms.db", CountingIds(), clock, NoNudges())
        async with client(hosting(kept, clock)) as http:
            yield HostedRooms(Calls(http, lambda: TOKEN))
        await kept.aclose()
