"""The rooms of a server, and who this machine is there."""

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from letagents.adapters.own_sign_ins import OwnSignInsFile
from letagents.adapters.rooms.hosted.attendance import HostedAttendance
from letagents.adapters.rooms.hosted.calls import Calls, client_of
from letagents.adapters.rooms.hosted.rooms import HostedRooms
from letagents.adapters.rooms.hosted.server import HostedServer
from letagents.application.credentials import Credentials
from letagents.application.directory import Directory
from letagents.domain.errors import SettingsInvalid
from letagents.domain.modes import NO_SUPERVISOR
from letagents.domain.surfaces import LOCAL_ROOMS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AsyncExitStack

    from httpx import AsyncBaseTransport

    from letagents.ports.attendance import Attendance
    from letagents.ports.clock import Clock
    from letagents.ports.state import StateStore
    from letagents.settings import Settings


async def rooms(
    settings: "Settings", state: "StateStore", clock: "Clock", opened: "AsyncExitStack"
) -> "tuple[HostedRooms, Directory, Attendance]":
    """Return the rooms of a server, who this machine is there, and what proves that it is.

    Raises:
        SettingsInvalid: the address is that of a supervisor's rooms, which are no server's.
    """
    url = settings.server_url
    if url == LOCAL_ROOMS:
        raise SettingsInvalid(NO_SUPERVISOR.reason, remedy=NO_SUPERVISOR.remedy)
    own = OwnSignInsFile(settings.home / "server-owner.json")
    credentials = Credentials(state, clock, url, settings.token, own)
    calls = Calls(await opened.enter_async_context(client_of(url)), credentials)
    # A client of its own: no call is to wait behind an answer that lasts for days.
    streams = Calls(await opened.enter_async_context(client_of(url)), credentials)
    attendance = HostedAttendance(streams, calls)
    return HostedRooms(calls), Directory(credentials, HostedServer(calls)), attendance


@asynccontextmanager
async def open_hosted_rooms(
    url: str, token: str | None = None, *, transport: "AsyncBaseTransport | None" = None
) -> "AsyncIterator[HostedRooms]":
    """Open the rooms of the server at `url`, for whoever has `token` there.

    `transport` is how it is called, where not over the network: an ASGI program in this process.
    """
    async with client_of(url.rstrip("/"), transport) as client:
        yield HostedRooms(Calls(client, lambda: token))
