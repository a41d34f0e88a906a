"""The calls of a process that was given a worker's bearer, in rooms on a server.

(Source: mcp-tools 4, 19.8.) It acts as the one session that the bearer is of, in its room, shows
nothing else, and opens no session: what registers one says under which id this one is called here.
"""

from collections.abc import Mapping
from typing import Any

import attrs

from letagents.application.borrowed import BEARER_SESSION, BorrowedRooms
from letagents.application.client import Client
from letagents.domain import rooms
from letagents.domain.errors import Malformed, NotAvailable
from letagents.domain.ids import RoomId
from letagents.entrypoints.mcp.errors import Result, told_to_the_model
from letagents.entrypoints.mcp.supervised import silent
from letagents.entrypoints.mcp.tool import Tool
from letagents.wire import public

_SIGNED_IN = {"source": BEARER_SESSION, "expires_at": None, "account": None}


@attrs.define(eq=False)
class Bearing:
    """A process that acts by a bearer. `room` is the last that was named where a call was done."""

    rooms: BorrowedRooms
    room: str | None = None

    def named(self, given: Mapping[str, Any]) -> str | None:
        """Return the room that a call means."""
        asked = given.get("room_id")
        if isinstance(asked, str) and asked.strip():
            return str(rooms.canonical(asked))
        return self.room


async def called(
    tool: Tool[Any], process: Bearing, arguments: Mapping[str, object], _request_id: object
) -> Result:
    """Return what becomes of a call, or a result that says why nothing does."""

    async def call() -> Result:
        from letagents.entrypoints.mcp.calls import done
        from letagents.entrypoints.mcp.reading import read
        from letagents.entrypoints.mcp.visit import Visit

        given = dict(read(tool.parameters, arguments))
        room_id = process.named(given)
        client = await process.rooms.client(room_id)
        if tool.name == "register_agent_session":
            result = _registered(client, room_id)
        else:
            _check_session(tool.name, given.pop("agent_session_id", None))
            result = await tool.run(Visit(client), given, silent)
        if tool.name == "get_current_room":
            result = {**result, "auth": _SIGNED_IN}
        process.room = room_id  # the one of a call that failed would mislead the next ones
        return done(result)

    return await told_to_the_model(tool, arguments, call)


def _registered(client: Client, room_id: str | None) -> dict[str, object]:
    own = client.connections.own(RoomId(room_id)) if room_id is not None else None
    if own is None:
        raise Malformed("room_id: is missing.", remedy="Pass the room that the bearer is for.")
    return {
        "success": True,
        "worker_bearer_mode": True,
        "supervised_bounded_mode": False,
        "agent_session": public.session(own.session),
        "agent_session_id": BEARER_SESSION,
        "use_agent_session_id": BEARER_SESSION,
        "room_id": room_id,
    }


def _check_session(name: str, shown: object) -> None:
    if shown not in (None, BEARER_SESSION):
        raise NotAvailable(
            f"agent_session_id: this process acts as {BEARER_SESSION} alone.",
            remedy="Leave agent_session_id out.",
        )
    if name == "disconnect_agent_session":
        raise NotAvailable(
            "The session of a bearer is ended by whoever gave the bearer.",
            remedy="Say in the room that you are done: send_message.",
        )
