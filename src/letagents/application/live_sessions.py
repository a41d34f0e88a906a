"""Starting, seeing and stopping a Codex that works in a room by itself. (Source: supervisor 8.)"""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial

import anyio
import attrs
import structlog

from letagents.application.background import Background
from letagents.application.live_bridge import Bridge
from letagents.application.places import Entered
from letagents.domain import live_sessions
from letagents.domain.errors import LetAgentsError
from letagents.domain.ids import RoomId
from letagents.domain.live_sessions import LiveSession, LiveSessionFailed, Status
from letagents.domain.local_state import LocalState
from letagents.ports.clock import Clock
from letagents.ports.ids import Ids
from letagents.ports.live_codex import LiveCodex, Seen, Server
from letagents.ports.state import StateStore
from letagents.ports.surroundings import Surroundings

log = structlog.get_logger()

OBSERVED = timedelta(seconds=8)
LOOKING = 0.5
WATCHED_EVERY = 30.0
"""Seconds. (Source: supervisor 8.4, 8.7.)"""
LEAVING = 1.5
"""Seconds in which the servers that were launched here are ended when the client leaves."""


@attrs.frozen(kw_only=True)
class Asked:
    """How a live session is to be."""

    cwd: str | None = None
    stop_phrase: str | None = None
    max_minutes: float = 0


@attrs.frozen
class Inspected:
    """A session, and what its server tells of it; None where it cannot be reached."""

    session: LiveSession
    seen: Seen | None = None

    @property
    def is_reachable(self) -> bool:
        return self.seen is not None

    @property
    def items(self) -> list[dict[str, object]]:
        """The last that was said in its turn, as everybody may see it."""
        return [_unmarked(self.session, item) for item in self.seen.items] if self.seen else []


