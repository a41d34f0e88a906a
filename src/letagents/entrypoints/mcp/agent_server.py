"""The tools of a supervised agent as an MCP server in this process, for who supervises it here."""

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from mcp.server import Server

from letagents.domain.errors import NotAvailable
from letagents.domain.modes import Mode
from letagents.domain.surfaces import LOCAL_ROOMS, Caller, Profile
from letagents.entrypoints.mcp.opening import Opening
from letagents.entrypoints.mcp.server import build_server
from letagents.entrypoints.mcp.supervised import Supervised, called
from letagents.entrypoints.mcp.surface import tools_of, withheld
from letagents.ports.supervisor import Supervisor

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from letagents.application.borrowed import BorrowedRooms


def agent_server(supervisor: Supervisor, *, provider: str = "codex") -> Server[Any]:
    """Return a server of the tools that an agent has in a turn; `supervisor` does each call.

    `provider` is the kind of program that the agent is run by.
    """
    caller = Caller(
        profile=Profile.SUPERVISED_ROOM_TURN, bounded=True, provider=provider, api_url=LOCAL_ROOMS
    )
    process = Supervised(supervisor, caller, _no_rooms)
    return build_server(
        tools_of(caller, Mode.SUPERVISED),
        Opening.of(process),
        version=version("letagents"),
        through=called,
        withheld=withheld(caller, Mode.SUPERVISED),
    )


def _no_rooms() -> "AbstractAsyncContextManager[BorrowedRooms]":
    raise NotAvailable(
        "This supervisor leaves the call to the agent's process, which has no rooms here.",
        remedy="Return from `execute` what came of the call.",
    )
