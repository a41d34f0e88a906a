"""What a supervisor needs to do a tool's work itself, in the place of an agent's process."""

from collections.abc import Mapping
from typing import Protocol

import attrs

from letagents.domain.ids import Token
from letagents.domain.sessions import Session


@attrs.frozen
class Authority:
    """For whom a tool is run, and where."""

    entry_id: str
    provider: str
    room_id: str
    session_id: str
    token: Token
    api_url: str
    """Which server keeps its room."""
    workspace: str | None = None
    session: Session | None = None
    """The session as its room knows it, where the supervisor opened it."""
    is_granted: bool = False
    """Whether a host grant is what lets the agent in."""


class Tools(Protocol):
    """Runs tools."""

    async def run(
        self, tool: str, arguments: Mapping[str, object], authority: Authority
    ) -> Mapping[str, object]:
        """Return the whole result of a tool.

        Raises:
            LetAgentsError: it was refused; or, if its `retry` says to read first, may be done.
        """
        ...
