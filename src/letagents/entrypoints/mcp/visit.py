"""What the MCP entry point holds for one chat, beside what the application holds for it."""

import attrs

from letagents.application.client import Client
from letagents.entrypoints.mcp.auto_join import AutoJoin
from letagents.entrypoints.mcp.prompts import Prompts
from letagents.entrypoints.mcp.watches import Watches


@attrs.define
class Visit:
    """One client's session: its way into rooms, what it has been told, and is told about."""

    client: Client
    prompts: Prompts = attrs.field(factory=Prompts)
    watches: Watches | None = None
    auto_join: AutoJoin | None = None

    def is_served_by(self, program: str | None) -> None:
        """Note which program the client is, as it says itself."""
        self.client.chat.program = program
