"""The tools that a supervisor runs itself, for its agents, in the rooms of its machine.

(Source: supervisor 5.6.) They are those of every other chat, on a client that holds one session:
the agent's own. What a tool refuses is its result; only where it may have happened is an error
raised.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import structlog

from letagents.domain.effects import EffectRefused
from letagents.domain.errors import LetAgentsError, NotAvailable, OutcomeUnknown, Retry
from letagents.domain.fencing import UNNUMBERED, Fence
from letagents.domain.hints import Hints
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.modes import Mode
from letagents.domain.rooms import Room
from letagents.domain.sessions import Connection, Session
from letagents.domain.surfaces import LOCAL_ROOMS, Caller, Profile
from letagents.ports.tools import Authority

if TYPE_CHECKING:  # what the tools stand on takes long to load, and a supervisor starts without
    from letagents.application.client import LetAgents
    from letagents.entrypoints.mcp.tool import Tool
    from letagents.entrypoints.mcp.visit import Visit

log = structlog.get_logger()

SessionOf = Callable[[RoomId, SessionId], Awaitable[Session | None]]


@attrs.define(eq=False)
class RoomTools:
    """Runs tools in local rooms."""

    _letagents: "LetAgents"
    _session_of: SessionOf

    async def run(
        self, tool: str, arguments: Mapping[str, object], authority: Authority
    ) -> Mapping[str, object]:
        """Return the whole result of a tool. Raises: as Tools."""
        from letagents.entrypoints.mcp import calls, errors
        from letagents.entrypoints.mcp.reading import read

        found = _tools(authority.provider).get(tool)
        if found is None:
            raise EffectRefused(
                f"Unsupported supervised tool: {tool}", remedy="Use another of the listed tools."
            )
        try:
            visit = await self._visit(authority)
            given = read(found.parameters, arguments)
            return calls.done(await found.run(visit, given, _silent))
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
        from letagents.application.places import Entered
        from letagents.entrypoints.mcp.visit import Visit

        if authority.origin != LOCAL_ROOMS:
            raise NotAvailable(
                "This supervisor runs tools in the rooms of its own machine only.",
                remedy=f"Tell your user: LETAGENTS_API_URL={LOCAL_ROOMS} names those.",
            )
        room_id = RoomId(authority.room_id)
        session = await self._session_of(room_id, SessionId(authority.session_id))
        if session is None:
            raise NotAvailable(
                "The room knows no session of this agent.",
                remedy="Tell your user to start the agent anew.",
            )
        client = self._letagents.chat(Hints())
        fence = Fence(session.session_id, UNNUMBERED, authority.token)
        client.connections.hold_own(Connection(session, fence))
        room = await self._letagents.rooms.join(room_id, create=False)
        client.places.current = _entered(room, Entered)
        return Visit(client)


def _entered(room: Room, kind: type[Any]) -> Any:
    return kind(room, "daemon_supervised")


def _tools(provider: str) -> "dict[str, Tool[Visit]]":
    from letagents.entrypoints.mcp.surface import tools_of

    caller = Caller(
        profile=Profile.SUPERVISED_ROOM_TURN, bounded=True, provider=provider, api_url=LOCAL_ROOMS
    )
    return {tool.name: tool for tool in tools_of(caller, Mode.OWNER)}


async def _silent(progress: float, total: float | None = None, message: str | None = None) -> None:
    """Tell nobody how far a call is: its agent hears of its end."""
