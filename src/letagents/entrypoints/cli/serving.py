"""`letagents mcp`: one chat's tools over standard input and output."""

import argparse
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING

from letagents.entrypoints import logs
from letagents.entrypoints.mcp.process import Service, serve
from letagents.settings import Settings, load

if TYPE_CHECKING:
    from letagents.entrypoints.mcp.visit import Visit


def run(_arguments: argparse.Namespace) -> int:
    """Serve until the client leaves; return the exit code."""
    settings = load()
    return serve(lambda: _service(settings))


def _service(settings: Settings) -> "Service[Visit]":
    from letagents.entrypoints.mcp.tools.catalogue import TOOLS
    from letagents.entrypoints.mcp.visit import Visit
    from letagents.wiring import open_letagents

    logs.configure(settings.log, settings.log_level)

    @asynccontextmanager
    async def visit() -> AsyncIterator[Visit]:
        async with (
            open_letagents(settings) as letagents,
            letagents.client(settings.hints) as client,
        ):
            yield Visit(client)

    return Service(
        tools=TOOLS, open_session=visit, version=version("letagents"), told=Visit.is_served_by
    )
