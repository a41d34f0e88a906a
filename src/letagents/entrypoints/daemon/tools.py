"""The tools that a supervisor runs itself, for its agents, in their rooms.

(Source: supervisor 5.6.) They are those of every other chat, on a client that holds one session:
the agent's own, and calls that name another room are refused. What a tool refuses is its result;
only where it may have happened is an error raised.
"""

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs
import structlog

from letagents.domain import own_calls
from letagents.domain.effects import EffectRefused
from letagents.domain.errors import LetAgentsError, NotAvailable, OutcomeUnknown, Retry
from letagents.domain.fencing import UNNUMBERED, Fence
from letagents.domain.hints import Hints
from letagents.domain.ids import RoomId
from letagents.domain.modes import Mode
from letagents.domain.rooms import Room
from letagents.domain.sessions import Connection
from letagents.domain.surfaces import Caller, Profile
from letagents.ports.tools import Authority

if TYPE_CHECKING:  # what the tools stand on takes long to load, and a supervisor starts without
    from letagents.application.agents.servers import Servers
    from letagents.application.client import LetAgents
    from letagents.entrypoints.mcp.tool import Tool
    from letagents.entrypoints.mcp.visit import Visit

log = structlog.get_logger()

_IN_A_FOLDER = ("check_repo", "check_repo_visibility", "initialize_repo")


@attrs.define(eq=False)
class RoomTools:
    """Runs tools in the rooms of `servers`."""

    _servers: "Servers"
    _rooms: dict[tuple[str, str], Room] = attrs.field(factory=dict)
    """The rooms in which tools were run, which do not change."""

    async def run(
        self, tool: str, arguments: Mapping[str, object], authority: Authority
    ) -> Mapping[str, object]:
        """Return the whole result of a tool. Raises: as Tools."""
        from letagents.entrypoints.mcp import calls, errors
        from letagents.entrypoints.mcp.reading import read
        from letagents.entrypoints.mcp.supervised import as_itself, silent

        found = _tools(authority.provider, authority.api_url).get(tool)
        if found is None:
            raise EffectRefused(
                f"Unsupported supervised tool: {tool}", remedy="Use another of the listed tools."
            )
        try:
            own_calls.check_stays(tool, arguments, authority.room_id)
            given = read(found.parameters, _placed(tool, arguments, authority))
            visit = await self._visit(authority)
            itself = as_itself(tool, given, visit.client)
            return calls.done(await found.run(visit, itself, silent))
        except LetAgentsError as error:
            if error.retry is Retry.AFTER_READING:
                raise
            return errors.not_done(error)
        except Exception as error:
            log.exception("tool.failed", tool=tool)
            raise OutcomeUnknown(
                f"letagents failed inside {tool}: {type(error).__name__}.",
                remedy="Look whether it took effect before you repeat it.",
            ) from error

    async def _visit(self, authority: Authority) -> "Visit":
        from letagents.application.places import SUPERVISED, Entered
        from letagents.entrypoints.mcp.visit import Visit

        session = await self._servers.session(authority)
        if session is None:
            raise NotAvailable(
                "The room tells nothing of this agent's session.",
                remedy="Tell your user to start the agent anew.",
            )
        letagents = await self._servers.of(authority)
        client = letagents.chat(Hints())
        fence = Fence(session.session_id, UNNUMBERED, authority.token)
        client.connections.hold_own(Connection(session, fence))
        room = await self._room(letagents, authority)
        client.places.current = Entered(room, SUPERVISED)
        return Visit(client)

    async def _room(self, letagents: "LetAgents", authority: Authority) -> Room:
        key = (authority.api_url, authority.room_id)
        if key not in self._rooms:
            room_id = RoomId(authority.room_id)
            self._rooms[key] = await letagents.rooms.join(room_id, create=False)
        return self._rooms[key]


def _placed(
    tool: str, arguments: Mapping[str, object], authority: Authority
) -> Mapping[str, object]:
    """Return the arguments of a call, which looks at no folder but its agent's."""
    if tool not in _IN_A_FOLDER or authority.workspace is None:
        return arguments
    return {**arguments, "cwd": authority.workspace}


@functools.cache
def _tools(provider: str, api_url: str) -> "dict[str, Tool[Visit]]":
    """Return the tools of agents that are run by such a program, in rooms at that address."""
    from letagents.entrypoints.mcp.surface import tools_of

    caller = Caller(
        profile=Profile.SUPERVISED_ROOM_TURN,
        bounded=True,
        provider=provider,
        api_url=api_url,
    )
    return {tool.name: tool for tool in tools_of(caller, Mode.OWNER)}
