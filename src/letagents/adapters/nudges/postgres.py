"""Nudges between all processes whose rooms one PostgreSQL keeps: NOTIFY and LISTEN.

One thread has one connection for both. It tells in which rooms this process has written, right
after the commit and not within it: a commit that notifies waits for every other such commit of the
server, its disk included. If a process dies between the two, waiters look by themselves; one that
loses its connection rings for everybody when it has another, so that nothing is missed meanwhile.
"""

import asyncio
import contextlib
import hashlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import attrs

from letagents.adapters.nudges.waker import Waker
from letagents.domain.ids import RoomId

SELDOM = 30.0
"""So many seconds a waiter rests, before it looks by itself, where others are listened to."""
OFTEN = 2.0
"""The same where they are not yet."""
PAUSES = (0.05, 0.2, 1.0, 3.0)
"""So many seconds lie between tries to reach the server; the last is repeated."""
PATIENCE = 1.5
"""So many seconds the end waits until the last was told."""

_LISTEN = "LISTEN letagents"
_NOTIFY = "SELECT pg_notify('letagents', room) FROM unnest(%s::text[]) AS room"

_Ear = tuple[asyncio.AbstractEventLoop, Callable[[], None]]


@attrs.define(eq=False)
class PostgresNudges:
    """Nudges through the server at a URL, for one `LocalRooms`: what it tells itself is not heard.

    Nothing is connected before somebody waits or writes.
    """

    _place: str = attrs.field(repr=False)
    _ears: dict[str, set[_Ear]] = attrs.field(factory=dict)
    _untold: set[str] = attrs.field(factory=set)
    _lock: threading.Lock = attrs.field(factory=threading.Lock)
    _thread: threading.Thread | None = None
    _waker: Waker | None = None
    _is_listening: bool = False
    _is_closed: bool = False

    def nudge(self, room_id: RoomId) -> None:
        """Have it told that something was written in the room."""
        with self._lock:
            if self._is_closed:
                return
            self._untold.add(_digest(room_id))
        self._wake()

    @contextlib.contextmanager
    def listening(self, room_id: RoomId, ring: Callable[[], None]) -> Iterator[float]:
        """Call `ring` at each nudge of another process; say how long a waiter may rest."""
        digest, ear = _digest(room_id), (asyncio.get_running_loop(), ring)
        with self._lock:
            self._ears.setdefault(digest, set()).add(ear)
        self._wake()
        try:
            yield SELDOM if self._is_listening else OFTEN
        finally:
            with self._lock:
                self._ears[digest].discard(ear)
                if not self._ears[digest]:
                    del self._ears[digest]

    def fault(self) -> str | None:
        """Return why others cannot wake the waiters of this process, or None if they can."""
        from sqlalchemy.exc import SQLAlchemyError

        from letagents.adapters.sql.engine import open_engine
        from letagents.adapters.sql.server_errors import in_short

        try:
            engine = open_engine(self._place)
        except (SQLAlchemyError, ImportError) as error:
            return in_short(error)
        try:
            with _connected(engine) as connection:
                connection.execute(_LISTEN)
                connection.execute(_NOTIFY, [["doctor"]])
                heard = list(connection.notifies(timeout=PATIENCE, stop_after=1))
        except (engine.dialect.loaded_dbapi.Error, SQLAlchemyError, OSError) as error:
            return in_short(error)
        return None if heard else "the server does not pass on what is told with NOTIFY"

    def close(self) -> None:
        """Tell what was not told yet, if the server can be reached, and listen no more."""
        with self._lock:
            self._is_closed = True
            thread = self._thread
        if thread is not None:
            self._wake()
            thread.join(PATIENCE)

    def _wake(self) -> None:
        """Let the thread look at what there is to do; start it if there is none."""
        with self._lock:
            if self._thread is None and not self._is_closed:
                self._waker = Waker()
                self._thread = threading.Thread(
                    target=self._run, args=(self._waker,), name="rooms-nudges", daemon=True
                )
                self._thread.start()
            if self._waker is not None:
                self._waker.wake()

    def _run(self, waker: Waker) -> None:
        from sqlalchemy.exc import SQLAlchemyError

        from letagents.adapters.sql.engine import open_engine

        try:
            engine = open_engine(self._place)
        except (SQLAlchemyError, ImportError):
            return  # whoever uses the rooms is told the same
        failures = (engine.dialect.loaded_dbapi.Error, SQLAlchemyError, OSError)
        pauses = iter(PAUSES)
        while True:
            with contextlib.suppress(*failures), _connected(engine) as connection:
                self._serve(connection, waker)
            if self._is_closed:
                break
            pauses = iter(PAUSES) if self._is_listening else pauses
            self._is_listening = False
            waker.rest(next(pauses, PAUSES[-1]))
        engine.dispose()
        waker.close()

    def _serve(self, connection: Any, waker: Waker) -> None:
        """Tell and listen until the end, or until the connection is lost."""
        heard = _Heard(connection)
        connection.execute(_LISTEN)
        self._is_listening = True
        self._ring_all()
        with waker.beside(connection) as rest:
            while True:
                self._tell(connection)
                self._ring(heard.taken())
                if self._untold:
                    continue
                if self._is_closed:
                    return
                rest()

    def _tell(self, connection: Any) -> None:
        with self._lock:
            untold, self._untold = self._untold, set()
        if not untold:
            return
        try:
            connection.execute(_NOTIFY, [sorted(untold)])
        except BaseException:
            with self._lock:
                self._untold |= untold
            raise

    def _ring_all(self) -> None:
        with self._lock:
            digests = set(self._ears)
        self._ring(digests)

    def _ring(self, digests: set[str]) -> None:
        with self._lock:
            ears = [ear for digest in digests for ear in self._ears.get(digest, ())]
        for loop, ring in ears:
            with contextlib.suppress(RuntimeError):  # a loop that has closed is past caring
                loop.call_soon_threadsafe(ring)


def _digest(room_id: RoomId) -> str:
    return hashlib.sha256(room_id.value.encode()).hexdigest()[:16]


@contextlib.contextmanager
def _connected(engine: Any) -> Iterator[Any]:
    """Give a connection of its own, whose commits, which change nothing, wait for no disk."""
    pooled = engine.raw_connection()
    try:
        pooled.driver_connection.execute("SET synchronous_commit TO off")
        yield pooled.driver_connection
    finally:
        pooled.invalidate()


class _Heard:
    """Of which rooms other processes have told on a connection."""

    def __init__(self, connection: Any) -> None:
        self._driver, self._own = connection.pgconn, connection.info.backend_pid
        self._rooms: set[str] = set()
        connection.add_notify_handler(lambda one: self._hear(one.pid, one.payload))

    def _hear(self, pid: int, room: str) -> None:
        if pid != self._own:
            self._rooms.add(room)

    def taken(self) -> set[str]:
        """Return what has come by now, and forget it.

        What came with the answer to a statement has been passed on; this is for what came alone.
        """
        self._driver.consume_input()
        while (one := self._driver.notifies()) is not None:
            self._hear(one.be_pid, one.extra.decode())
        rooms, self._rooms = self._rooms, set()
        return rooms
