"""Who waits to be told of messages, for rooms that keep books: all requests of a server process.

A poll is over soon and the next one comes at once. So that not each of them is written down twice,
the end of one is written down only when no other came for a while; and what is open is written down
anew every half minute, all of a room's at once.
"""

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from datetime import timedelta

import attrs
import structlog

from letagents.adapters.rooms.book import Book, Noting
from letagents.adapters.rooms.kept import absences, delivery_records
from letagents.adapters.rooms.kept.delivery_records import DELIVERIES
from letagents.domain import deliveries
from letagents.domain.deliveries import Delivery, Transport
from letagents.domain.errors import LetAgentsError
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.presence import DELIVERY_LINGERS, REFRESHED
from letagents.domain.sessions import SessionKind
from letagents.domain.ticks import Tick
from letagents.ports.clock import Clock
from letagents.ports.ids import Ids

log = structlog.get_logger()


@attrs.define(eq=False)
class _Held:
    """The requests of one session that wait here; the room knows of those of `told`."""

    many: int = 0
    told: Fence | None = None
    ending: asyncio.TimerHandle | None = None


@attrs.define(eq=False)
class KeptDeliveries:
    """All requests that wait in this server process."""

    _rooms: Noting
    _ids: Ids
    _clock: Clock
    _lingers: timedelta = DELIVERY_LINGERS
    _every: timedelta = REFRESHED
    _held: dict[tuple[RoomId, SessionId], _Held] = attrs.field(factory=dict)
    _ends: set[asyncio.Task[None]] = attrs.field(factory=set)
    _telling: asyncio.Task[None] | None = None
    _holder: str = attrs.field(init=False)

    @_holder.default
    def _name_of_this_process(self) -> str:
        return self._ids.uuid()

    @asynccontextmanager
    async def open(
        self, room_id: RoomId, fence: Fence, transport: Transport = Transport.LONG_POLL
    ) -> AsyncIterator[None]:
        """Hold a delivery open."""
        held = self._begun(room_id, fence.session_id)
        try:
            await self._tell(held, room_id, fence, transport)
            yield
        finally:
            self._over(held, room_id, fence.session_id)

    async def of(self, room_id: RoomId, session_id: SessionId) -> Delivery | None:
        """Return what the room knows of a session's."""

        def of(book: Book) -> Delivery | None:
            found = book.get(DELIVERIES, str(session_id))
            return None if found is None else absences.announced(book, found)

        return await self._rooms.look(room_id, of)

    @property
    def count(self) -> int:
        """How many sessions wait here, or did so until lately."""
        return len(self._held)

    async def refresh(self) -> None:
        """Tell all rooms now of what waits here."""
        for room_id in {room_id for room_id, _ in self._held}:
            waiting = [one for room, one in self._held if room == room_id]
            with contextlib.suppress(LetAgentsError):  # it is told again, half a minute later
                await self._rooms.note(room_id, functools.partial(self._seen, waiting=waiting))

    def _begun(self, room_id: RoomId, session_id: SessionId) -> _Held:
        held = self._held.setdefault((room_id, session_id), _Held())
        held.many += 1
        if held.ending is not None:
            held.ending.cancel()
            held.ending = None
        if self._telling is None:
            self._telling = asyncio.create_task(self._keep_telling())
        return held

    async def _tell(self, held: _Held, room_id: RoomId, fence: Fence, transport: Transport) -> None:
        """Let the room know of it, and see in any case that `fence` admits."""
        if held.told == fence:
            await self._rooms.look(room_id, lambda _book: None, fence)
            return
        await self._rooms.note(room_id, lambda book: self._opened(book, transport), fence)
        held.told = fence

    def _over(self, held: _Held, room_id: RoomId, session_id: SessionId) -> None:
        held.many -= 1
        if held.many:
            return
        if held.told is None:
            self._forget(room_id, session_id)
            return
        since, loop = self._clock.tick(), asyncio.get_running_loop()
        held.ending = loop.call_later(
            self._lingers.total_seconds(), lambda: self._end(room_id, session_id, since)
        )

    def _end(self, room_id: RoomId, session_id: SessionId, since: Tick) -> None:
        self._forget(room_id, session_id)
        ending = asyncio.create_task(self._close(room_id, session_id, since))
        self._ends.add(ending)
        ending.add_done_callback(self._ends.discard)

    async def _close(self, room_id: RoomId, session_id: SessionId, since: Tick) -> None:
        def close(book: Book) -> None:
            before = book.get(DELIVERIES, str(session_id))
            if before is not None and (room_id, session_id) not in self._held:
                after = deliveries.closed(before, holder=self._holder, since=since, now=book.now)
                book.put(DELIVERIES, after)

        with contextlib.suppress(LetAgentsError):  # that it is not told anew tells it, in the end
            await self._rooms.note(room_id, close)

    def _forget(self, room_id: RoomId, session_id: SessionId) -> None:
        del self._held[room_id, session_id]
        if not self._held and self._telling is not None:
            self._telling.cancel()
            self._telling = None

    async def _keep_telling(self) -> None:
        while True:
            await asyncio.sleep(self._every.total_seconds())
            try:
                await self.refresh()
            except Exception:  # else all would be taken to be away, in the end
                log.exception("deliveries.failed")

    def _opened(self, book: Book, transport: Transport) -> None:
        session = book.caller
        if session is None or session.kind is not SessionKind.WORKER:
            return
        before = book.get(DELIVERIES, str(session.session_id))
        after = deliveries.opened(
            before,
            session.session_id,
            0 if before else book.next_number(DELIVERIES),
            holder=self._holder,
            transport=transport,
            tick=book.tick,
            now=book.now,
        )
        book.put(DELIVERIES, after)
        absences.seen(book, session.session_id)

    def _seen(self, book: Book, *, waiting: Collection[SessionId]) -> None:
        known = {one.session_id: one for one in delivery_records.all_open(book)}
        for session_id in waiting:
            before = known.get(session_id) or book.get(DELIVERIES, str(session_id))
            if before is not None:
                tick, now = book.tick, book.now
                after = deliveries.refreshed(before, holder=self._holder, tick=tick, now=now)
                book.put(DELIVERIES, after)
