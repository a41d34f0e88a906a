"""What one process serves beside its tools."""

from collections.abc import Callable
from typing import Any

from mcp.server import Server

from letagents.domain.surfaces import Caller
from letagents.entrypoints.mcp.resources import serve_resources
from letagents.entrypoints.mcp.surface import readiness
from letagents.entrypoints.mcp.visit import Visit


def extras(caller: Caller) -> Callable[[Server[Any], Visit | None], None]:
    """Return what adds resources, and the watch of a chat that enters its room by itself."""

    def extend(server: Server[Any], visit: Visit | None) -> None:
        serve_resources(server, readiness(caller), visit)
        if visit is not None and visit.auto_join is not None:
            visit.auto_join.watch(server)

    return extend
