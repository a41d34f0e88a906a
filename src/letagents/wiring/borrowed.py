"""Rooms of processes that call a server as one worker: with what is lent to them, or its bearer."""

import functools
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from letagents.adapters.rooms.hosted.calls import Calls, client_of
from letagents.adapters.rooms.hosted.rooms import HostedRooms
from letagents.adapters.state.memory import MemoryState
from letagents.adapters.supervisor import coordinates
from letagents.application.borrowed import BEARER_SESSION, BorrowedRooms, Borrowing, Worker
from letagents.domain.supervised import PATIENCE
from letagents.wiring.client import open_letagents

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from httpx import AsyncBaseTransport

    from letagents.adapters.rooms.hosted.calls import Shows
    from letagents.application.client import LetAgents
    from letagents.domain.supervised import OwnSession
    from letagents.ports.supervisor import Supervisor
    from letagents.settings import Settings


@asynccontextmanager
async def open_borrowed_rooms(
    settings: "Settings",
    supervisor: "Supervisor",
    environ: "Mapping[str, str]",
    here: "Path",
    *,
    transport: "AsyncBaseTransport | None" = None,
    patience: float = PATIENCE.total_seconds(),
) -> "AsyncIterator[BorrowedRooms]":
    """Open the rooms of a supervised process, which calls their server with what is lent to it.

    What is not there yet to be lent is waited for `patience` seconds.

    Raises:
        CoordinatesWrong: as whom it acts is told badly.
    """
    found = coordinates.resolve(environ, home_socket=settings.supervisor_socket, here=here)
    worker = None
    if found is not None and found.session_id is not None:
        runtime = settings.caller.provider or "codex"
        worker = Worker(found.session_id, found.display_name, runtime)
    lent = functools.partial(Borrowing, supervisor, patience=patience)
    async with _opened(settings, worker, lent, transport) as rooms:
        yield rooms


@asynccontextmanager
async def open_rooms_by_bearer(
    settings: "Settings", *, transport: "AsyncBaseTransport | None" = None
) -> "AsyncIterator[BorrowedRooms]":
    """Open the rooms of a process that was given a worker's bearer, and shows that alone."""
    bearer = settings.bearer
    worker = Worker(BEARER_SESSION, settings.hints.display_name)
    async with _opened(settings, worker, lambda _: lambda: bearer, transport) as rooms:
        yield rooms


@asynccontextmanager
async def _opened(
    settings: "Settings",
    worker: Worker | None,
    shown_by: "Callable[[OwnSession], Shows | Callable[[], str | None]]",
    transport: "AsyncBaseTransport | None",
) -> "AsyncIterator[BorrowedRooms]":
    """Open the rooms of their server, to which `shown_by` says what a session shows."""
    async with client_of(settings.server_url, transport) as http:

        def open_(session: "OwnSession") -> "AbstractAsyncContextManager[LetAgents]":
            shown, room_id = shown_by(session), session.room_id or None
            calls = Calls(http, shown, shows_sessions=False, origin=room_id)
            return open_letagents(settings, state=MemoryState(), rooms=HostedRooms(calls))

        rooms = BorrowedRooms(worker, open_)
        try:
            yield rooms
        finally:
            await rooms.aclose()
