"""`letagents mcp`: one chat's tools over standard input and output."""

import argparse
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from letagents.domain import modes
from letagents.domain.errors import SettingsInvalid
from letagents.domain.modes import Invalid, Mode
from letagents.entrypoints import logs
from letagents.entrypoints.mcp.process import Service, serve
from letagents.settings import Settings, load

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from letagents.application.borrowed import BorrowedRooms
    from letagents.entrypoints.mcp.bridge import Bridge
    from letagents.entrypoints.mcp.by_bearer import Bearing
    from letagents.entrypoints.mcp.polling import Poller
    from letagents.entrypoints.mcp.supervised import Supervised
    from letagents.entrypoints.mcp.visit import Visit
    from letagents.ports.supervisor import Supervisor


def run(arguments: argparse.Namespace) -> int:
    """Serve until the client leaves; return the exit code."""
    if arguments.contract:
        return _say_contract(os.environ.get("LETAGENTS_API_URL", "").strip() or None)
    settings = load()
    mode = modes.mode(settings.caller)
    if isinstance(mode, Invalid):
        raise SettingsInvalid(mode.reason, remedy=mode.remedy)
    return serve(lambda: _service(settings, mode))


def _say_contract(api_url: str | None) -> int:
    from letagents.entrypoints.cli import printing
    from letagents.entrypoints.mcp.surface import contract

    printing.say_json(contract(api_url))
    return 0


def _service(settings: Settings, mode: Mode) -> "Service[Any]":
    from letagents.entrypoints.mcp.extras import extras
    from letagents.entrypoints.mcp.surface import tools_of, withheld

    logs.configure_others(settings.log_level)
    tools = tools_of(settings.caller, mode)
    number = version("letagents")
    if settings.caller.bounded and mode is Mode.SUPERVISED:
        from letagents.entrypoints.mcp import supervised

        return Service(
            tools=tools,
            open_session=lambda: _supervised(settings),
            version=number,
            extend=extras(settings.caller, has_rooms=False),
            through=supervised.called,
            withheld=withheld(settings.caller, mode),
        )
    if mode is Mode.SUPERVISED:
        from letagents.entrypoints.mcp import polling

        return Service(
            tools=tools,
            open_session=lambda: _polling(settings),
            version=number,
            extend=extras(settings.caller, has_rooms=False),
            through=polling.called,
            withheld=withheld(settings.caller, mode),
        )
    if mode is Mode.WORKER and settings.rooms_are_hosted:
        from letagents.entrypoints.mcp import by_bearer

        return Service(
            tools=tools,
            open_session=lambda: _bearing(settings),
            version=number,
            extend=extras(settings.caller, has_rooms=False),
            through=by_bearer.called,
        )
    from letagents.entrypoints.mcp.visit import Visit

    return Service(
        tools=tools,
        open_session=lambda: _visit(settings, auto_join=settings.auto_join and mode is Mode.OWNER),
        version=number,
        before=Visit.before_a_call,
        extend=extras(settings.caller),
    )


@asynccontextmanager
async def _supervised(settings: Settings) -> "AsyncIterator[Supervised]":
    """Open the way to whoever supervises this process."""
    from letagents.entrypoints.mcp.supervised import Supervised
    from letagents.wiring.supervisor import open_own_supervisor

    logs.configure(settings.log, settings.log_level)
    environ, here = os.environ, Path.cwd()
    async with open_own_supervisor(settings, environ, here) as supervisor:

        def opening() -> "AbstractAsyncContextManager[BorrowedRooms]":
            from letagents.wiring.borrowed import open_borrowed_rooms

            return open_borrowed_rooms(settings, supervisor, environ, here)

        process = Supervised(supervisor, settings.caller, opening)
        try:
            yield process
        finally:
            await process.aclose()


@asynccontextmanager
async def _bearing(settings: Settings) -> "AsyncIterator[Bearing]":
    """Open the rooms of a worker's bearer."""
    from letagents.entrypoints.mcp.by_bearer import Bearing
    from letagents.wiring.borrowed import open_rooms_by_bearer

    logs.configure(settings.log, settings.log_level)
    async with open_rooms_by_bearer(settings) as rooms:
        yield Bearing(rooms)


@asynccontextmanager
async def _polling(settings: Settings) -> "AsyncIterator[Poller]":
    """Open the way to whoever admits the polls of this process."""
    from letagents.entrypoints.mcp.polling import Poller
    from letagents.wiring.supervisor import own_custody

    async with _supervised(settings) as process:
        yield Poller(process, *own_custody(settings, os.environ, Path.cwd()))


@asynccontextmanager
async def _visit(settings: Settings, *, auto_join: bool) -> "AsyncIterator[Visit]":
    import anyio

    from letagents.entrypoints.mcp.auto_join import AutoJoin
    from letagents.entrypoints.mcp.visit import Visit
    from letagents.entrypoints.mcp.watches import Watches
    from letagents.wiring.client import open_letagents

    logs.configure(settings.log, settings.log_level)
    async with (
        open_letagents(settings) as letagents,
        letagents.client(settings.hints) as client,
        anyio.create_task_group() as tasks,
    ):
        visit = Visit(client, watches=Watches(client.messages, tasks), bridge=_bridge(settings))
        if auto_join:
            visit.auto_join = AutoJoin(client.repository)
            tasks.start_soon(visit.auto_join.run)
        try:
            yield visit
        finally:
            if visit.bridge is not None:
                await visit.bridge.aclose()
        tasks.cancel_scope.cancel()


def _bridge(settings: Settings) -> "Bridge":
    from letagents.entrypoints.mcp.bridge import Bridge

    environ, here = os.environ, Path.cwd()

    def opening() -> "AbstractAsyncContextManager[Supervisor]":
        from letagents.wiring.supervisor import open_own_supervisor

        return open_own_supervisor(settings, environ, here)

    is_told = bool(environ.get("LETAGENTS_SUPERVISOR_ENTRY_ID", "").strip())
    return Bridge(opening, is_told, here)
