"""Rooms in a database: a SQLite file on one machine, or whatever an SQLAlchemy URL names.

The rules are asked inside the transaction of their effect. One thread writes; a few read. The
database and its library are loaded when they are first needed, in those threads.
"""

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import attrs

from letagents.adapters.rooms.bells import Bells, Nudges
from letagents.adapters.rooms.book import Admins, Book, everybody
from letagents.adapters.rooms.evidence import UnknownProcesses
from letagents.adapters.rooms.kept import dues
from letagents.adapters.rooms.lookout import Lookout
from letagents.adapters.rooms.patience import Pause, patiently
from letagents.adapters.rooms.signs import Signs, interval
from letagents.adapters.rooms.stirred import Stirred
from letagents.adapters.rooms.writer import Outcome, Post, Writer, closed
from letagents.domain.absences import GRACE
from letagents.domain.errors import LetAgentsError
from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.messages import After, Draft, Message, Page, Window
from letagents.domain.rooms import Room
from letagents.domain.sessions import Arrival, Connection, Session
from letagents.ports.clock import Clock
from letagents.ports.ids import Ids
from letagents.ports.processes import Processes
from letagents.ports.vitals import Vitals

if TYPE_CHECKING:
    from letagents.adapters.rooms.ledger import Ledger
    from letagents.adapters.rooms.local_reading import Seen
    from letagents.adapters.sql.opening import AnyDatabase
    from letagents.domain.search import Found, Query

T = TypeVar("T")

_READERS = 4


