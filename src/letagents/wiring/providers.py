"""The programs that run agents: each is loaded once it is to run one."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from letagents.domain.open_models import Endpoint
    from letagents.domain.turns import Answered, Silent
    from letagents.ports.live_codex import LiveCodex
    from letagents.ports.providers import Provider
    from letagents.settings import Settings

OWN_TOOLS = (sys.executable, "-m", "letagents", "mcp")
"""The command with which agents are given the tools."""


async def _nothing_said(_item_id: str) -> "Answered | Silent | None":
    return None


def agent_provider(
    name: str,
    settings: "Settings",
    *,
    endpoint: "Callable[[], Endpoint | None]" = lambda: None,
    said: "Callable[[str], Awaitable[Answered | Silent | None]]" = _nothing_said,
) -> "Provider":
    """Return what runs agents of that provider.

    `endpoint` tells which open model they are, `said` what the turn of an item said by the tool.

    Raises:
        Malformed: there is no such provider.
    """
    from letagents.adapters.system import SystemClock, SystemIds
    from letagents.domain.errors import Malformed
    from letagents.domain.ids import quoted

    if name == "codex":
        from letagents.adapters.providers.codex import CodexProvider

        return CodexProvider()
    if name == "claude-code":
        from letagents.adapters.providers.claude import ClaudeProvider

        return ClaudeProvider(SystemIds())
    if name == "open-model":
        from letagents.adapters.providers.open_model import OpenModelProvider

        return OpenModelProvider(endpoint, settings.run_dir, SystemClock(), SystemIds())
    if name == "cursor":
        from letagents.adapters.providers.cursor import CursorProvider

        return CursorProvider(said)
    raise Malformed(
        f"provider: {quoted(name)} runs no agents here.",
        remedy="Pass codex, claude-code, open-model or cursor.",
    )


def live_codex(run_dir: "Path") -> "LiveCodex":
    """Return what starts Codex in a room, from a chat."""
    from letagents.adapters.providers.live_codex import AppServers

    return AppServers(OWN_TOOLS, run_dir)
