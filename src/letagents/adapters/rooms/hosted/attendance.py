"""Process connections to a room server. (Source: mcp-tools 13.)

They have a client of their own: an answer that lasts for days must not hold up one that is waited
for.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress

import anyio
import attrs
import orjson

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.projects import Absent
from letagents.domain.errors import NoAttendance, RoomsUnavailable
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.ports.attendance import Over
from letagents.wire.http import credentials
from letagents.wire.http import rooms as wire_rooms
from letagents.wire.http.places import part
from letagents.wire.http.reading import Fields, Unreadable

ANSWER = 10.0
"""Seconds within which the server has to answer, and to say how it calls the connection."""
SILENCE = 45.0
"""Seconds without a sign of the server's after which a connection is taken to be dead."""


@attrs.frozen
class Event:
    """Something that the server says on a connection."""

    name: str
    data: str


@attrs.define(eq=False)
class HostedAttended:
    """One connection that is open."""

    connection_id: str
    _events: AsyncIterator[Event]

    async def over(self) -> Over:
        """Return once the server says that the session ended, or the connection is no more."""
        async for event in self._events:
            if event.name == "ended":
                return Over.ENDED
        return Over.CLOSED


@attrs.define(eq=False)
class HostedAttendance:
    """Process connections through `streams`, and what else is said through `calls`."""

    _streams: Calls
    _calls: Calls
    _answer: float = ANSWER
    _silence: float = SILENCE

    @asynccontextmanager
    async def attend(self, room_id: RoomId, fence: Fence) -> AsyncIterator[HostedAttended]:
        """Hold a connection open for as long as the context lasts."""
        headers = credentials.in_headers(fence) | {"Accept": "text/event-stream"}
        try:
            async with (
                self._streams.stream(
                    _path(room_id, fence),
                    headers=headers,
                    patience=self._answer,
                    silence=self._silence,
                ) as lines,
                aclosing(_events(lines)) as events,
            ):
                yield HostedAttended(await self._named(events), events)
        except Absent as error:
            raise _unknown_here() from error

    async def _named(self, events: AsyncIterator[Event]) -> str:
        """Return what the server calls the connection; events that have no meaning are let go."""
        with suppress(TimeoutError, Unreadable, orjson.JSONDecodeError):
            with anyio.fail_after(self._answer):
                async for event in events:
                    if event.name == "open":
                        return Fields(orjson.loads(event.data)).text("connection_id")
                    if event.name == "ended":
                        break
        raise RoomsUnavailable(
            "The room server did not open a process connection.",
            remedy="Nothing is to be done: it is asked again.",
        )

    async def exited(self, room_id: RoomId, fence: Fence, connection_id: str | None) -> bool:
        """Say that the process exits; return whether that is kept."""
        try:
            return await self._calls.send(
                "POST",
                f"{_path(room_id, fence)}/exit",
                credentials.in_body(fence) | {"process_connection_id": connection_id},
                lambda answer: Fields(answer).flag("recorded"),
            )
        except Absent as error:
            raise _unknown_here() from error


async def _events(lines: AsyncIterator[str]) -> AsyncGenerator[Event, None]:
    """Return what lines of a stream say; comments say only that the server is there."""
    name, data = "message", ""
    async for line in lines:
        if not line:
            if data or name != "message":
                yield Event(name, data)
            name, data = "message", ""
            continue
        field, _, value = line.partition(":")
        if field == "event":
            name = value.strip()
        elif field == "data":
            data = value.strip()  # an event of ours has one line


def _path(room_id: RoomId, fence: Fence) -> str:
    return f"{wire_rooms.path(room_id)}/agent-sessions/{part(str(fence.session_id))}/process"


def _unknown_here() -> NoAttendance:
    return NoAttendance(
        "The room server knows of no process connections.",
        remedy="Nothing is to be done: without them it only knows less of who is gone.",
    )
