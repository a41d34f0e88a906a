"""The rooms of a process that acts with a credential which is not its own.

(Source: supervisor 4.6, 4.12, 5.2, 5.4.) A supervised process borrows one from its supervisor for
each request, in the room that the supervisor names for the call; a worker's process has been given
one. Neither shows anything of a session beside it, and neither falls back to a sign-in.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from datetime import UTC, datetime

import anyio
import attrs

from letagents.application.client import Client, LetAgents
from letagents.application.places import BEARER, SUPERVISED, Entered
from letagents.domain.fencing import UNNUMBERED, Fence
from letagents.domain.hints import Hints
from letagents.domain.ids import RoomId, SessionId, Token
from letagents.domain.rooms import Room
from letagents.domain.sessions import Connection, Session, SessionKind
from letagents.domain.supervised import (
    DEFERRED,
    PATIENCE,
    CredentialStale,
    OwnSession,
    not_lent,
)
from letagents.ports.supervisor import Supervisor

PAUSE = 0.25
"""Seconds between two askings for what is not there yet."""
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
UNSHOWN = Token("-" * 43)
"""In the place of a session's secret, which such a process never has and never shows."""
BEARER_SESSION = BEARER
"""What the session is called of which a bearer is, where its own id is not told."""
_UNNAMED = {BEARER_SESSION: "Worker"}
_LABELS = {"open-model": "Open Model", "claude-code": "Claude Code", "codex": "Codex"}


@attrs.frozen
class Worker:
    """Who a process acts as, as far as it is told."""

    session_id: str
    display_name: str | None = None
    runtime: str = "codex"

    def own(self, room_id: str) -> OwnSession:
        """Return its session in a room, as its supervisor is asked about it."""
        return OwnSession(self.session_id, room_id, UNSHOWN, self.runtime)

    def seen(self, room_id: RoomId) -> Session:
        """Return its session in a room, as far as it is known here."""
        name = self.display_name or _UNNAMED.get(self.session_id, "Daemon-supervised worker")
        return Session(
            session_id=SessionId(self.session_id),
            room_id=room_id,
            kind=SessionKind.WORKER,
            agent_key=self.session_id,
            instance_id="",
            display_name=name,
            base_name=name,
            owner_label="",
            ide_label=_LABELS.get(self.runtime, "Supervised agent"),
            runtime=self.runtime,
            actor_label=name,
            created_at=_LONG_AGO,
            updated_at=_LONG_AGO,
            last_seen_at=_LONG_AGO,
        )


@attrs.frozen
class Borrowing:
    """What a process shows to a server: a credential that is lent for that one request."""

    _supervisor: Supervisor
    _session: OwnSession
    _patience: float = PATIENCE.total_seconds()
    """Seconds in which a supervisor that has just begun may come to have one."""

    async def token(self) -> str:
        """Return the credential for the next request, before which nothing was sent.

        Raises:
            CredentialUnavailable, CredentialStale: there is none now.
            CoordinatesWrong: where the supervisor is to be found is told badly.
        """
        until = anyio.current_time() + self._patience
        while (borrowed := await self._supervisor.borrow(self._session)) == DEFERRED:
            if anyio.current_time() >= until:
                break
            await anyio.sleep(PAUSE)
        if borrowed.credential is None:
            raise not_lent(borrowed)
        return borrowed.credential.value

    async def refused(self, token: str) -> None:
        """Do nothing: nothing is kept."""

    async def session_ended(self, session_id: SessionId, token: Token) -> None:
        """Do nothing: the session is the supervisor's."""


@attrs.define(eq=False)
class BorrowedRooms:
    """The rooms of one worker. `open_` opens one of them."""

    _worker: Worker | None
    _open: Callable[[OwnSession], AbstractAsyncContextManager[LetAgents]]
    _opened: dict[str, LetAgents] = attrs.field(factory=dict)
    _stack: AsyncExitStack = attrs.field(factory=AsyncExitStack)

    async def client(self, room_id: str | None) -> Client:
        """Return what the worker holds in a room for one call; nothing is asked or entered.

        Without a room it holds nothing.

        Raises:
            CredentialStale: the process is not told as whom it acts.
        """
        if self._worker is None:
            raise CredentialStale
        named = room_id or ""
        if named not in self._opened:
            opening = self._open(self._worker.own(named))
            self._opened[named] = await self._stack.enter_async_context(opening)
        client = self._opened[named].chat(Hints())
        if room_id is None:
            return client
        room = RoomId(room_id)
        session = self._worker.seen(room)
        fence = Fence(session.session_id, UNNUMBERED, UNSHOWN)
        client.connections.hold_own(Connection(session, fence))
        there = Room(room, room_id, _LONG_AGO, is_local=False)
        bears = self._worker.session_id == BEARER_SESSION
        client.places.current = Entered(there, BEARER if bears else SUPERVISED)
        return client

    async def aclose(self) -> None:
        """Close what was opened."""
        await self._stack.aclose()