@attrs.define(eq=False)
class LocalRooms:
    """Rooms that every process sees which opens the same place.

    A caller that is cancelled while its post waits for its turn may have said it or not, but never
    half; asking again with the same key tells.
    """

    _place: "AnyDatabase | Path | str" = attrs.field(repr=False)
    _ids: Ids
    _clock: Clock
    _nudges: Nudges
    _processes: Processes = attrs.field(factory=UnknownProcesses)
    _admins: Admins = everybody
    _term: timedelta = timedelta(minutes=15)
    _grace: timedelta = GRACE
    _pause: Pause = asyncio.sleep
    _bells: Bells = attrs.field(factory=Bells)
    _told: Bells = attrs.field(factory=Bells)
    """Those of who is told of receipts, which nobody else waits for."""
    _own: Bells = attrs.field(factory=Bells)
    """Those of who waits as a session, which may be taken over or ended."""
    _lock: threading.Lock = attrs.field(factory=threading.Lock)
    _opened: "Ledger | None" = None
    _lost: int = 0
    _readers: ThreadPoolExecutor = attrs.field(init=False)
    _writer: Writer = attrs.field(init=False)
    _signs: Signs = attrs.field(init=False)
    _lookout: Lookout = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="rooms-reader")
        self._writer = Writer(self._post_all, self._tidy)
        self._signs = Signs(self._clock, interval(self._term))
        self._lookout = Lookout(
            self._beat, self._others, self._writer.hand, self._marks, self._hand_to_reader
        )

    async def create(self) -> Room:
        """Make a room that is entered by a new invite code."""
        return await self._writer.do(lambda: self._ledger().create())

    async def join(self, room_id: RoomId, *, create: bool = True) -> Room:
        """Return the room, making it if it is not there and may be made."""
        return await self._writer.do(lambda: self._ledger().join(room_id, create=create))

    async def known(self) -> tuple[Room, ...]:
        """Return the rooms, the latest active first."""
        return await self._reader(lambda: self._ledger().known())

    async def connect(self, room_id: RoomId, arrival: Arrival) -> Connection:
        """Open a session or take it over. Those look again whom it concerns."""

        def connect(may_wait: bool) -> Connection:
            connection, stirred = self._ledger().connect(room_id, arrival, may_wait=may_wait)
            self._signs.wrote(room_id, connection.fence)
            self._wake(room_id, stirred)
            return connection

        return await patiently(
            lambda may_wait: self._writer.do(lambda: connect(may_wait)), self._pause
        )

    async def disconnect(self, room_id: RoomId, fence: Fence) -> Session:
        """End the session. Those look again whom it concerns: its own have no more to wait for."""

        def disconnect() -> Session:
            session, stirred = self._ledger().disconnect(room_id, fence)
            self._signs.forget(room_id, fence)
            self._wake(room_id, stirred)
            return session

        return await self._writer.do(disconnect)

    async def post(self, room_id: RoomId, draft: Draft, fence: Fence) -> Message:
        """Say `draft` in the room, as whoever `fence` is."""
        said = await self._writer.post(Post(room_id, draft, fence))
        self._sign(room_id, fence)
        return said

    async def read(self, room_id: RoomId, window: Window, viewer: Fence | None = None) -> Page:
        """Return the messages in `window`, oldest first."""
        seen = await self._seen(room_id, window, viewer)
        self._sign(room_id, viewer)
        self._shown(room_id, viewer, seen.news)
        return seen.page

    async def wait(
        self, room_id: RoomId, window: After, *, timeout: timedelta, viewer: Fence | None = None
    ) -> Page:
        """Return as `read` does, as soon as the window holds a message; empty after `timeout`."""
        self._sign(room_id, viewer)
        seen = await self.watch(
            room_id,
            lambda: self._seen(room_id, window, viewer),
            lambda seen: bool(seen.page.messages),
            timeout=timeout,
            viewer=viewer,
        )
        self._shown(room_id, viewer, seen.news)
        return seen.page

    async def watch(
        self,
        room_id: RoomId,
        look: Callable[[], Awaitable[T]],
        is_enough: Callable[[T], bool],
        *,
        timeout: timedelta,
        viewer: Fence | None = None,
        of_receipts: bool = False,
    ) -> T:
        """Return what `look` finds, as soon as that is enough, or at the end of `timeout`.

        It looks again when there is something new to be told in the room, when the session of
        `viewer` was taken over or ended and, `of_receipts`, when one has moved.
        """
        loop, nothing = asyncio.get_running_loop(), contextlib.nullcontext()
        ends = loop.time() + timeout.total_seconds()
        # It hangs everywhere before the first look, so that nothing is done unheard meanwhile.
        with (
            self._bells.hung(room_id) as bell,
            self._own.hung(room_id, bell, of=viewer.session_id) if viewer else nothing,
            self._told.hung(room_id, bell) if of_receipts else nothing,
            self._nudges.listening(room_id, bell.ring) as longest_rest,
            self._lookout.watching(room_id, bell, longest_rest),
        ):
            was_woken = True
            while True:
                found = await look()
                if is_enough(found) or loop.time() >= ends:
                    self._lost += is_enough(found) and not was_woken
                    return found
                due = await self._due_in(room_id)
                until = ends if due is None else min(ends, loop.time() + due.total_seconds())
                was_woken = await bell.rest(until - loop.time())

    async def _due_in(self, room_id: RoomId) -> timedelta | None:
        """Let the room do what is due by now; return how long until more is, if any is."""
        left = await dues.left(self, room_id)
        if left is None or left > timedelta(0):
            return left
        from letagents.adapters.rooms.kept import doing  # few who wait need all the verbs

        return await doing.done(self, room_id)

    async def vitals(self) -> Vitals:
        """Return how the rooms are."""
        counted = await self._reader(lambda: self._ledger().counted())
        return attrs.evolve(counted, waiters=self._bells.many, nudges_lost=self._lost)

    async def message(self, room_id: RoomId, message_id: MessageId) -> Message | None:
        """Return one message, or None if the room has no such."""
        return await self._reader(lambda: self._ledger().message(room_id, message_id))

    async def search(self, room_id: RoomId, query: "Query", viewer: Fence | None = None) -> "Found":
        """Return the newest hits. What the index lacks is added first, and lets posts between."""
        lacks = await self._reader(lambda: self._ledger().search_lacks_up_to(room_id, viewer))
        before, reached = -1, 0
        while before < reached < lacks:
            before = reached
            reached = await self._writer.do(lambda: self._ledger().add_to_search(room_id))
        return await self._reader(lambda: self._ledger().search(room_id, query, viewer))

    async def change(
        self, room_id: RoomId, work: Callable[[Book], T], fence: Fence | None = None
    ) -> T:
        """Return what `work` returns once what it put down is kept; those look whom it concerns."""
        done = await self.note(room_id, work, fence)
        self._sign(room_id, fence)
        return done

    async def note(
        self, room_id: RoomId, work: Callable[[Book], T], fence: Fence | None = None
    ) -> T:
        """Do as `change`, for what is no sign of anybody."""

        def change() -> T:
            done, stirred = self._ledger().change(room_id, work, fence)
            self._wake(room_id, stirred)
            return done

        return await self._writer.do(change)

    def listen_for(self, room_id: RoomId, fence: Fence) -> None:
        """Write down the next call of whoever `fence` is as a sign of it."""
        self._signs.forget(room_id, fence)

    async def look(
        self, room_id: RoomId, work: Callable[[Book], T], viewer: Fence | None = None
    ) -> T:
        """Return what `work` finds in one state of the room."""
        found = await self._reader(lambda: self._ledger().look(room_id, work, viewer))
        self._sign(room_id, viewer)
        return found

    async def aclose(self) -> None:
        """Do what was asked before, and close the database; later calls are refused."""
        await asyncio.get_running_loop().run_in_executor(None, self.close)

    def close(self) -> None:
        """Do as `aclose`, and block until it is done."""
        self._writer.close()
        self._readers.shutdown()
        if self._opened is not None:
            self._opened.close()

    async def peek(self, room_id: RoomId, window: Window, viewer: Fence | None = None) -> Page:
        """Return as `read` does; it is no sign of the viewer's life."""
        return (await self._seen(room_id, window, viewer)).page

    async def _seen(self, room_id: RoomId, window: Window, viewer: Fence | None) -> "Seen":
        return await self._reader(lambda: self._ledger().read(room_id, window, viewer))

    def _shown(self, room_id: RoomId, viewer: Fence | None, numbers: Sequence[int]) -> None:
        """See to it that it is written down what a viewer was shown; nobody waits for that."""

        def note() -> None:
            with contextlib.suppress(LetAgentsError):  # it is shown it again, or has gone
                if viewer is not None and self._ledger().shown(room_id, viewer, numbers):
                    self._told.ring(room_id)

        if numbers:
            self._writer.hand(note)

    def _sign(self, room_id: RoomId, fence: Fence | None) -> None:
        """See to it that a call counts as a sign of its session's life."""
        if fence is not None and self._signs.is_due(room_id, fence):
            self._writer.hand(lambda: self._touch(room_id, fence))

    def _touch(self, room_id: RoomId, fence: Fence) -> None:
        try:
            self._ledger().touch(room_id, fence)
        except LetAgentsError:
            self._signs.forget(room_id, fence)

    def _beat(self) -> int | None:
        return self._opened.beat() if self._opened else None

    def _others(self) -> object:
        try:
            return self._opened.others() if self._opened else None
        except LetAgentsError:
            return None  # who waits is to look, and to be told why

    def _marks(self, room_ids: Collection[RoomId]) -> Mapping[RoomId, object]:
        return self._opened.marks(room_ids) if self._opened else {}

    def _hand_to_reader(self, work: Callable[[], object]) -> None:
        with contextlib.suppress(RuntimeError):  # nobody waits in rooms that have been closed
            self._readers.submit(work)

    async def _reader(self, work: Callable[[], T]) -> T:
        if self._writer.is_closed:
            raise closed()
        return await asyncio.get_running_loop().run_in_executor(self._readers, work)

    def _post_all(self, posts: Sequence[Post]) -> Sequence[Outcome]:
        outcomes = self._ledger().post_all(posts)
        said_in = {one.room_id.value: one.room_id for one in outcomes if isinstance(one, Message)}
        for room_id in said_in.values():
            self._wake(room_id, Stirred(everybody=True))
        return outcomes

    def _tidy(self) -> None:
        if self._opened is not None:
            self._opened.tidy()

    def _wake(self, room_id: RoomId, stirred: Stirred) -> None:
        """Let those look whom it concerns; in other processes, all who wait in the room."""
        if not stirred:
            return
        if stirred.everybody:
            self._bells.ring(room_id)
        elif stirred.receipts:
            self._told.ring(room_id)
        for session_id in stirred.sessions:
            self._own.ring(room_id, of=session_id)
        # What was said is said, whatever becomes of a nudge.
        with contextlib.suppress(Exception):
            self._nudges.nudge(room_id)

    def _ledger(self) -> "Ledger":
        """Return what does the work. Its libraries take a third of a second to load."""
        if self._opened is not None:
            return self._opened
        with self._lock:
            if self._opened is None:
                from letagents.adapters.rooms.ledger import Ledger

                self._opened = Ledger.at(
                    self._place, self._ids, self._clock, self._processes, self._admins, self._grace
                )
            return self._opened
