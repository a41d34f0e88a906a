"""What a supervisor needs to do a tool's work itself, in the place of an agent's process."""

from collections.abc import Mapping
from typing import Protocol

import attrs

from letagents.domain.ids import Token


@attrs.frozen
class Authority:
    """For whom a tool is run, and where."""

    entry_id: str
    provider: str
    room_id: str
    session_id: str
    token: Token
    origin: str
    workspace: str | None = None


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
