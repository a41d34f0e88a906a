"""Letting a room see what a live session does: its progress becomes its worker's reasoning.

(Source: supervisor 8.8.) Nothing of this disturbs the session: what cannot be shown is left out.
"""

from collections.abc import Callable
from contextlib import suppress

import anyio
import attrs
import structlog

from letagents.application.memory import Stores
from letagents.domain import activity as activity_of
from letagents.domain import live_sessions, messages, reasoning, redaction
from letagents.domain.errors import LetAgentsError
from letagents.domain.fencing import UNNUMBERED, Fence
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.live_sessions import LiveSession, Status
from letagents.domain.local_state import LocalState, StoredSession
from letagents.domain.progress import Activity
from letagents.domain.throttles import Throttle
from letagents.domain.ticks import Tick
from letagents.ports.activity import Reports
from letagents.ports.clock import Clock
from letagents.ports.live_codex import LiveCodex
from letagents.ports.state import StateStore

log = structlog.get_logger()

SNAPSHOT = 2.0
"""Seconds between two looks at a thread. (Source: supervisor 8.8.)"""
HEARTBEAT = 15.0
"""Seconds without a report after which one says that the session is there."""
GOAL = "Progress of a local Codex session, as it streams."


@attrs.define(eq=False)
class Bridge:
    """Shows in rooms what live sessions do."""

    state: StateStore
    clock: Clock
    codex: LiveCodex
    stores: Callable[[], Stores | None]
    reports: Callable[[], Reports | None]
    snapshot: float = SNAPSHOT
    _reported: dict[str, Tick] = attrs.field(factory=dict)

    async def run(self, session_id: str) -> None:
        """Show what a session does, until it is over, however often that fails meanwhile."""
        throttle = Throttle()
        while True:
            try:
                session = await self._alive(session_id)
                if session is None:
                    return
                with self.codex.showing(session_id) as is_ours:
                    if is_ours and await self._is_over(session, throttle):
                        return
            except LetAgentsError as error:
                log.info("live_session.unheard", session_id=session_id, code=error.code)
            await anyio.sleep(self.snapshot)  # what another chat shows is not shown twice

    async def _alive(self, session_id: str) -> LiveSession | None:
        session = live_sessions.of_id(await self.state.read(), session_id)
        return session if session is not None and session.status.is_alive else None

    async def _is_over(self, session: LiveSession, throttle: Throttle) -> bool:
        """Show what is told over one line, until that ends; return whether the turn is over."""
        newest, told = anyio.create_memory_object_stream[Activity](1)

        def tell(activity: Activity) -> None:
            with suppress(anyio.WouldBlock):  # one waits to be shown; a later one will be
                newest.send_nowait(activity)

        async with newest, told, self.codex.follow(session.server_url, tell) as is_open:
            while is_open() and await self._alive(session.session_id) is not None:
                await self._beat(session)
                activity, status = None, session.status
                with anyio.move_on_after(self.snapshot):
                    activity = await told.receive()
                if activity is None:
                    activity, status = await self._look(session)
                if activity is not None:
                    await self._show(session.session_id, activity, throttle)
                if status.is_over:
                    return True
        return False

    async def _look(self, session: LiveSession) -> tuple[Activity | None, Status]:
        """Return what can be shown of its thread, and where it stands."""
        seen = await self.codex.look(*session.place)
        status = live_sessions.derived(
            session.status, thread=seen.thread_status, turn=seen.turn_status
        )
        if seen.activity is None or not status.is_over:
            return seen.activity, status
        end = "blocked" if status is Status.FAILED else "idle"
        return attrs.evolve(seen.activity, status=end), status

    async def _show(self, session_id: str, activity: Activity, throttle: Throttle) -> None:
        state = await self.state.read()
        session = live_sessions.of_id(state, session_id)
        stores = self.stores()
        worker = live_sessions.worker(state, session) if session is not None else None
        if session is None or worker is None or stores is None:
            return
        if not throttle.admits((activity.summary, activity.status), self.clock.tick()):
            return
        if session.agent_session_id != worker.session_id:
            await self._bind(session_id, worker)
        try:
            said = _trace(activity, session)
            await stores.reasonings.post(RoomId(session.room_id), said, _fence(worker))
            await self._report(session, worker, activity.method, activity.status)
        except LetAgentsError as error:
            log.info("live_session.unseen", session_id=session_id, code=error.code)

    async def _beat(self, session: LiveSession) -> None:
        """Report that it is there, where nothing was reported for a while."""
        last, now = self._reported.get(session.session_id), self.clock.tick()
        if last is not None and last.boot == now.boot and now.seconds - last.seconds < HEARTBEAT:
            return
        worker = live_sessions.worker(await self.state.read(), session)
        if worker is None:
            return
        try:
            await self._report(session, worker, "native_harness.heartbeat", "working")
        except LetAgentsError as error:
            log.info("live_session.unseen", session_id=session.session_id, code=error.code)

    async def _report(
        self, session: LiveSession, worker: StoredSession, method: str, status: str
    ) -> None:
        """Report what it does. The numbers of reports grow with time, whoever makes them."""
        self._reported[session.session_id] = self.clock.tick()
        reports, now = self.reports(), self.clock.now()
        if reports is not None:
            number = int(now.timestamp() * 1000)
            found = activity_of.report(now, number, method, status)
            await reports.report(RoomId(session.room_id), found, _fence(worker))

    async def _bind(self, session_id: str, worker: StoredSession) -> None:
        now = self.clock.now()

        def bound(state: LocalState) -> tuple[LocalState, object]:
            return live_sessions.noted(
                state, session_id, now=now, agent_session_id=worker.session_id
            )

        await self.state.transact(bound)


def _trace(activity: Activity, session: LiveSession) -> reasoning.Trace:
    return reasoning.trace(
        {
            "summary": _shown(activity.summary, session),
            "goal": GOAL,
            "checking": _shown(activity.checking, session) if activity.checking else None,
            "next_action": activity.next_action,
            "status": activity.status,
        }
    )


def _shown(text: str, session: LiveSession) -> str:
    """Return the beginning of a text of Codex as everybody in the room may see it."""
    return redaction.shown(session.unmarked(messages.keepable(text[: redaction.LONGEST])))


def _fence(worker: StoredSession) -> Fence:
    return Fence(SessionId(worker.session_id), UNNUMBERED, worker.session_token)
