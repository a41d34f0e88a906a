"""What the MCP entry point holds for one chat, beside what the application holds for it."""

from typing import TYPE_CHECKING

import attrs

from letagents.entrypoints.mcp.prompts import Prompts

if TYPE_CHECKING:  # the table of tools names a visit, and a process lists it before it has one
    from letagents.application.client import Client
    from letagents.entrypoints.mcp.auto_join import AutoJoin
    from letagents.entrypoints.mcp.bridge import Bridge
    from letagents.entrypoints.mcp.watches import Watches


@attrs.define
class Visit:
    """One client's session: its way into rooms, what it has been told, and is told about."""

    client: "Client"
    prompts: Prompts = attrs.field(factory=Prompts)
    watches: "Watches | None" = None
    auto_join: "AutoJoin | None" = None
    bridge: "Bridge | None" = None
    """The way to the supervisor of a chat that waits by itself, if it has one."""

    async def before_a_call(self, program: str | None) -> None:
        """Note which program the client is, as it says itself, and be in the folder's room."""
        self.client.chat.program = program
        if self.auto_join is not None:
            await self.auto_join.over()
            self.auto_join = None
