"""What the MCP entry point holds for one chat, beside what the application holds for it."""

import attrs

from letagents.application.client import Client
from letagents.entrypoints.mcp.prompts import Prompts


@attrs.define
class Visit:
    """One client's session: its way into rooms, and what it has been told."""

    client: Client
    prompts: Prompts = attrs.field(factory=Prompts)

    def is_served_by(self, program: str | None) -> None:
        """Note which program the client is, as it says itself."""
        self.client.chat.program = program
