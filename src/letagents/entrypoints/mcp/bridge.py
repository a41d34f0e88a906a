"""A chat that a supervisor runs and that waits in its room by itself: its supervisor knows of it.

(Source: supervisor 4.3, 4.5, 4.10.) A worker that registers is bound to it, each wait sees that
this still holds, and the cursor that a wait is passed is noted there. Of a chat that nobody
supervises nothing is asked.
"""

import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path

import anyio
import attrs

from letagents.domain.ids import MessageId
from letagents.domain.sessions import Connection, SessionKind
from letagents.domain.supervised import OwnSession
from letagents.ports.supervisor import Supervisor

CONTEXT = ".letagents-supervisor-context.json"
"""What lies in the folder of a chat whose supervisor says there which it is."""


@attrs.define(eq=False)
class Bridge:
    """The way of one process to its supervisor, if it has one. `is_told` says that it was told."""

    _opening: Callable[[], AbstractAsyncContextManager[Supervisor]]
    _is_told: bool
    _here: Path
    _opened: AsyncExitStack = attrs.field(factory=AsyncExitStack)
    _supervisor: Supervisor | None = None
    _bound: dict[str, OwnSession] = attrs.field(factory=dict)
    _lock: anyio.Lock = attrs.field(factory=anyio.Lock)

    async def registered(
        self, connection: Connection, folder: str | None, remembered: str | None
    ) -> str | None:
        """Bind a session that was just opened; return the folder to remember with it, if any.

        Raises: as Supervisor.bind.
        """
        found = self._found(folder, remembered)
        if found is None:
            return None
        session = _own(connection, found or None)
        bound = await (await self._its()).bind(session)
        if bound.is_supervised:
            self._bound[session.session_id] = session
        return bound.context_folder

    async def waiting(self, connection: Connection | None) -> None:
        """See that a session is bound which is about to wait. Raises: as Supervisor.bind."""
        known = self._known(connection)
        if known is not None:
            await (await self._its()).bind(known, is_known=True)

    async def waited(self, connection: Connection | None, after: MessageId | None) -> None:
        """Have it noted soon up to where a session has seen its room, as it said when it waited."""
        known = self._known(connection)
        if known is not None and after is not None:
            await (await self._its()).checkpoint(known, str(after))

    def _known(self, connection: Connection | None) -> OwnSession | None:
        return self._bound.get(str(connection.session.session_id)) if connection else None

    async def aclose(self) -> None:
        """Close what was opened."""
        await self._opened.aclose()

    def _found(self, folder: str | None, remembered: str | None) -> str | None:
        """Return the folder where coordinates lie; "" where they are told; None without any."""
        if self._is_told:
            return ""
        first = folder or remembered or str(self._here)
        return first if os.path.lexists(Path(first, CONTEXT)) else remembered

    async def _its(self) -> Supervisor:
        async with self._lock:
            if self._supervisor is None:
                self._supervisor = await self._opened.enter_async_context(self._opening())
            return self._supervisor


def _own(connection: Connection, folder: str | None) -> OwnSession:
    session = connection.session
    return OwnSession(
        str(session.session_id),
        str(session.room_id),
        connection.fence.token,
        session.runtime,
        is_worker=session.kind is SessionKind.WORKER,
        context_folder=folder,
    )
