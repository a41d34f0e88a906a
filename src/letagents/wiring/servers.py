"""The rooms in which a supervisor's agents work: those of this machine, and those of servers."""

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import attrs

from letagents.adapters.state.memory import MemoryState
from letagents.adapters.system import SystemClock
from letagents.application.agents.servers import Servers
from letagents.domain.storage import ChatStorage
from letagents.domain.surfaces import LOCAL_ROOMS
from letagents.wiring import local
from letagents.wiring.client import open_letagents

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager

    from letagents.application.client import LetAgents
    from letagents.domain.ids import RoomId, SessionId
    from letagents.domain.sessions import Session
    from letagents.ports.rooms import RoomTransport
    from letagents.settings import Settings


@asynccontextmanager
async def open_supervised_rooms(settings: "Settings") -> "AsyncIterator[Servers]":
    """Open the rooms in which a supervisor's agents work, as each is needed.

    What this machine remembers of its chats has no part in it, but for who is signed in.
    """

    def open_(api_url: str) -> "AbstractAsyncContextManager[LetAgents]":
        return _rooms_here(settings) if api_url == LOCAL_ROOMS else _rooms_there(settings, api_url)

    servers = Servers(open_, _session_here, settings.hints)
    try:
        yield servers
    finally:
        await servers.aclose()


async def _session_here(
    rooms: "RoomTransport", room_id: "RoomId", session_id: "SessionId"
) -> "Session | None":
    """Return a session of the rooms of this machine."""
    from letagents.adapters.rooms.local import LocalRooms

    if not isinstance(rooms, LocalRooms):
        return None
    return await rooms.look(room_id, lambda book: book.session(session_id))


@asynccontextmanager
async def _rooms_here(settings: "Settings") -> "AsyncIterator[LetAgents]":
    here = attrs.evolve(
        settings, api_url=None, chat_storage="local", storage=ChatStorage(), token=None
    )
    async with open_letagents(here, state=MemoryState()) as letagents:
        yield letagents


@asynccontextmanager
async def _rooms_there(settings: "Settings", api_url: str) -> "AsyncIterator[LetAgents]":
    """Open the rooms of a server, for who is signed in there on this machine."""
    from letagents.wiring import hosted

    token = settings.token if settings.server_url == api_url else None
    there = attrs.evolve(settings, api_url=api_url, chat_storage="cloud", token=token)
    async with AsyncExitStack() as opened:
        state = local.state(settings, opened)
        rooms, directory, _ = await hosted.rooms(there, state, SystemClock(), opened)
        made = open_letagents(there, state=MemoryState(), rooms=rooms)
        yield attrs.evolve(await opened.enter_async_context(made), directory=directory)
