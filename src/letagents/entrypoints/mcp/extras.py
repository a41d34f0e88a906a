"""What one process serves beside its tools."""

from collections.abc import Callable
from typing import Any

from mcp.server import Server

from letagents.domain.surfaces import Caller
from letagents.entrypoints.mcp.opening import Opening
from letagents.entrypoints.mcp.resources import serve_resources
from letagents.entrypoints.mcp.surface import readiness
from letagents.entrypoints.mcp.visit import Visit


def extras(
    caller: Caller, *, has_rooms: bool = True
) -> Callable[[Server[Any], Opening[Any]], None]:
    """Return what adds resources; where a process has no rooms, none of theirs."""

    def extend(server: Server[Any], opening: Opening[Any]) -> None:
        visits: Opening[Visit | None] = opening if has_rooms else Opening.of(None)
        serve_resources(server, readiness(caller), visits)

    return extend