@attrs.define(eq=False)
class LiveSessions:
    """The live sessions of this machine, as one client starts and sees them."""

    state: StateStore
    surroundings: Surroundings
    clock: Clock
    ids: Ids
    codex: LiveCodex
    bridge: Bridge
    background: Background
    observed: timedelta = OBSERVED
    watched_every: float = WATCHED_EVERY
    _starting: anyio.Lock = attrs.field(factory=anyio.Lock)
    _launched: dict[str, Server] = attrs.field(factory=dict)
    _watches: dict[str, Callable[[], None]] = attrs.field(factory=dict)

    async def start(self, entered: Entered, asked: Asked) -> tuple[LiveSession, bool]:
        """Return the live session of the room, and whether it was there already.

        Raises:
            ProviderMissing, ProviderUnusable, CodexUnreachable: Codex cannot be started.
            LiveSessionFailed: it ended at once.
        """
        cwd = self.codex.folder(asked.cwd)
        branch = await self.surroundings.branch(cwd)
        await self.end_overdue()
        async with self._starting:  # who asks twice at once is to get one
            return await self._started(entered, asked, cwd, branch)

    async def _started(
        self, entered: Entered, asked: Asked, cwd: str, branch: str | None
    ) -> tuple[LiveSession, bool]:
        there = await self.inspect(None, entered.room.room_id)
        if there is not None and _is_it(there.session, entered, cwd, branch):
            self._watch(there.session)
            return there.session, True
        before = there.session.session_id if there is not None else None
        session = self._new(entered, asked, cwd, branch)
        url, server = await self._server(cwd)
        try:
            session = await self._begun(session, url, server)
            first = await self._first(session, before)
            if first.session_id != session.session_id:
                await self._give_way(session, server)
                return first, True  # whoever began it looks after it
            self._remember_launch(session, server)
            await self._observe(session)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self._end_server(session, server)
            raise
        self._watch(session)
        log.info("live_session.started", session_id=session.session_id, room_id=session.room_id)
        return session, False

    def _new(self, entered: Entered, asked: Asked, cwd: str, branch: str | None) -> LiveSession:
        now, room = self.clock.now(), entered.room
        return LiveSession(
            session_id=f"codex_live_{self.ids.uuid()}",
            room_id=str(room.room_id),
            room_identifier=str(room.code or room.room_id),
            room_code=room.code,
            room_display_name=room.display_name,
            joined_via="join_code" if room.code else "join_room",
            cwd=cwd,
            repo_branch=branch,
            stop_phrase=asked.stop_phrase or live_sessions.STOP_PHRASE,
            max_minutes=asked.max_minutes,
            deadline_utc=live_sessions.deadline(now, asked.max_minutes),
            token=f"LOCAL_CODEX_ROOM_{self.ids.uuid()}",
            started_at=live_sessions.text_of(now),
            updated_at=live_sessions.text_of(now),
        )

    async def _server(self, cwd: str) -> tuple[str, Server | None]:
        """Return where a server is, and the one that was launched for it, if one was."""
        url = self.codex.set_url
        if url is not None and await self.codex.is_ready(url):
            return url, None
        server = await self.codex.launch(url, cwd)
        return server.url, server

    async def _begun(self, new: LiveSession, url: str, server: Server | None) -> LiveSession:
        begun = await self.codex.begin(url, new.cwd, live_sessions.prompt(new))
        return attrs.evolve(
            new,
            thread_id=begun.thread_id,
            turn_id=begun.turn_id,
            server_url=url,
            server_pid=server.pid if server else None,
            server_birth=server.birth if server else None,
            launched_server=server is not None,
            status=Status.RUNNING,
        )

    async def _first(self, session: LiveSession, before: str | None) -> LiveSession:
        """Save a session, and return which one is the first there: that, or another chat's."""
        return await self.state.transact(lambda state: live_sessions.begun(state, session, before))

    async def _give_way(self, session: LiveSession, server: Server | None) -> None:
        with suppress(LetAgentsError):
            await self.codex.interrupt(*session.place)
        await self._end_server(session, server)

    async def _observe(self, session: LiveSession) -> None:
        """See that it gets to work.

        Raises:
            LiveSessionFailed: it does not.
        """
        why = None
        with anyio.move_on_after(self.observed.total_seconds()):
            while (why := await self._why_not(session)) is None:  # noqa: ASYNC110  nobody is told
                await anyio.sleep(LOOKING)
        if why is not None:
            await self._note(session, status=Status.FAILED, last_error=why)
            raise LiveSessionFailed(why)

    async def _why_not(self, session: LiveSession) -> str | None:
        if not await self.codex.is_ready(session.server_url):
            return "app-server became unreachable during startup"
        try:
            seen = await self._look(session)
        except LetAgentsError:
            return "worker status became unknown during startup"
        status = _derived(session, seen)
        if status is Status.COMPLETED:
            return "turn completed before entering the room polling loop"
        return f"turn entered {status.value}" if status.is_over else None

    async def inspect(
        self, session_id: str | None = None, room_id: RoomId | None = None
    ) -> Inspected | None:
        """Return how a session stands: the named one, else the room's current one."""
        session = await self._found(session_id, room_id)
        if session is None:
            return None
        if live_sessions.time_left(session, self.clock.now()) == timedelta(0):
            return Inspected(await self._broken_off(session))
        if not session.server_url or not await self.codex.is_ready(session.server_url):
            status = live_sessions.derived(
                session.status, thread=None, turn=None, is_reachable=False
            )
            noted = await self._note(session, status=status)
            await self._end_server(session, None)
            return Inspected(noted)
        try:
            seen = await self._look(session)
        except LetAgentsError as error:
            noted = await self._note(session, status=Status.UNKNOWN, last_error=error.happened)
            await self._end_server(session, None)
            return Inspected(noted, Seen())
        noted = await self._note(session, status=_derived(session, seen), last_error=None)
        if noted.status.is_over:
            await self._end_server(noted, None)
        return Inspected(noted, seen)

    async def stop(
        self,
        session_id: str | None = None,
        room_id: RoomId | None = None,
        *,
        shutdown: bool = False,
    ) -> LiveSession | None:
        """Break a session off, and end the server that was launched for it."""
        session = await self._found(session_id, room_id)
        return None if session is None else await self._stopped(session, shutdown=shutdown)

    async def _stopped(
        self, session: LiveSession, *, why: str | None = None, shutdown: bool = False
    ) -> LiveSession:
        error: str | None = why or "server unreachable at stop time"
        if session.server_url and await self.codex.is_ready(session.server_url):
            error = why
            with suppress(LetAgentsError):  # it may be over already
                await self.codex.interrupt(*session.place)
        noted = await self._note(session, status=Status.INTERRUPTED, last_error=error)
        await self._end_server(session, None, anyway=shutdown)
        log.info("live_session.stopped", session_id=session.session_id, room_id=session.room_id)
        return noted

    async def _broken_off(self, session: LiveSession) -> LiveSession:
        """End a session that has lasted as long as it may."""
        why = f"it has lasted the {session.max_minutes:g} minutes that it was given"
        return await self._stopped(session, why=why)

    async def end_overdue(self) -> None:
        """End the sessions of this machine that have lasted as long as they may.

        Who looks after one does so in time; the chat that did may have been killed.
        """
        for session in live_sessions.overdue(await self.state.read(), self.clock.now()):
            await self._broken_off(session)

    async def current(self, room_id: RoomId | None) -> tuple[LiveSession | None, int]:
        """Return the room's current session, as it was seen last, and how many there are."""
        state = await self.state.read()
        return live_sessions.current(state, room_id), len(live_sessions.known(state))

    async def leave(self) -> None:
        """End the servers that were launched here: nobody would see to them."""
        launched, self._launched = self._launched, {}
        with anyio.move_on_after(LEAVING, shield=True):
            async with anyio.create_task_group() as tasks:
                for server in launched.values():
                    tasks.start_soon(self.codex.terminate, server.pid, server.birth)
                for session_id in launched:
                    tasks.start_soon(self._note_left, session_id)

    async def _note_left(self, session_id: str) -> None:
        with suppress(LetAgentsError):  # who looks for it later finds that it is gone
            session = await self._found(session_id, None)
            if session is not None and session.status.is_alive:
                why = "the chat that started it has ended"
                await self._note(session, status=Status.INTERRUPTED, last_error=why)

    async def _found(self, session_id: str | None, room_id: RoomId | None) -> LiveSession | None:
        state = await self.state.read()
        if session_id is not None:
            return live_sessions.of_id(state, session_id)
        return live_sessions.current(state, room_id)

    async def _look(self, session: LiveSession) -> Seen:
        return await self.codex.look(*session.place)

    async def _note(self, session: LiveSession, **changes: object) -> LiveSession:
        if all(getattr(session, name) == value for name, value in changes.items()):
            return session
        now = self.clock.now()

        def noted(state: LocalState) -> tuple[LocalState, LiveSession | None]:
            return live_sessions.noted(state, session.session_id, now=now, **changes)

        return await self.state.transact(noted) or session

    def _remember_launch(self, session: LiveSession, server: Server | None) -> None:
        if server is not None:
            self._launched[session.session_id] = server

    async def _end_server(
        self, session: LiveSession, server: Server | None, *, anyway: bool = False
    ) -> None:
        """End the server of a session, where it was launched for it, and watch it no more.

        Who watches it and asks for this goes no further: it has noted before what is to be noted.
        """
        if (stop := self._watches.pop(session.session_id, None)) is not None:
            stop()
        self._launched.pop(session.session_id, None)
        pid, birth = session.server_pid, session.server_birth
        if server is not None:
            pid, birth = server.pid, server.birth
        with anyio.CancelScope(shield=True):
            if pid and birth and (server or session.launched_server or anyway):
                await self.codex.terminate(pid, birth)

    def _watch(self, session: LiveSession) -> None:
        """Let the room see what it does, and look after it from time to time."""
        session_id = session.session_id
        if (before := self._watches.pop(session_id, None)) is not None:
            before()  # it may have ended by itself
        bridge = self.background.begin("live-bridge", partial(self._shown, session_id))
        monitor = self.background.begin("live-monitor", partial(self._look_after, session_id))

        def stop() -> None:
            bridge()
            monitor()

        self._watches[session_id] = stop

    async def _shown(self, session_id: str) -> None:
        await self.bridge.run(session_id)
        await self.inspect(session_id)  # it is over: nothing of it is to be left running

    async def _look_after(self, session_id: str) -> None:
        """Look at a session from time to time, until it is over, however often that fails."""
        is_alive = True
        while is_alive:
            try:
                await anyio.sleep(await self._until_a_look(session_id))
                inspected = await self.inspect(session_id)
                is_alive = inspected is not None and inspected.session.status.is_alive
            except LetAgentsError as error:
                log.info("live_session.unwatched", session_id=session_id, code=error.code)
                await anyio.sleep(self.watched_every)

    async def _until_a_look(self, session_id: str) -> float:
        session = await self._found(session_id, None)
        left = live_sessions.time_left(session, self.clock.now()) if session else None
        return self.watched_every if left is None else min(self.watched_every, left.total_seconds())


def _unmarked(session: LiveSession, item: dict[str, object]) -> dict[str, object]:
    text = item.get("text")
    return {**item, "text": session.unmarked(text)} if isinstance(text, str) else item


def _is_it(session: LiveSession, entered: Entered, cwd: str, branch: str | None) -> bool:
    is_at = session.is_at(str(entered.room.room_id), cwd, branch)
    return is_at and session.status.is_alive


def _derived(session: LiveSession, seen: Seen) -> Status:
    return live_sessions.derived(session.status, thread=seen.thread_status, turn=seen.turn_status)
