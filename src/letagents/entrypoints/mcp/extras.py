"""What one process serves beside its tools."""

from collections.abc import Callable
from typing import Any

from mcp.server import Server

from letagents.domain.surfaces import Caller
from letagents.entrypoints.mcp.opening import Opening
from letagents.entrypoints.mcp.resources import serve_resources
from letagents.entrypoints.mcp.surface import readiness
from letagents.entrypoints.mcp.visit import Visit


def extras(caller: Caller) -> Callable[[Server[Any], Opening[Visit | None]], None]:
    """Return what adds resources."""

    def extend(server: Server[Any], opening: Opening[Visit | None]) -> None:
        serve_resources(server, readiness(caller), opening)

    return extend
