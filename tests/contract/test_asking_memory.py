"""Asking a room's memory through a client: lost answers, lost connections, rooms without memory."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import attrs
import pytest
from tests.contract.machine import KEY, Here

from letagents.adapters.rooms.book import Book
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.adapters.state.memory import MemoryState
from letagents.application.client import Client
from letagents.application.registration import Wish
from letagents.domain.errors import ConnectionReplaced, NotAvailable, OutcomeUnknown
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.knowledge import Section
from letagents.domain.messages import Latest
from letagents.domain.reasoning import trace
from letagents.domain.sessions import Connection
from letagents.ports.rooms import RoomTransport
from letagents.settings import Settings
from letagents.testing.contracts.artifacts import pull
from letagents.testing.contracts.knowledge import a_fact
from letagents.testing.contracts.room_callers import ROOM, arrival
from letagents.testing.contracts.wakes import timer
from letagents.wiring.client import open_letagents

T = TypeVar("T")
pytestmark = pytest.mark.anyio


@attrs.define
class ForgetfulRooms(MemoryRooms):
    """Rooms that do what they are asked, and then lose some answers."""

    lost: int = 0

    async def change(
        self, room_id: RoomId, work: Callable[[Book], T], fence: Fence | None = None
    ) -> T:
        done = await super().change(room_id, work, fence)
        if self.lost:
            self.lost -= 1
            raise OutcomeUnknown("The room did not answer.", remedy="Read before calling again.")
        return done


@asynccontextmanager
async def visiting(rooms: RoomTransport, home: Path) -> AsyncIterator[tuple[Client, Connection]]:
    """Open a client whose worker is in the room."""
    await rooms.join(ROOM)
    async with (
        open_letagents(
            Settings(home=home), rooms=rooms, state=MemoryState(), surroundings=Here()
        ) as letagents,
        letagents.client() as client,
    ):
        registered = await client.registration.register(KEY, Wish(room_id=ROOM))
        yield client, registered.connection


async def test_a_lost_answer_is_fetched_and_nothing_is_added_twice(tmp_path: Path) -> None:
    rooms = ForgetfulRooms()
    async with visiting(rooms, tmp_path) as (client, me):
        rooms.lost = 1
        fact = await client.memory.add(me, Section.MEMORY, "first_fact", a_fact())
        rooms.lost = 1
        shared = await client.memory.publish(me, pull(7), ())

        assert (await client.memory.records(ROOM, Section.MEMORY)).records == (fact,)
        found = await client.memory.artifacts(ROOM, task_id=None, after=None, limit=9)
        assert found.artifacts == (shared,)


async def test_an_answer_that_is_lost_twice_is_told_as_unknown(tmp_path: Path) -> None:
    rooms = ForgetfulRooms()
    async with visiting(rooms, tmp_path) as (client, me):
        rooms.lost = 2
        with pytest.raises(OutcomeUnknown):
            await client.memory.add(me, Section.MEMORY, "first_fact", a_fact())

        fact = await client.memory.add(me, Section.MEMORY, "first_fact", a_fact())
        assert (await client.memory.records(ROOM, Section.MEMORY)).records == (fact,)


async def test_who_was_replaced_is_told_and_changes_nothing(tmp_path: Path) -> None:
    rooms = MemoryRooms()
    async with visiting(rooms, tmp_path) as (client, me):
        token = me.fence.token
        successor = attrs.evolve(
            arrival(1, 5, after=me),
            instance_id=me.session.instance_id,
            worker_id=me.session.worker_id,
        )
        await rooms.connect(ROOM, successor)

        for asking in (
            client.memory.add(me, Section.MEMORY, "first_fact", a_fact()),
            client.memory.publish(me, pull(7), ()),
            client.memory.wake(me, timer()),
            client.memory.reason(me, trace({"summary": "a", "milestone": "b"})),
            client.memory.records(ROOM, Section.MEMORY, viewer=me),
            client.memory.guidelines(ROOM, me),
        ):
            with pytest.raises(ConnectionReplaced) as told:
                await asking
            assert str(me.session.worker_id) in told.value.happened
            assert token.value not in str(told.value)
        assert (await client.memory.records(ROOM, Section.MEMORY)).records == ()
        assert (await rooms.read(ROOM, Latest())).messages == ()


async def test_rooms_that_keep_messages_alone_say_so(tmp_path: Path) -> None:
    class MessagesAlone:
        """Hands on what a RoomTransport has to do, and nothing else."""

        def __init__(self, inner: MemoryRooms) -> None:
            self.create, self.join, self.known = inner.create, inner.join, inner.known
            self.connect, self.disconnect = inner.connect, inner.disconnect
            self.post, self.read, self.wait = inner.post, inner.read, inner.wait
            self.message = inner.message

    async with visiting(MessagesAlone(MemoryRooms()), tmp_path) as (client, me):
        with pytest.raises(NotAvailable) as told:
            await client.memory.add(me, Section.MEMORY, "first_fact", a_fact())
        assert "send_message" in told.value.remedy
