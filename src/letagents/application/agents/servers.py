"""The rooms in which supervised agents work: this machine's, and those of each server they name.

A server's rooms are opened when the first agent needs them, and closed with the supervisor.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack

import anyio
import attrs

from letagents.application.client import LetAgents
from letagents.application.receipts import Reached
from letagents.domain.hints import Hints
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.sessions import Session
from letagents.ports.rooms import RoomTransport
from letagents.ports.tools import Authority


@attrs.frozen
class Lodging:
    """Rooms, and on whose behalf agents come into them."""

    rooms: RoomTransport
    owner: str = "owner"
    owner_label: str = "Owner"
    reached: Reached | None = None
    """Who is told there how far the agents are with messages."""


SessionOf = Callable[[RoomTransport, RoomId, SessionId], Awaitable[Session | None]]
"""Returns a session as its room knows it, where that can be asked."""


async def unasked(_rooms: RoomTransport, _room_id: RoomId, _session_id: SessionId) -> None:
    """Say that a room cannot be asked for a session."""


LodgingOf = Callable[[str], Awaitable[Lodging]]
"""Returns the rooms at an address."""


@attrs.define(eq=False)
class Servers:
    """What was opened, by its addresses. `open_` opens the rooms at one."""

    open_: Callable[[str], AbstractAsyncContextManager[LetAgents]]
    session_of: SessionOf = unasked
    hints: Hints = attrs.field(factory=Hints)
    granted: Callable[[str], Awaitable[LetAgents | None]] | None = None
    """Returns the rooms of an agent that is let in by a grant; None for another one."""
    _opened: dict[str, LetAgents] = attrs.field(factory=dict)
    _stack: AsyncExitStack = attrs.field(factory=AsyncExitStack)
    _lock: anyio.Lock = attrs.field(factory=anyio.Lock)

    async def at(self, api_url: str) -> LetAgents:
        """Return the rooms at an address."""
        if api_url not in self._opened:
            await self._open(api_url)
        return self._opened[api_url]

    async def _open(self, api_url: str) -> None:
        async with self._lock:
            if api_url not in self._opened:
                opening = self.open_(api_url)
                self._opened[api_url] = await self._stack.enter_async_context(opening)

    async def lodging(self, api_url: str) -> Lodging:
        """Return the rooms at an address, and on whose behalf agents come into them."""
        letagents = await self.at(api_url)
        client = letagents.chat(self.hints)
        owner = await client.chat.owner()
        return Lodging(letagents.rooms, owner.slug, owner.label, client.reached)

    async def of(self, at: Authority) -> LetAgents:
        """Return the rooms of an agent, as it is let into them."""
        granted = None
        if at.is_granted and self.granted is not None:
            granted = await self.granted(at.entry_id)
        return granted or await self.at(at.api_url)

    async def session(self, at: Authority) -> Session | None:
        """Return the session of an agent, which it may have opened itself in rooms of ours."""
        if at.session is not None:
            return at.session
        rooms = (await self.of(at)).rooms
        return await self.session_of(rooms, RoomId(at.room_id), SessionId(at.session_id))

    async def aclose(self) -> None:
        """Close what was opened."""
        await self._stack.aclose()
