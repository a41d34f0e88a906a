"""Keeping the rooms of a server told that this process is there, for each worker that it holds.

(Source: mcp-tools 13.) A connection is opened when a worker is, and again whenever it breaks. It
says nothing of the session, except where it is told that that has ended. Leaving, the process says
so to all rooms at once, and waits for none of them longer than LEAVING.
"""

import enum
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

import anyio
import attrs
import structlog
from anyio.abc import TaskGroup

from letagents.application.connections import Connections
from letagents.domain import connections, fencing
from letagents.domain.errors import LetAgentsError, NoAttendance, RoomsUnavailable, SessionEnded
from letagents.domain.ids import SessionId
from letagents.domain.local_state import LocalState
from letagents.domain.sessions import Connection, SessionKind
from letagents.ports.attendance import Attendance, Over
from letagents.ports.clock import Clock
from letagents.ports.state import StateStore

log = structlog.get_logger()

LEAVING = 1.5
"""Seconds in which all rooms are told that this process exits."""

Sleep = Callable[[float], Awaitable[object]]


class Outcome(enum.Enum):
    """How an attempt to attend ended."""

    ENDED = "ended"
    DROPPED = "dropped"
    REFUSED = "refused"
    UNSUPPORTED = "unsupported"


WAITS: Mapping[Outcome, Sequence[float]] = {
    Outcome.DROPPED: (1.0, 2.0, 5.0),
    Outcome.REFUSED: (5.0, 15.0, 60.0),
    Outcome.UNSUPPORTED: (10.0, 60.0, 300.0),
}
"""After how many seconds it is tried again each time that this comes; the last one stays."""


@attrs.define
class _Waits:
    """How often in a row each outcome came, since a connection was opened last."""

    _counts: dict[Outcome, int] = attrs.field(factory=dict)

    def next(self, outcome: Outcome) -> float:
        count = self._counts.get(outcome, 0)
        self._counts[outcome] = count + 1
        waits = WAITS[outcome]
        return waits[min(count, len(waits) - 1)]

    def reset(self) -> None:
        self._counts.clear()


@attrs.define(eq=False)
class _Kept:
    """One worker's connection, on its way, open, or between two."""

    connection: Connection
    scope: anyio.CancelScope = attrs.field(factory=anyio.CancelScope)
    connection_id: str | None = None


@attrs.define(eq=False)
class Attendances:
    """The process connections of one client; without a place for them there are none."""

    _attendance: Attendance | None
    _state: StateStore
    _connections: Connections
    _clock: Clock
    _sleep: Sleep = anyio.sleep
    _kept: dict[SessionId, _Kept] = attrs.field(factory=dict)
    _tasks: TaskGroup | None = None

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Keep the connections of whatever this client holds."""
        if self._attendance is None:
            yield
            return
        # What the client raises is its own: it must not come out as one of a group.
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        self._connections.watch(self)
        try:
            yield
        finally:
            self._tasks.cancel_scope.cancel()
            await self._tasks.__aexit__(None, None, None)

    def held(self, connection: Connection) -> None:
        """Attend for a worker from now on, instead of what was held for the same session."""
        session_id = connection.session.session_id
        before = self._kept.get(session_id)
        if before is not None and fencing.same(
            before.connection.fence.token, connection.fence.token
        ):
            return
        self.lost(session_id)
        if self._tasks is not None and connection.session.kind is SessionKind.WORKER:
            self._kept[session_id] = kept = _Kept(connection)
            self._tasks.start_soon(self._keep, kept)

    def lost(self, session_id: SessionId) -> None:
        """Attend for a session no more."""
        kept = self._kept.pop(session_id, None)
        if kept is not None:
            kept.scope.cancel()

    async def _keep(self, kept: _Kept) -> None:
        try:
            with kept.scope:
                await self._attend_again_and_again(kept)
        except Exception:  # the work of this client does not hang on its proof
            log.exception("process.failed", session_id=str(kept.connection.session.session_id))
        if self._kept.get(kept.connection.session.session_id) is kept:
            del self._kept[kept.connection.session.session_id]

    async def _attend_again_and_again(self, kept: _Kept) -> None:
        waits = _Waits()
        while (outcome := await self._attended(kept, waits)) is not Outcome.ENDED:
            # A refusal may be news of another process, which holds the session now.
            if outcome is not Outcome.DROPPED and not await self._is_ours(kept.connection):
                return
            await self._sleep(waits.next(outcome))

    async def _attended(self, kept: _Kept, waits: _Waits) -> Outcome:
        session, fence = kept.connection.session, kept.connection.fence
        assert self._attendance is not None  # noqa: S101  # nothing is kept without
        try:
            async with self._attendance.attend(session.room_id, fence) as attended:
                waits.reset()
                kept.connection_id = attended.connection_id
                log.info("process.attended", session_id=str(session.session_id))
                if await attended.over() is Over.CLOSED:
                    return Outcome.DROPPED
        except SessionEnded:
            pass
        except LetAgentsError as error:
            return _outcome(error)
        await self._ended(kept.connection)
        return Outcome.ENDED

    async def _ended(self, connection: Connection) -> None:
        """Note that the room has ended a session: who registers again then asks the room."""
        session = connection.session
        over = SessionEnded(session.instance_id, session.room_id, "the room ended its session")
        self._kept.pop(session.session_id, None)
        self._connections.lost(connection, over)
        token, now = connection.fence.token, self._clock.now()

        def noted(state: LocalState) -> tuple[LocalState, object]:
            return connections.end_session(state, session.session_id, now=now, token=token)

        with suppress(LetAgentsError):  # the room says it again
            await self._state.transact(noted)
        log.info("session.ended", session_id=str(session.session_id))

    async def _is_ours(self, connection: Connection) -> bool:
        """Whether the session that is stored is the one that this client holds."""
        try:
            stored = (await self._state.read()).sessions.get(str(connection.session.session_id))
        except LetAgentsError:
            return False
        if stored is None or stored.ended_at is not None:
            return False
        return fencing.same(stored.session_token, connection.fence.token)

    async def leave(self) -> None:
        """Attend nowhere any more, and say to all rooms that this process exits."""
        self._connections.watch(None)
        attendance = self._attendance
        if attendance is None:
            return
        leaving, self._kept = list(self._kept.values()), {}
        with anyio.move_on_after(LEAVING, shield=True):
            async with anyio.create_task_group() as tasks:
                for kept in leaving:
                    kept.scope.cancel()
                    tasks.start_soon(_say_goodbye, attendance, kept)


async def _say_goodbye(attendance: Attendance, kept: _Kept) -> None:
    session, fence = kept.connection.session, kept.connection.fence
    with suppress(LetAgentsError):  # its silence says so too, only later
        await attendance.exited(session.room_id, fence, kept.connection_id)


def _outcome(error: LetAgentsError) -> Outcome:
    if isinstance(error, NoAttendance):
        return Outcome.UNSUPPORTED
    return Outcome.DROPPED if isinstance(error, RoomsUnavailable) else Outcome.REFUSED
