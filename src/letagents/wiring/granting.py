"""Host grants: what holds those of a supervisor's agents, and lets them into rooms by them."""

import functools
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import attrs

from letagents.adapters.state.memory import MemoryState
from letagents.adapters.system import SystemIds
from letagents.application.agents.granted_sessions import GrantedSessions, Way
from letagents.application.agents.granting import Grants
from letagents.domain.held_grants import LASTS
from letagents.wiring.client import open_letagents

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager

    from httpx import AsyncBaseTransport

    from letagents.application.agents.granted_sessions import Shown
    from letagents.application.agents.supervising import Supervising
    from letagents.application.client import LetAgents
    from letagents.domain.held_grants import Grant, Renewed
    from letagents.settings import Settings


@asynccontextmanager
async def open_grants(
    settings: "Settings",
    sessions: "Supervising",
    *,
    transport: "AsyncBaseTransport | None" = None,
) -> "AsyncIterator[Grants]":
    """Open what holds the host grants of a supervisor's agents; they are forgotten with it.

    `transport` is how servers are called, where not over the network.
    """
    async with AsyncExitStack() as opened:
        way_to = functools.cache(functools.partial(_way_to, settings, opened, transport))
        grants = Grants(GrantedSessions(sessions, SystemIds(), way_to))
        opened.push_async_callback(grants.aclose)
        yield grants


def _way_to(
    settings: "Settings",
    opened: AsyncExitStack,
    transport: "AsyncBaseTransport | None",
    api_url: str,
) -> "Way":
    """Return what asks a server with grants, and opens the rooms of who is let in by one."""
    from letagents.adapters.rooms.hosted.calls import Calls, client_of
    from letagents.adapters.rooms.hosted.grants import GrantedRooms, HttpGrantServer

    client = client_of(api_url.rstrip("/"), transport)
    opened.push_async_callback(client.aclose)
    there = attrs.evolve(settings, api_url=api_url.rstrip("/"), chat_storage="cloud", token=None)

    def open_(shown: "Shown") -> "AbstractAsyncContextManager[LetAgents]":
        rooms = GrantedRooms(Calls(client, shown, shows_sessions=False), opened=shown.opened)
        return open_letagents(there, state=MemoryState(), rooms=rooms)

    return Way(HttpGrantServer(client), open_)


async def renewed_grant(grant: "Grant") -> "Renewed":
    """Return a host grant as its server renews it.

    Raises:
        GrantCallFailed: it does not.
    """
    from letagents.adapters.rooms.hosted.calls import client_of
    from letagents.adapters.rooms.hosted.grants import HttpGrantServer

    async with client_of(grant.api_url.rstrip("/")) as client:
        return await HttpGrantServer(client).renew(grant, LASTS)
