"""Who attends, for rooms that keep books: one place for all connections of a server process.

A connection that is open is written down anew every half minute, all of a room's at once; so an end
made by another server process, or a newer connection there, is noticed then at the latest.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import timedelta

import anyio
import attrs
import structlog

from letagents.adapters.rooms.book import Book, Noting
from letagents.adapters.rooms.kept import absences, links
from letagents.adapters.rooms.kept.links import Link
from letagents.domain.errors import LetAgentsError, NoAttendance
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.presence import EXITED, REFRESHED
from letagents.domain.sessions import SessionKind
from letagents.ports.attendance import Over
from letagents.ports.ids import Ids

log = structlog.get_logger()

CLOSING = 5.0
"""Seconds that the closing of a connection may take to be written down."""


@attrs.define(eq=False)
class KeptAttended:
    """One connection that is open here."""

    session_id: SessionId
    connection_id: str
    _how: Over | None = None
    _end: asyncio.Event = attrs.field(factory=asyncio.Event)

    @property
    def is_over(self) -> bool:
        """Whether it is over."""
        return self._how is not None

    def end(self, how: Over) -> None:
        """Let it be over."""
        if self._how is None:
            self._how = how
            self._end.set()

    async def over(self) -> Over:
        """Return once it is over."""
        await self._end.wait()
        assert self._how is not None  # noqa: S101  # it was set first
        return self._how


@attrs.define(eq=False)
class _Room:
    """The connections of one room that are open here, by their session."""

    room_id: RoomId
    _rooms: Noting
    attended: dict[SessionId, KeptAttended] = attrs.field(factory=dict)

    async def refresh(self) -> None:
        """Tell the room of all connections; let those be over that it knows no more."""
        asked = dict(self.attended)
        with contextlib.suppress(LetAgentsError):  # it is told again, half a minute later
            found = await self._rooms.note(self.room_id, lambda book: _refreshed(book, asked))
            for session_id, how in found.items():
                asked[session_id].end(how)


def _refreshed(book: Book, asked: dict[SessionId, KeptAttended]) -> dict[SessionId, Over]:
    over: dict[SessionId, Over] = {}
    live = {one.session_id for one in book.names() if one.is_live}
    known = {one.session_id: one for one in links.all_open(book)}
    for session_id, attended in asked.items():
        link = known.get(session_id)
        if session_id not in live:
            over[session_id] = Over.ENDED
        elif link is None or link.connection != attended.connection_id:
            over[session_id] = Over.CLOSED
        else:
            links.refreshed(book, link)
    return over


@attrs.define(eq=False)
class KeptAttendance:
    """All connections that are open in this server process."""

    _rooms: Noting
    _ids: Ids
    _every: timedelta = REFRESHED
    _open: dict[RoomId, _Room] = attrs.field(factory=dict)
    _telling: asyncio.Task[None] | None = None
    _is_shut: bool = False

    @asynccontextmanager
    async def attend(self, room_id: RoomId, fence: Fence) -> AsyncIterator[KeptAttended]:
        """Hold a connection open. Who leaves in order before it is over has closed it.

        Whoever is torn out of it may be, and that says nothing: the server may be what ends.
        """
        connection_id = self._ids.uuid()
        await self._tell(room_id, fence, connection_id)
        attended = self._begun(room_id, fence.session_id, connection_id)
        try:
            yield attended
            if not attended.is_over:
                await self._close(room_id, fence.session_id, connection_id)
                self._rooms.listen_for(room_id, fence)
        finally:
            self._left(room_id, attended)

    @property
    def count(self) -> int:
        """How many connections are open here."""
        return sum(len(room.attended) for room in self._open.values())

    async def exited(self, room_id: RoomId, fence: Fence, connection_id: str | None) -> bool:
        """Take note that the process exits, where that can be true."""
        kept = await self._rooms.note(room_id, lambda book: _exited(book, connection_id), fence)
        self._rooms.listen_for(room_id, fence)
        return kept

    async def refresh(self, room_id: RoomId) -> None:
        """Tell a room now of all connections that are open to it here."""
        if (room := self._open.get(room_id)) is not None:
            await room.refresh()

    def ended(self, room_id: RoomId, sessions: Iterable[SessionId]) -> None:
        """Let connections be over whose sessions have just ended."""
        room = self._open.get(room_id)
        for session_id in sessions if room else ():
            if room and (attended := room.attended.get(session_id)) is not None:
                attended.end(Over.ENDED)

    def shut(self) -> None:
        """Let all be over, those that come from now on too; nothing is written down of it."""
        self._is_shut = True
        for room in self._open.values():
            for attended in room.attended.values():
                attended.end(Over.CLOSED)

    def _begun(self, room_id: RoomId, session_id: SessionId, connection_id: str) -> KeptAttended:
        if (room := self._open.get(room_id)) is None:
            room = self._open[room_id] = _Room(room_id, self._rooms)
        if self._telling is None:
            self._telling = asyncio.create_task(self._keep_telling())
        attended = KeptAttended(session_id, connection_id)
        if (before := room.attended.get(session_id)) is not None:
            before.end(Over.CLOSED)
        room.attended[session_id] = attended
        if self._is_shut:
            attended.end(Over.CLOSED)
        return attended

    def _left(self, room_id: RoomId, attended: KeptAttended) -> None:
        room = self._open.get(room_id)
        if room is None:
            return
        if room.attended.get(attended.session_id) is attended:
            del room.attended[attended.session_id]
        if not room.attended:
            del self._open[room_id]
        if not self._open and self._telling is not None:
            self._telling.cancel()
            self._telling = None

    async def _keep_telling(self) -> None:
        while True:
            await asyncio.sleep(self._every.total_seconds())
            # All rooms in one go: in other processes, each writing makes those look who wait there.
            for room_id in list(self._open):
                try:
                    await self.refresh(room_id)
                except Exception:  # else all would be taken to be gone, in the end
                    log.exception("attendance.failed", room_id=str(room_id))

    async def _tell(self, room_id: RoomId, fence: Fence, connection_id: str) -> None:
        """Let the room know of a connection, or of none if the process is gone by then."""
        try:
            await self._rooms.note(room_id, lambda book: _opened(book, connection_id), fence)
        except anyio.get_cancelled_exc_class():
            await self._close(room_id, fence.session_id, connection_id)
            raise

    async def _close(self, room_id: RoomId, session_id: SessionId, connection_id: str) -> None:
        def close(book: Book) -> None:
            _closed(book, session_id, connection_id)

        with (
            anyio.move_on_after(CLOSING, shield=True),
            contextlib.suppress(LetAgentsError),  # its silence tells of it, in the end
        ):
            await self._rooms.note(room_id, close)


def _opened(book: Book, connection_id: str) -> None:
    session, link = book.caller, _own(book)
    if session is None or session.kind is not SessionKind.WORKER or link is None:
        raise NoAttendance(
            "Only a worker that was registered through this server has a process connection.",
            remedy="Call register_agent_session first.",
        )
    links.opened(book, link, connection_id)
    absences.seen(book, session.session_id)


def _closed(book: Book, session_id: SessionId, connection_id: str) -> None:
    session, link = book.session(session_id), links.of(book, session_id)
    is_live = session is not None and session.ended_at is None
    if is_live and link is not None and link.connection == connection_id:
        links.closed(book, link)


def _exited(book: Book, connection_id: str | None) -> bool:
    link = _own(book)
    if link is None or link.seen is None or not _may_exit(link, connection_id):
        return False
    links.exited(book, link)
    return True


def _may_exit(link: Link, connection_id: str | None) -> bool:
    if connection_id is None:
        return link.closed is not None
    return connection_id != EXITED and link.connection == connection_id


def _own(book: Book) -> Link | None:
    return links.of(book, book.caller.session_id) if book.caller else None
